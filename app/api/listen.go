package api

import (
	"net/http"
	"time"
)

// NewHTTPServer makes the server that h is reached through on l, with limits on
// how slow and how long-winded a client may be. Call its Serve with l, and
// Shutdown to let requests under way end.
func NewHTTPServer(h http.Handler, l *Listener) *http.Server {
	return &http.Server{
		Handler:           h,
		ConnState:         l.changed,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		// OPTIONS * is a path that we do not have, too.
		DisableGeneralOptionsHandler: true,
	}
}
