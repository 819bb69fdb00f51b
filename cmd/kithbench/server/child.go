package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// poll is the pause between two looks at a server that is starting.
const poll = 5 * time.Millisecond

// program is one that answers pong to ping when it is ready.
type program struct {
	name, from string // from is the Debian package it is in
	ping, pong string
}

// child is a server process that prints into a file.
type child struct {
	program
	cmd  *exec.Cmd
	out  *os.File
	done chan struct{}
}

// startChild starts a program in its folder.
func startChild(p program, folder string, args []string) (*child, error) {
	path, err := exec.LookPath(p.name)
	if err != nil {
		return nil, fmt.Errorf("no %s found on this machine: install it, e.g. `apt-get install %s`: %w", p.name, p.from, err)
	}
	out, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	c := &child{program: p, cmd: exec.Command(path, args...), out: out, done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = folder, out, out
	if err := c.run(); err != nil {
		out.Close()
		return nil, err
	}
	return c, nil
}

// run starts the process and closes done when it is gone.
func (c *child) run() error {
	p, err := StartProcess(c.cmd)
	if err != nil {
		return err
	}
	go func() {
		p.Wait() // says that it was killed
		c.out.Close()
		close(c.done)
	}()
	return nil
}

// await returns when the server answers, is dead, or ctx ends.
func (c *child) await(ctx context.Context, socket string) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := c.answers(socket)
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("%s ended: %s", c.name, c.said())
		case <-ctx.Done():
			return fmt.Errorf("start %s: %w: %w: %s", c.name, ctx.Err(), err, c.said())
		case <-tick.C:
		}
	}
}

// answers asks a server once.
func (c *child) answers(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte(c.ping)); err != nil {
		return err
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(answer[:n]), c.pong) {
		return fmt.Errorf("%s said %q", c.name, answer[:n])
	}
	return nil
}

// said returns what the server printed, for an error.
func (c *child) said() string {
	text, err := os.ReadFile(c.out.Name())
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	return strings.TrimSpace(string(text))
}

// kill ends the process and waits until it is gone.
func (c *child) kill() {
	c.cmd.Process.Kill()
	<-c.done
}
