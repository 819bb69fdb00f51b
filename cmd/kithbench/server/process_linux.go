package server

import "syscall"

// dieWithParent ends a process with a benchmark that was killed, and keeps
// Ctrl-C from reaching it before the benchmark has stopped.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
