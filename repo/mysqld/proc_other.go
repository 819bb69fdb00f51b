//go:build unix && !linux

package mysqld

import "syscall"

// attributes gives the server its own process group. Only Linux can end a
// child whose parent was killed.
func attributes(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
