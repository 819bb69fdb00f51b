//go:build !linux

package server

import "syscall"

// dieWithParent does nothing where there is no such signal.
func dieWithParent() *syscall.SysProcAttr { return nil }
