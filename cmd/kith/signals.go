package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

var errSecondSignal = errors.New("a second signal: what was under way is cut off")

// echo is how long after a signal another is the same one: timeout(1) and
// others send it to the process and to its group.
const echo = 200 * time.Millisecond

// again takes a signal that comes after the first: a server that drains ends its
// drain. Where nobody takes it, it cuts off what is under way.
var again = make(chan struct{})

// onSignals ends the context it returns at SIGINT or SIGTERM, and the program at
// one more that nobody takes.
func onSignals() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for last := time.Now(); ; {
			if <-signals; time.Since(last) < echo {
				continue
			}
			last = time.Now()
			select {
			case again <- struct{}{}:
			default:
				refuse(os.Stderr, errSecondSignal)
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx
}
