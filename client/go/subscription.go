package lockstitch

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// DefaultHeartbeat is how long a subscription's server may be silent where nobody says.
const DefaultHeartbeat = 15 * time.Second

// refusalsMax is how many attempts in a row may end before their first frame, for a reason that a further one may or
// may not mend.
const refusalsMax = 3

// Subscription follows one session, over as many streams as it takes: each begins where the last one ended. It is for
// one goroutine at a time; Close may be called from any.
type Subscription struct {
	over    *transport
	ctx     context.Context
	cancel  context.CancelFunc
	request *lockstitchv1.SubscribeRequest // what the next attempt sends
	silence time.Duration
	opening time.Duration
	// openBy is until when the first opening may take.
	openBy time.Time

	frames   grpc.ServerStreamingClient[lockstitchv1.SubscribeResponse]
	wire     *wire
	end      context.CancelFunc
	alarm    *time.Timer
	isSilent *atomic.Bool
	wait     time.Duration
	attempts int
	refusals int
	isOpen   bool
	wasOpen  bool
	failure  error
}

// Subscribe follows a session from behind AfterVersion on: what was committed, then each commit as it is made, for as
// long as ctx lives. Each comes once and whole, in order of version, none is left out, whatever happens to servers,
// their database and the network meanwhile. Nothing is sent before [Subscription.Next] is called, or Commits.
//
//	subscription := client.Subscribe(ctx, &lockstitchv1.SubscribeRequest{SessionId: id})
//	defer subscription.Close()
//	for commit, err := range subscription.Commits() { … }
//
// The first opening has the client's Timeout; a subscription that was open is resumed without end. It fails with what
// no further attempt can mend: the session is not there any more, AfterVersion lies ahead of it, the store was restored
// from a backup. The server may be silent for HeartbeatInterval, DefaultHeartbeat where it is not given; a connection
// that died without a word is noticed after two and a half of them.
func (c *Client) Subscribe(ctx context.Context, request *lockstitchv1.SubscribeRequest) *Subscription {
	sent := proto.CloneOf(request)
	if sent.GetHeartbeatInterval() == nil {
		sent.HeartbeatInterval = durationpb.New(DefaultHeartbeat)
	}
	ctx, cancel := context.WithCancel(ctx)
	return &Subscription{
		over:    c.transport,
		ctx:     ctx,
		cancel:  cancel,
		request: sent,
		silence: sent.GetHeartbeatInterval().AsDuration() * 5 / 2,
		opening: c.transport.timeout,
		openBy:  time.Now().Add(c.transport.timeout),
	}
}

// Commits gives the commits alone, up to the first error.
func (s *Subscription) Commits() iter.Seq2[*lockstitchv1.Commit, error] {
	return func(yield func(*lockstitchv1.Commit, error) bool) {
		for {
			frame, err := s.Next()
			if err != nil {
				yield(nil, err)
				return
			}
			if commit := frame.GetCommit(); commit != nil && !yield(commit, nil) {
				return
			}
		}
	}
}

// Next waits for the next frame, whatever it is: opened comes with each new stream, caught_up when all that was
// committed has been given, heartbeat when nothing happens, draft with text that is still being generated, on each new
// stream from its beginning. After an error it gives that error again.
func (s *Subscription) Next() (*lockstitchv1.SubscribeResponse, error) {
	for s.failure == nil {
		frame, err := s.read()
		if err != nil {
			s.failure = s.lost(err)
		} else if s.movesOn(frame) {
			return frame, nil
		}
	}
	return nil, s.failure
}

// Close leaves the session. Next, in another goroutine, fails as canceled.
func (s *Subscription) Close() {
	s.cancel()
}

