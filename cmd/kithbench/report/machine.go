package report

import (
	"path/filepath"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Machine is what a run was measured on. What could not be found out is empty.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes"`
	Kernel      string `json:"kernel"`
	OS          string `json:"os"`
	Filesystem  string `json:"filesystem"`
}

// ReadMachine describes this machine. Of the directory, where the servers keep
// their data, it keeps only the type of its file system.
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

// filesystem is the type of what is mounted closest above dir, which is absolute.
// statfs would not do: it cannot tell ext4 from ext2.
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
