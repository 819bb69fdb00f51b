// Package memcachetest gives tests a real memcached.
//
// [Start] runs a private one on a unix socket, which the test may stop, start
// again and freeze. [Addr] is for tests that only need some memcached: it
// returns KITH_TEST_MEMCACHED if that is set, else starts a private one.
package memcachetest
