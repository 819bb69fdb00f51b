package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// poll is the pause between two checks that a process is ready.
const poll = 5 * time.Millisecond

// Process is a running command that ends with this program, whatever ends that.
type Process struct {
	cmd  *exec.Cmd
	log  bytes.Buffer  // what it printed; read when it is gone
	done chan struct{} // closed when it is gone
}

// Start starts a command and returns when it is ready. After an error nothing runs. ctx
// bounds the start, not the life of the process.
func Start(ctx context.Context, cmd *exec.Cmd, ready func() error) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &p.log, &p.log, dieWithParent()
	started := make(chan error)
	go func() {
		// The thread stays until the process is gone: the orphan signal of Linux is
		// tied to it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // says that it was killed
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	if err := p.await(ctx, ready); err != nil {
		p.Stop()
		return nil, fmt.Errorf("start %s: %w: %s", cmd.Path, err, strings.TrimSpace(p.log.String()))
	}
	return p, nil
}

func (p *Process) await(ctx context.Context, ready func() error) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("it ended: %v", p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// Resident returns the resident memory of the process in bytes.
func (p *Process) Resident() (int64, error) {
	of, err := process.NewProcess(int32(p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	m, err := of.MemoryInfo()
	if err != nil {
		return 0, fmt.Errorf("memory of %s: %w", p.cmd.Path, err)
	}
	return int64(m.RSS), nil
}

// Stop kills the process, if there is one, and waits for its end.
func (p *Process) Stop() {
	if p != nil {
		p.cmd.Process.Signal(os.Kill)
		<-p.done
	}
}
