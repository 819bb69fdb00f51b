package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

// fixedCmd is the floor for HTTP: a handler of the framework that kith uses,
// which knows its answer.
type fixedCmd struct{}

// Run reads the answer from standard input, prints the address it serves on and
// serves until it is killed or its parent is gone.
func (fixedCmd) Run(ctx context.Context) error {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e := echo.New()
	e.GET("/*", func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, body) })
	srv := &http.Server{Handler: e}
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	fmt.Println("http://" + l.Addr().String())
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
