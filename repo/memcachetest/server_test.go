package memcachetest

import (
	"net"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

func TestServer(t *testing.T) {
	s := Start(t)
	client := memcache.New(s.Addr)
	defer client.Close()
	if err := client.Ping(); err != nil {
		t.Errorf("started: %v", err)
	}
	s.Stop()
	if err := client.Ping(); err == nil {
		t.Error("stopped: it answers")
	}
	s.Stop() // does nothing
	s.Restart()
	if err := client.Ping(); err != nil {
		t.Errorf("restarted: %v", err)
	}
}

func TestServer_Pause(t *testing.T) {
	s := Start(t)
	s.Pause()
	conn, err := net.Dial("unix", s.Addr)
	if err != nil {
		t.Fatalf("paused: dial: %v", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("version\r\n")); err != nil {
		t.Fatalf("paused: write: %v", err)
	}
	conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 64)); err == nil {
		t.Errorf("paused: it answers %d bytes", n)
	}
	s.Resume()
	conn.SetReadDeadline(time.Now().Add(startTimeout))
	if _, err := conn.Read(make([]byte, 64)); err != nil {
		t.Errorf("resumed: %v", err)
	}
}

func TestAddr(t *testing.T) {
	t.Setenv("KITH_TEST_MEMCACHED", "somewhere:11211")
	if got := Addr(t); got != "somewhere:11211" {
		t.Errorf("got %s", got)
	}
}
