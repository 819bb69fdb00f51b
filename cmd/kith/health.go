package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"kith/config"
)

// healthCmd is what the health checks of the containers run: the image has no other
// program for it.
type healthCmd struct {
	HTTP  config.HTTP  `embed:"" group:"HTTP"`
	Admin config.Admin `embed:"" group:"Operations"`
}

// Help is the text above the flags.
func (healthCmd) Help() string {
	return "The exit code is 0 if it answers, else 1. It asks for /livez on KITH_ADMIN_LISTEN if that is set, which kith cron has too, else on KITH_LISTEN."
}

// Run asks /livez, for three seconds.
func (h *healthCmd) Run(ctx context.Context) error {
	if err := config.Check(h.HTTP, h.Admin); err != nil {
		return err
	}
	url := "http://" + reachable(cmp.Or(h.Admin.Listen, h.HTTP.Listen)) + "/livez"
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<10))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("ask %s: the answer is %s", url, answer.Status)
	}
	return nil
}

// reachable turns an address to listen on into one to connect to: a server on all
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
