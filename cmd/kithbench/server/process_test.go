package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
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
	child := exec.Command("sleep", "600")
	child.ExtraFiles = []*os.File{os.Stdout} // which ends for its reader when both are gone
	p, err := Start(context.Background(), child, func() error { return nil })
	if err != nil {
		panic(err)
	}
	fmt.Println(p.cmd.Process.Pid)
	<-p.done
}

// TestStart_Orphan kills a parent: its process must end too.
func TestStart_Orphan(t *testing.T) {
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
	out.(*os.File).SetReadDeadline(time.Now().Add(30 * time.Second))
	lines := bufio.NewReader(out)
	pid, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	parent.Process.Kill()
	if _, err := lines.ReadString('\n'); err != io.EOF {
		t.Errorf("process %s outlives its killed parent: %v", strings.TrimSpace(pid), err)
	}
	parent.Wait()
}

// lives says that a process runs: a zombie does not.
func lives(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !strings.Contains(string(text), "State:\tZ")
}

func TestStart_Ends(t *testing.T) {
	never := func() error { return errors.New("not ready") }
	_, err := Start(t.Context(), exec.Command("sh", "-c", "echo why; exit 3"), never)
	if err == nil || !strings.Contains(err.Error(), "exit status 3: why") {
		t.Errorf("got %v, want exit status 3 and what was printed", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, exec.Command("sleep", "600"), never); err == nil || !strings.Contains(err.Error(), "not ready") {
		t.Errorf("got %v, want what was not ready", err)
	}
	if _, err := Start(t.Context(), exec.Command("/no/such/program"), never); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestProcess_Stop(t *testing.T) {
	p, err := Start(t.Context(), exec.Command("sleep", "600"), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Resident(); err != nil || n < 1<<12 {
		t.Errorf("resident: got %d, %v", n, err)
	}
	p.Stop()
	p.Stop()
	if pid := strconv.Itoa(p.cmd.Process.Pid); lives(pid) {
		t.Errorf("process %s lives", pid)
	}
}
