package memcachetest

import "syscall"

// dieWithParent makes a server end with a test program that was killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
