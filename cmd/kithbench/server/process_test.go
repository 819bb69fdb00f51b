package server

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// orphanEnv makes this program a parent that is to be killed.
const orphanEnv = "KITHBENCH_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(orphanEnv) == "" {
		os.Exit(m.Run())
	}
	p, err := StartProcess(exec.Command("sleep", "600"))
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Process.Pid)
	p.Wait()
}

// TestStartProcess_Orphan kills a parent: its process must end too.
func TestStartProcess_Orphan(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no orphan signal here")
	}
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), orphanEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	parent.Process.Kill()
	parent.Wait()
	for range 200 {
		if !lives(strings.TrimSpace(pid)) {
			return
		}
		time.Sleep(10 * time.Millisecond) // nobody tells when a grandchild is gone
	}
	t.Errorf("process %s outlives its killed parent", pid)
}

// lives says that a process runs: one that nobody has waited for does not.
func lives(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !strings.Contains(string(text), "State:\tZ")
}

func TestStartProcess(t *testing.T) {
	p, err := StartProcess(exec.Command("sh", "-c", "exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v, want exit status 3", err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("wait again: got %v", err)
	}
	if _, err := StartProcess(exec.Command("/no/such/program")); err == nil {
		t.Error("a program that is not there was started")
	}
}
