package api

import (
	"net/http"
	"time"
)

// NewHTTPServer makes the server that h is reached through, with limits on
// how slow and how long-winded a client may be. Call its ListenAndServe, and
// Shutdown to let requests under way end.
func NewHTTPServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}
