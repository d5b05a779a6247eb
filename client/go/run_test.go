package lockstitch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

func lastRun(t *testing.T, client *Client, sessionID string) *lockstitchv1.Run {
	t.Helper()
	listed, err := client.Runs.ListRuns(t.Context(), &lockstitchv1.ListRunsRequest{SessionId: sessionID})
	if err != nil || len(listed.GetRuns()) == 0 {
		t.Fatal(listed, err)
	}
	return listed.GetRuns()[0]
}

func TestARunEndsWithItsBody(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	start := &lockstitchv1.StartRunRequest{SessionId: sessionID, Worker: "w1"}
	broken := errors.New("the disk is full: " + strings.Repeat("é", 5000))
	giving, giveUp := context.WithCancel(t.Context())
	for _, one := range []struct {
		ctx    context.Context
		body   func(context.Context, *Run) error
		status lockstitchv1.RunStatus
		err    error
	}{
		{t.Context(), func(ctx context.Context, run *Run) error {
			_, err := run.Sessions.Append(ctx, said(sessionID, "under it"))
			return err
		}, lockstitchv1.RunStatus_RUN_STATUS_SUCCEEDED, nil},
		{t.Context(), func(context.Context, *Run) error { return broken }, lockstitchv1.RunStatus_RUN_STATUS_FAILED, broken},
		{giving, func(ctx context.Context, _ *Run) error {
			giveUp()
			<-ctx.Done()
			return ctx.Err()
		}, lockstitchv1.RunStatus_RUN_STATUS_CANCELLED, context.Canceled},
		{t.Context(), func(ctx context.Context, run *Run) error {
			_, err := run.Finish(ctx, lockstitchv1.RunStatus_RUN_STATUS_CANCELLED, "on second thoughts")
			return err
		}, lockstitchv1.RunStatus_RUN_STATUS_CANCELLED, nil},
		{t.Context(), func(ctx context.Context, run *Run) error {
			last := said(sessionID, "the last word")
			last.FinishRun = &lockstitchv1.RunEnd{Status: lockstitchv1.RunStatus_RUN_STATUS_SUCCEEDED}
			_, err := run.Sessions.Append(ctx, last)
			return err
		}, lockstitchv1.RunStatus_RUN_STATUS_SUCCEEDED, nil},
	} {
		if err := client.Run(one.ctx, start, one.body); !errors.Is(err, one.err) {
			t.Errorf("%v, not %v", err, one.err)
		}
		ended := lastRun(t, client, sessionID)
		if ended.GetStatus() != one.status || len(ended.GetError()) > 8192 || !utf8.ValidString(ended.GetError()) {
			t.Error(ended)
		}
		if one.err == broken && (len(ended.GetError()) < 8190 || !strings.HasPrefix(broken.Error(), ended.GetError())) {
			t.Error(len(ended.GetError()))
		}
	}
}

func TestARunWhoseBodyPanicsHasFailed(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	func() {
		defer func() {
			if recover() != "broken" {
				t.Error("the panic did not get through")
			}
		}()
		_ = client.Run(t.Context(), &lockstitchv1.StartRunRequest{SessionId: sessionID}, func(context.Context, *Run) error {
			panic("broken")
		})
	}()
	if ended := lastRun(t, client, sessionID); ended.GetStatus() != lockstitchv1.RunStatus_RUN_STATUS_FAILED {
		t.Error(ended)
	}
}

func TestALostRunEndsTheContextOfItsBodyAndIsTheError(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	start := &lockstitchv1.StartRunRequest{SessionId: sessionID, Lease: durationpb.New(time.Second)}
	err := client.Run(t.Context(), start, func(ctx context.Context, run *Run) error {
		taken := &lockstitchv1.StartRunRequest{SessionId: sessionID, OnBusy: lockstitchv1.OnBusy_ON_BUSY_INTERRUPT}
		if _, err := client.Runs.StartRun(t.Context(), taken); err != nil {
			return err
		}
		<-ctx.Done()
		var fenced *RunFencedError
		if !errors.As(context.Cause(ctx), &fenced) || fenced.RunID() != run.ID() {
			t.Error(context.Cause(ctx))
		}
		_, err := run.Sessions.Append(ctx, said(sessionID, "too late"))
		return err
	})
	var fenced *RunFencedError
	if !errors.As(err, &fenced) {
		t.Error(err)
	}
	if read := texts(t, client, sessionID); len(read) != 0 {
		t.Error(read)
	}
}

func TestARunThatIsJoinedIsLeftToWhoStartedIt(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	join := &lockstitchv1.StartRunRequest{SessionId: sessionID, OnBusy: lockstitchv1.OnBusy_ON_BUSY_JOIN}
	err := client.Run(t.Context(), join, func(ctx context.Context, first *Run) error {
		if first.IsJoined() {
			t.Error("its own run is not a joined one")
		}
		return client.Run(ctx, join, func(_ context.Context, second *Run) error {
			if !second.IsJoined() || second.ID() != first.ID() {
				t.Error(second.ID(), first.ID())
			}
			return nil
		})
	})
	if ended := lastRun(t, client, sessionID); err != nil || ended.GetStatus() != lockstitchv1.RunStatus_RUN_STATUS_SUCCEEDED {
		t.Error(err, ended)
	}
}

func TestADraftUnderARunCarriesItsFence(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	err := client.Run(t.Context(), &lockstitchv1.StartRunRequest{SessionId: sessionID}, func(ctx context.Context, run *Run) error {
		draft, err := run.Sessions.StreamDraft(ctx)
		if err != nil {
			return err
		}
		header := &lockstitchv1.Message{Role: lockstitchv1.Role_ROLE_ASSISTANT}
		for _, piece := range []*lockstitchv1.StreamDraftRequest{
			{SessionId: sessionID, Message: header},
			{Text: "Hello"},
			{Offset: 5, Text: ", world", Last: true},
		} {
			if err := draft.Send(piece); err != nil {
				return err
			}
		}
		_, err = draft.CloseAndRecv()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := client.Sessions.ListMessages(t.Context(), &lockstitchv1.ListMessagesRequest{SessionId: sessionID})
	if err != nil || len(listed.GetMessages()) != 1 || listed.GetMessages()[0].GetRunId() != lastRun(t, client, sessionID).GetRunId() {
		t.Error(listed, err)
	}
	if read := texts(t, client, sessionID); len(read) != 1 || read[0] != "Hello, world" {
		t.Error(read)
	}
}
