// Package server starts the servers that peers are measured on: private ones,
// each on a unix socket, all in one folder, all gone when the benchmark is.
//
//	Dir/mysql          a durable MariaDB, see package mysqld
//	Dir/memcached      its log
//	Dir/redis          a Redis without persistence
//	Dir/redis-synced   a Redis that syncs each change to its append-only file
//	Dir/run            the sockets (elsewhere when Dir's path is too long)
//
// What the durable ones promise is only as good as the disk below Dir: a folder
// in memory makes every sync free.
//
// Servers have the settings of their makers but for what a production server of
// this size would surely have: see [mysqlSettings] and [Start].
package server
