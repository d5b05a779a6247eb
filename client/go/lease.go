package lockstitch

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// renewalsALease is how often a lease is renewed before it would run out.
const renewalsALease = 3

// lease knows what became of a run that is held here, from renewals and from what its own changes were told. Calls that
// go through it carry the run's fence.
type lease struct {
	over      *transport
	sessionID string
	runs      lockstitchv1.RunServiceClient
	fence     *lockstitchv1.Fence
	length    time.Duration
	lost      chan struct{}
	stop      context.CancelFunc
	stopped   chan struct{}

	mutex  sync.Mutex
	run    *lockstitchv1.Run
	ending int // how many calls are under way that are to end it
	ended  bool
	loss   error
}

var _ grpc.ClientConnInterface = (*lease)(nil)

func newLease(over *transport, run *lockstitchv1.Run, length time.Duration) *lease {
	made := &lease{
		over:      over,
		sessionID: run.GetSessionId(),
		fence:     &lockstitchv1.Fence{RunId: run.GetRunId(), FencingToken: run.GetFencingToken()},
		length:    length,
		lost:      make(chan struct{}),
		stopped:   make(chan struct{}),
		run:       run,
	}
	made.runs = lockstitchv1.NewRunServiceClient(made)
	return made
}

// Invoke makes a call under the run: with its fence, and not at all once the run is known to be lost.
func (l *lease) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	finishes := isEnd(request)
	if err := l.begin(finishes); err != nil {
		return err
	}
	err := l.over.Invoke(ctx, method, withFence(request.(proto.Message), l.fence), reply, options...)
	return l.told(err, finishes)
}

// NewStream opens a stream under the run: what is sent first carries its fence.
func (l *lease) NewStream(
	ctx context.Context, description *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if err := l.begin(false); err != nil {
		return nil, err
	}
	opened, err := l.over.NewStream(ctx, description, method, options...)
	if err != nil {
		return nil, l.told(err, false)
	}
	return &fencedStream{ClientStream: opened, lease: l}, nil
}

// begin says why the run is not held here any more, if it is not.
func (l *lease) begin(finishes bool) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.loss == nil && finishes {
		l.ending++
	}
	return l.loss
}

// told notes what a call under the run was answered, and gives the caller's error.
func (l *lease) told(err error, finishes bool) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if finishes && err == nil {
		l.ended = true
	}
	var fenced *RunFencedError
	var ended *RunEndedError
	// A change of another run's memory may be told of that run's end.
	if errors.As(err, &fenced) && fenced.RunID() == l.fence.GetRunId() ||
		errors.As(err, &ended) && ended.RunID() == l.fence.GetRunId() {
		l.lose(err)
	}
	if finishes {
		l.ending--
	}
	if l.loss != nil && errors.Is(err, context.Canceled) {
		return l.loss // the body's context ends with the run: this is why
	}
	return err
}

// lose notes why the run is not held here any more. While it is being ended here, its end is no loss.
func (l *lease) lose(err error) {
	if l.ending == 0 && !l.ended && l.loss == nil {
		l.loss = err
		close(l.lost)
	}
}

// renew renews the lease now.
func (l *lease) renew(ctx context.Context) (*lockstitchv1.Run, error) {
	request := &lockstitchv1.RenewRunRequest{SessionId: l.sessionID, Lease: durationpb.New(l.length)}
	answer, err := l.runs.RenewRun(ctx, request)
	if err != nil {
		return nil, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.run = answer.GetRun()
	return l.run, nil
}

// keep renews the lease until stop is called or the run is over; at once where nobody knows how much of it is left.
func (l *lease) keep(atOnce bool) {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	go func() {
		defer close(l.stopped)
		every := l.length / renewalsALease
		wait, attempt := every, 0
		if atOnce {
			wait = 0
		}
		for rest(ctx, wait) && !l.isOver() && !l.over.line.isClosed() {
			bounded, done := context.WithTimeout(ctx, max(every, time.Second))
			_, err := l.renew(bounded)
			done()
			if err == nil || l.isOverBy(err) {
				wait, attempt = every, 0
			} else {
				// Whatever it is, a token that can't be had too: the lease may yet be saved.
				wait = min(retryWait(attempt), every)
				attempt++
			}
		}
	}()
}

// isOverBy notes an answer to a renewal that says that the run is lost, and says whether it does.
func (l *lease) isOverBy(err error) bool {
	switch err.(type) {
	case *RunFencedError, *RunEndedError, *RunNotFoundError, *SessionNotFoundError, *SessionDeletedError:
		l.mutex.Lock()
		defer l.mutex.Unlock()
		l.lose(err)
		return true
	}
	return false
}

func (l *lease) isOver() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.ended || l.loss != nil
}

// release ends the renewing, and waits for it to be over.
func (l *lease) release() {
	l.stop()
	<-l.stopped
}

// isEnd says whether a request is to end its run.
func isEnd(request any) bool {
	switch request := request.(type) {
	case *lockstitchv1.FinishRunRequest:
		return true
	case *lockstitchv1.AppendRequest:
		return request.GetFinishRun() != nil
	case *lockstitchv1.StreamDraftRequest:
		return request.GetFinishRun() != nil
	}
	return false
}

// fencedStream puts the run's fence into what is sent first, and minds what ends the run.
type fencedStream struct {
	grpc.ClientStream
	lease    *lease
	hasSent  bool
	finishes bool
}

func (s *fencedStream) SendMsg(message any) error {
	sent := message.(proto.Message)
	if !s.hasSent {
		s.hasSent = true
		sent = withFence(sent, s.lease.fence)
	}
	if isEnd(sent) && !s.finishes {
		if err := s.lease.begin(true); err != nil {
			return err
		}
		s.finishes = true
	}
	return s.ClientStream.SendMsg(sent)
}

func (s *fencedStream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	finishes := s.finishes
	s.finishes = false
	return s.lease.told(err, finishes)
}
