package server

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
)

// Process is a command that ends when this program does, however that ends.
type Process struct {
	*exec.Cmd
	wait  sync.Once
	ready chan struct{} // closed when its end is waited for
	ended chan error
}

// StartProcess starts a command on a thread of its own that stays until the
// command is gone: the orphan signal of Linux is tied to that thread. Call Wait.
func StartProcess(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, ready: make(chan struct{}), ended: make(chan error, 1)}
	cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-p.ready // Wait closes pipes that may still be read until then
			p.ended <- cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Wait waits until the command is gone, as that of the command does. What it
// prints into pipes must have been read. A second call returns nil.
func (p *Process) Wait() error {
	p.wait.Do(func() { close(p.ready) })
	return <-p.ended
}
