package mysqld

import "syscall"

// attributes gives the server its own process group, and ends it when the
// thread that started it ends, which is when this process dies: run keeps that
// thread for as long as the server lives.
func attributes(orphan syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphan}
}
