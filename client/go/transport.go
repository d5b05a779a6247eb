package lockstitch

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// transport is the one way out: every call of a client's stubs goes through here.
type transport struct {
	line    *line
	token   func(context.Context) (string, error)
	timeout time.Duration
	budget  *budget
}

var _ grpc.ClientConnInterface = (*transport)(nil)

// Invoke makes a unary call, with as many attempts as its time and the budget of retries allow.
func (t *transport) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	sent, requestID := withRequestID(request.(proto.Message))
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.timeout)
		defer cancel()
	}
	deadline, _ := ctx.Deadline()
	var trailer metadata.MD
	options = append(options[:len(options):len(options)], grpc.Trailer(&trailer))
	for attempt := 0; ; attempt++ {
		trailer = nil
		err := t.attempt(ctx, method, requestID, sent, reply, options)
		if err == nil {
			t.budget.answered()
			return nil
		}
		wait, again := t.waitBefore(err, trailer, attempt)
		if !again || !time.Now().Add(wait).Before(deadline) || !rest(ctx, wait) {
			return err
		}
	}
}

func (t *transport) attempt(
	ctx context.Context, method, requestID string, request proto.Message, reply any, options []grpc.CallOption,
) error {
	ctx, err := t.authorized(ctx, requestID)
	if err != nil {
		return err
	}
	over := t.line.take()
	if over == nil {
		return errClosed(requestID)
	}
	defer over.calls.Done()
	return refusedHere(request, errorOf(over.Invoke(ctx, method, request, reply, options...), requestID))
}

// waitBefore is how long to wait before a further attempt, and whether there may be one.
func (t *transport) waitBefore(err error, trailer metadata.MD, attempt int) (time.Duration, bool) {
	failure, _ := asError(err)
	if failure == nil || failure.isOwn {
		return 0, false
	}
	if failure.Code != codes.Unavailable {
		t.budget.answered()
		return 0, false
	}
	if !t.budget.failed() {
		return 0, false
	}
	wait := retryWait(attempt)
	if told, says := pushback(trailer); says {
		if told < 0 {
			return 0, false
		}
		wait = told
	}
	return max(wait, failure.RetryAfter), true
}

// NewStream opens a stream: one attempt, whose failure is an error of this package.
func (t *transport) NewStream(
	ctx context.Context, description *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, err := t.authorized(ctx, "")
	if err != nil {
		return nil, err
	}
	over := t.line.take()
	if over == nil {
		return nil, errClosed("")
	}
	ctx, cancel := context.WithCancel(ctx)
	opened, err := over.NewStream(ctx, description, method, options...)
	if err != nil {
		cancel()
		over.calls.Done()
		return nil, errorOf(err, "")
	}
	context.AfterFunc(ctx, over.calls.Done)
	return &stream{ClientStream: opened, over: over, answersOnce: !description.ServerStreams, cancel: cancel}, nil
}

// stream fills in the request_id of what is sent first, and types the errors. Its context ends with it, so that the
// connection knows that it is no longer on it.
type stream struct {
	grpc.ClientStream
	over        *wire
	answersOnce bool
	cancel      context.CancelFunc
	hasSent     bool
	requestID   string
}

func (s *stream) SendMsg(message any) error {
	sent := message.(proto.Message)
	if !s.hasSent {
		s.hasSent = true
		sent, s.requestID = withRequestID(sent)
	}
	if err := s.ClientStream.SendMsg(sent); err != nil && err != io.EOF {
		s.cancel()
		return refusedHere(sent, errorOf(err, s.requestID))
	}
	return nil
}

func (s *stream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err != nil || s.answersOnce {
		s.cancel()
	}
	if err == nil || err == io.EOF {
		return err
	}
	return errorOf(err, s.requestID)
}

// authorized gives a context that says who calls.
func (t *transport) authorized(ctx context.Context, requestID string) (context.Context, error) {
	token, err := t.token(ctx)
	if err != nil {
		return nil, &Error{Code: codes.Unauthenticated, Message: "No token could be had.", RequestID: requestID, cause: err, isOwn: true}
	}
	if token == "" {
		return ctx, nil
	}
	for _, char := range []byte(token) {
		if char < ' ' || char > '~' {
			return nil, &Error{
				Code: codes.InvalidArgument, Message: "The token holds characters that no header can carry.",
				RequestID: requestID, isOwn: true,
			}
		}
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), nil
}
