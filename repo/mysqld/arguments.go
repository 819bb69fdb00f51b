package mysqld

import (
	"fmt"
	"os"
)

// arguments are the server's. What not every MySQL knows has the prefix loose.
func arguments(found program, f *folder, o Options) []string {
	args := []string{
		"--no-defaults",
		"--datadir=" + f.data(),
		"--socket=" + f.socket(),
		"--pid-file=" + f.pidFile(),
		"--log-error=" + f.log(),
		"--tmpdir=" + f.temp(),
		"--character-set-server=utf8mb4",
		"--skip-log-bin",
		"--innodb-buffer-pool-size=128M",
		"--performance-schema=0",
		"--max-connections=500",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	if o.Port > 0 {
		args = append(args, "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", o.Port))
	} else {
		args = append(args, "--skip-networking")
	}
	// MariaDB's installer makes a root@127.0.0.1. MySQL's only root@localhost,
	// which is whom a connection to the port resolves to.
	if found.mariadb {
		args = append(args, "--skip-name-resolve", "--innodb-log-file-size=32M")
	} else {
		// The size of the log has had another name since 8.0.30, and 9.7 no longer
		// knows the first.
		args = append(args, "--loose-mysqlx=0", "--loose-innodb-log-file-size=32M", "--loose-innodb-redo-log-capacity=64M")
	}
	switch {
	case o.Durable:
		args = append(args, "--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1")
	default:
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
		if found.mariadb {
			args = append(args, "--skip-grant-tables") // there are none, see install
		}
	}
	return append(args, o.Args...)
}
