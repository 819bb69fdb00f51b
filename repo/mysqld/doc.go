// Package mysqld runs a private MariaDB or MySQL server: one for `kith dev`,
// which keeps its data, and throwaway ones for tests.
//
// # The folder
//
//	Dir/lock          flock, held while the server runs; has our process id
//	Dir/data          what the server calls its data directory
//	Dir/data.new      a first start that has not finished
//	Dir/run           has the socket (elsewhere when Dir's path is too long)
//	Dir/mysqld.pid    process id of the server
//	Dir/error.log     what the server has to say
//
// Root of the server has no password: who may open the socket may do
// everything. So the folder of the socket is for its owner only (0700), and Dir must be
// the caller's alone (MakeOwn): what others put there could run as the caller.
// Options.Port opens the same door to every process of the machine.
//
// # Two modes
//
// Durable is a server as one would run it: data is installed once, into
// data.new, and renamed when it is whole, so that a first start that was
// killed leaves nothing half done; every commit is on disk.
//
// Throwaway is made to be quick: a MariaDB without any grant tables starts on
// an empty folder in a tenth of a second. The folder is in memory (/dev/shm)
// where there is such a thing, nothing is synced, Stop kills and deletes.
// Folders that killed tests left behind are swept by the next start.
//
// # Life and death
//
// The server is a process group of its own, so that Ctrl-C reaches kith only,
// which then stops it in order. If kith itself is killed, Linux ends the server
// (SIGTERM for a durable one). Elsewhere it may stay; because it has inherited
// the open lock file, the next Start finds the folder busy and says which
// process to end. When the server dies by itself Done is closed.
package mysqld
