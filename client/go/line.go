package lockstitch

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// A connection that has been silent for so long while a call waits is asked for a sign of life, and made anew where none
// comes. Our servers let callers ask every 5 s; gRPC asks every 10 s at most.
const (
	silenceMost    = 10 * time.Second
	signOfLifeMost = 3 * time.Second
)

// line is the connection to a server, which can be replaced where its network went dead without a word. What is in
// flight on a connection that was replaced goes on until it ends by itself.
type line struct {
	open func() (*grpc.ClientConn, error)

	mutex    sync.RWMutex
	current  *wire
	replaced map[*wire]struct{}
	closed   bool
	closings sync.WaitGroup
}

// wire is one connection, and the calls that are on it.
type wire struct {
	*grpc.ClientConn
	calls sync.WaitGroup
}

func openLine(target string, options Options) (*line, error) {
	dialing := []grpc.DialOption{
		grpc.WithTransportCredentials(securityOf(target, options)),
		// Retries are the client's: two layers would multiply their attempts.
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		// A server that was restarted is found again within a second; gRPC's own backoff grows to two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: silenceMost, Timeout: signOfLifeMost}),
	}
	if isLocal(target) {
		dialing = append(dialing, grpc.WithNoProxy())
	}
	made := &line{
		open:     func() (*grpc.ClientConn, error) { return grpc.NewClient(target, dialing...) },
		replaced: map[*wire]struct{}{},
	}
	first, err := made.open()
	if err != nil {
		return nil, err
	}
	made.current = &wire{ClientConn: first}
	return made, nil
}

// take gives the connection for one call, which says calls.Done when it has ended; nil where the line is closed.
func (l *line) take() *wire {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	if l.closed {
		return nil
	}
	l.current.calls.Add(1)
	return l.current
}

// renew replaces a connection that nothing comes through any more, unless somebody did so already.
func (l *line) renew(suspect *wire) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed || l.current != suspect {
		return
	}
	fresh, err := l.open()
	if err != nil {
		return // what opened once opens again; if it does not, the suspect is still better than nothing
	}
	l.current = &wire{ClientConn: fresh}
	l.replaced[suspect] = struct{}{}
	l.closings.Add(1)
	go func() {
		defer l.closings.Done()
		suspect.calls.Wait()
		_ = suspect.Close()
		l.mutex.Lock()
		defer l.mutex.Unlock()
		delete(l.replaced, suspect)
	}()
}

func (l *line) close() error {
	l.mutex.Lock()
	if l.closed {
		l.mutex.Unlock()
		return nil
	}
	l.closed = true
	err := l.current.Close()
	for old := range l.replaced {
		_ = old.Close()
	}
	l.mutex.Unlock()
	l.closings.Wait()
	return err
}

func (l *line) isClosed() bool {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return l.closed
}

// rest waits, and says whether it could to the end.
func rest(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
