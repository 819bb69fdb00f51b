package report

import (
	"path/filepath"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Machine is what a run was measured on. What is unknown is empty.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes"`
	Kernel      string `json:"kernel"`
	OS          string `json:"os"`
	Filesystem  string `json:"filesystem"`
}

// ReadMachine describes this machine, and the file system of a folder, that of the servers.
func ReadMachine(dir string) Machine {
	m := Machine{Cores: runtime.NumCPU(), Filesystem: filesystem(dir)}
	if c, err := cpu.Info(); err == nil && len(c) > 0 {
		m.CPU = c[0].ModelName
	}
	if v, err := mem.VirtualMemory(); err == nil {
		m.MemoryBytes = int64(v.Total)
	}
	if h, err := host.Info(); err == nil {
		m.Kernel, m.OS = h.KernelVersion, h.Platform+" "+h.PlatformVersion
	}
	return m
}

// filesystem is the type of the mount that has dir. statfs cannot tell ext4 from ext2.
func filesystem(dir string) string {
	mounts, err := disk.Partitions(true)
	if err != nil {
		return ""
	}
	var best disk.PartitionStat
	for _, m := range mounts {
		below, err := filepath.Rel(m.Mountpoint, dir)
		if err == nil && filepath.IsLocal(below) && len(m.Mountpoint) >= len(best.Mountpoint) {
			best = m
		}
	}
	return best.Fstype
}
