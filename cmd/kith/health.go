package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"kith/config"
)

// healthCmd is what the HEALTHCHECK of the container runs: the image has no
// other program that could ask.
type healthCmd struct {
	HTTP config.HTTP `embed:"" group:"HTTP"`
}

// Run asks /livez.
func (h *healthCmd) Run(ctx context.Context) error {
	if err := h.HTTP.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(h.HTTP.Listen)+"/livez", nil)
	if err != nil {
		return fmt.Errorf("ask /livez: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask /livez: %w", err)
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<10))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("ask /livez: the answer is %s", answer.Status)
	}
	return nil
}

// reachable turns an address to listen on into one to call: a server on all
// addresses is also on 127.0.0.1.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
