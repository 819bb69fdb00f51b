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
	if k, err := host.KernelVersion(); err == nil {
		m.Kernel = k
	}
	if name, _, version, err := host.PlatformInformation(); err == nil {
		m.OS = name + " " + version
	}
	return m
}

// filesystem is the type of what is mounted closest above dir. statfs would not
// do: it cannot tell ext4 from ext2.
func filesystem(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	mounts, err := disk.Partitions(true)
	if err != nil {
		return ""
	}
	var best disk.PartitionStat
	for _, m := range mounts {
		if within(dir, m.Mountpoint) && len(m.Mountpoint) >= len(best.Mountpoint) {
			best = m
		}
	}
	return best.Fstype
}

func within(dir, parent string) bool {
	rel, err := filepath.Rel(parent, dir)
	return err == nil && filepath.IsLocal(rel)
}
