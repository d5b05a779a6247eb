package lockstitch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// DefaultLease is how long a run is safe from takeover without being renewed, where nobody says.
const DefaultLease = 30 * time.Second

const errorBytesMax = 8192

// Run is a run that is held here: the right to act on a session, which one holder has at a time. Its stubs are those of
// the client, and every change that goes through them carries the run's fence: once somebody else has taken the run
// over, interrupted or ended it, it is refused with a [RunFencedError], and nothing is stored. From the moment that this
// is known, all that is asked through them fails with it at once.
type Run struct {
	// Sessions, Runs and Checkpoints are the services of the server, called under the run.
	Sessions    lockstitchv1.SessionServiceClient
	Runs        lockstitchv1.RunServiceClient
	Checkpoints lockstitchv1.CheckpointServiceClient

	lease    *lease
	timeout  time.Duration
	isJoined bool
}

// Run holds a run while body works: started here, renewed in the background, ended with the body. Its end is SUCCEEDED
// where body gives no error, CANCELLED where it gives one and ctx has ended, else FAILED with the error's text; or as
// the body's own Finish or last append has it. The context that body gets ends, with the loss as its cause, when the run is lost:
// what was begun under it, such as a tool, should stop. A run that was joined is left running: who started it ends it.
//
// Trouble on the way does not end a run: it is renewed until the server says that it is somebody else's. The error is
// that of the start, the body's, or why the run could not be ended.
func (c *Client) Run(
	ctx context.Context, request *lockstitchv1.StartRunRequest, body func(context.Context, *Run) error,
) (err error) {
	run, err := c.StartRun(ctx, request)
	if err != nil {
		return err
	}
	defer run.Release()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A goroutine that ends with the body, at the latest: inner does.
	go func() {
		select {
		case <-run.Lost():
			cancel(run.Err())
		case <-inner.Done():
		}
	}()
	returned := false
	defer func() {
		if !returned { // it panicked, or its goroutine was ended
			_ = run.endAfter(ctx, errors.New("the body of the run did not return"))
		}
	}()
	err = body(inner, run)
	returned = true
	if err != nil {
		return run.endAfter(ctx, err)
	}
	return run.endWell(ctx)
}

// StartRun starts a run, and holds it until Release: it is renewed three times as often as its lease would run out.
// Run does this around a function; StartRun is for where a run's life is not that of a function. It is not ended by
// being released: Finish ends it.
func (c *Client) StartRun(ctx context.Context, request *lockstitchv1.StartRunRequest) (*Run, error) {
	sent := proto.CloneOf(request)
	if sent.GetLease() == nil {
		sent.Lease = durationpb.New(DefaultLease)
	}
	if sent.GetRequestId() == "" {
		sent.RequestId = NewRequestID()
	}
	joins := sent.GetOnBusy() == lockstitchv1.OnBusy_ON_BUSY_JOIN
	if joins && sent.GetRunId() == "" {
		// Named here, so that another one in the answer is a joined run's; the same for a retry.
		seed := sha256.Sum256([]byte(sent.GetSessionId() + " " + sent.GetRequestId()))
		sent.RunId = "run_" + hex.EncodeToString(seed[:16])
	}
	answer, err := c.Runs.StartRun(ctx, sent)
	if err != nil {
		return nil, err
	}
	held := newLease(c.transport, answer.GetRun(), sent.GetLease().AsDuration())
	// Of a lease that was granted before now, nobody knows how much is left.
	held.keep(joins || answer.GetReceipt().GetReplayed())
	return &Run{
		Sessions:    lockstitchv1.NewSessionServiceClient(held),
		Runs:        held.runs,
		Checkpoints: lockstitchv1.NewCheckpointServiceClient(held),
		lease:       held,
		timeout:     c.transport.timeout,
		isJoined:    joins && answer.GetRun().GetRunId() != sent.GetRunId(),
	}, nil
}

// ID is the run's id.
func (r *Run) ID() string {
	return r.lease.fence.GetRunId()
}

// Fence is what the run's changes carry. A tool may compare its token likewise: it is higher than that of every run
// before it.
func (r *Run) Fence() *lockstitchv1.Fence {
	return proto.CloneOf(r.lease.fence)
}

// Last is the run as it was last told: when it was started, or renewed since.
func (r *Run) Last() *lockstitchv1.Run {
	r.lease.mutex.Lock()
	defer r.lease.mutex.Unlock()
	return proto.CloneOf(r.lease.run)
}

// IsJoined says whether somebody else started it.
func (r *Run) IsJoined() bool {
	return r.isJoined
}

// CancelRequested says whether somebody asked it to end, as the last renewal told.
func (r *Run) CancelRequested() bool {
	return r.Last().GetCancelRequested()
}

// Lost is closed when the run is known to be over, by somebody else.
func (r *Run) Lost() <-chan struct{} {
	return r.lease.lost
}

// Err is why the run is lost; nil while it is held, and where it was ended here.
func (r *Run) Err() error {
	r.lease.mutex.Lock()
	defer r.lease.mutex.Unlock()
	return r.lease.loss
}

// Renew renews the lease now, and gives the run: before an act that nobody can take back, say. It is renewed in the
// background anyway. A [RunFencedError] or [RunEndedError] says that the run is not yours any more: do not act.
func (r *Run) Renew(ctx context.Context) (*lockstitchv1.Run, error) {
	return r.lease.renew(ctx)
}

// Finish ends the run, as SUCCEEDED, FAILED or CANCELLED; the text, at most 65,536 bytes, says why it failed. An append
// with FinishRun does it in one commit with the last messages.
func (r *Run) Finish(
	ctx context.Context, status lockstitchv1.RunStatus, text string,
) (*lockstitchv1.FinishRunResponse, error) {
	return r.Runs.FinishRun(ctx, &lockstitchv1.FinishRunRequest{
		SessionId: r.lease.sessionID, Status: status, Error: text,
	})
}

// Release ends the renewing. The run itself goes on until Finish, or until its lease has run out and somebody takes over.
func (r *Run) Release() {
	r.lease.release()
}

// endWell ends the run of a body that gave no error.
func (r *Run) endWell(ctx context.Context) error {
	switch {
	case r.lease.hasEnded():
		return nil
	case r.isJoined:
		var fenced *RunFencedError
		if lost := r.Err(); errors.As(lost, &fenced) {
			return lost
		}
		return nil
	}
	return r.end(ctx, lockstitchv1.RunStatus_RUN_STATUS_SUCCEEDED, "")
}

// endAfter ends the run of a body that gave an error, which is the one to be seen.
func (r *Run) endAfter(ctx context.Context, err error) error {
	if lost := r.Err(); lost != nil {
		if errors.Is(err, lost) {
			return err
		}
		return errors.Join(lost, err)
	}
	if r.lease.hasEnded() || r.isJoined {
		return err
	}
	status := lockstitchv1.RunStatus_RUN_STATUS_FAILED
	if ctx.Err() != nil {
		status = lockstitchv1.RunStatus_RUN_STATUS_CANCELLED
	}
	if failure := r.end(ctx, status, cut(err.Error())); failure != nil {
		return errors.Join(err, fmt.Errorf("the run %s could not be ended: %w", r.ID(), failure))
	}
	return err
}

// end ends the run, in time of its own where the caller's is up.
func (r *Run) end(ctx context.Context, status lockstitchv1.RunStatus, text string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	_, err := r.Finish(ctx, status, text)
	return err
}

func (l *lease) hasEnded() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.ended
}

// cut gives so much of an error's text as the run keeps, in valid UTF-8.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= errorBytesMax {
		return text
	}
	end := errorBytesMax
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