func (s *Subscription) read() (*lockstitchv1.SubscribeResponse, error) {
	if s.frames == nil {
		if !rest(s.ctx, s.wait) {
			return nil, s.ctx.Err()
		}
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	if s.isOpen {
		s.alarm.Reset(s.silence)
	}
	frame, err := s.frames.Recv()
	s.alarm.Stop()
	if err != nil && s.isSilent.Load() && s.ctx.Err() == nil {
		s.over.line.renew(s.wire)
		return nil, &Error{Code: codes.Unavailable, Message: "The server was silent for longer than its heartbeats.", cause: err}
	}
	if errors.Is(err, io.EOF) {
		return nil, &Error{Code: codes.Unavailable, Message: "The stream ended without a reason.", cause: err}
	}
	return frame, err
}

// open begins a stream, which an alarm ends where nothing comes in time.
func (s *Subscription) open() error {
	ctx, cancel := context.WithCancel(s.ctx)
	silent := new(atomic.Bool)
	s.isOpen, s.isSilent, s.end = false, silent, cancel
	s.alarm = time.AfterFunc(s.opening, func() {
		silent.Store(true)
		cancel()
	})
	description := &lockstitchv1.SessionService_ServiceDesc.Streams[0]
	opened, err := s.over.NewStream(ctx, description, lockstitchv1.SessionService_Subscribe_FullMethodName)
	if err == nil {
		s.wire = opened.(*stream).over
		s.frames = &grpc.GenericClientStream[lockstitchv1.SubscribeRequest, lockstitchv1.SubscribeResponse]{ClientStream: opened}
		if err = opened.SendMsg(s.request); err == nil {
			err = opened.CloseSend()
		}
	}
	if err != nil && silent.Load() && s.ctx.Err() == nil {
		return &Error{Code: codes.Unavailable, Message: "The stream could not be opened in time.", cause: err}
	}
	return err
}

// movesOn notes how far the stream is, and says whether a frame is anybody's business.
func (s *Subscription) movesOn(frame *lockstitchv1.SubscribeResponse) bool {
	s.isOpen, s.wasOpen, s.refusals = true, true, 0
	if opened := frame.GetOpened(); opened != nil {
		// Not yet a reason to begin with short waits again: a server may open streams and lose them at once.
		s.request.StoreEpoch = opened.GetStoreEpoch()
		return true
	}
	s.attempts = 0
	switch is := frame.GetFrame().(type) {
	case *lockstitchv1.SubscribeResponse_Commit:
		if is.Commit.GetVersion() <= s.request.GetAfterVersion() {
			return false // it was given before
		}
		s.request.AfterVersion = is.Commit.GetVersion()
	case *lockstitchv1.SubscribeResponse_CaughtUp:
		s.request.AfterVersion = is.CaughtUp.GetVersion()
	case *lockstitchv1.SubscribeResponse_FellBehind:
		s.request.AfterVersion = is.FellBehind.GetVersion()
	case *lockstitchv1.SubscribeResponse_Heartbeat:
		s.request.AfterVersion = is.Heartbeat.GetVersion()
	case *lockstitchv1.SubscribeResponse_Draining:
		s.request.AfterVersion = is.Draining.GetVersion()
		s.wait = is.Draining.GetReconnectAfter().AsDuration()
		s.leave()
	case nil:
		return false // a kind that a later server has
	}
	return true
}

// lost makes ready for another attempt, or gives the error where that would be in vain.
func (s *Subscription) lost(err error) error {
	s.leave()
	if s.ctx.Err() != nil {
		return &Error{Code: codes.Canceled, Message: "The subscription was left.", cause: s.ctx.Err()}
	}
	if s.over.line.isClosed() {
		return errClosed("")
	}
	failure, _ := asError(err)
	if failure == nil || !s.mayBeMended(err, failure) {
		return err
	}
	s.wait = max(resumeWait(s.attempts), failure.RetryAfter)
	s.attempts++
	if !s.wasOpen && !time.Now().Add(s.wait).Before(s.openBy) {
		return err
	}
	return nil
}

func (s *Subscription) mayBeMended(err error, failure *Error) bool {
	switch is := err.(type) {
	case *SlowConsumerError:
		return true
	case *SubscriptionLimitError:
		// The place may be taken by our own stream, of which the server does not know yet that it is dead.
		return s.wasOpen
	case *TokenExpiredError:
		return s.mayBeRefusedAgain()
	case *Error:
		if is.Reason == "" && !is.isOwn && isCut(is.Code) {
			return s.mayBeRefusedAgain()
		}
	}
	return failure.Code == codes.Unavailable
}

func (s *Subscription) mayBeRefusedAgain() bool {
	s.refusals++
	return s.refusals < refusalsMax
}

// isCut says whether a stream fails so when its connection is cut, beside UNAVAILABLE.
func isCut(code codes.Code) bool {
	return code == codes.Canceled || code == codes.Internal || code == codes.Unknown
}

func (s *Subscription) leave() {
	if s.end != nil {
		s.alarm.Stop()
		s.end()
	}
	s.frames, s.end = nil, nil
}
