package lockstitch

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
)

func TestWaitsAreDoubledUpToASecondGiveOrTakeAFifth(t *testing.T) {
	for attempt, middle := range []time.Duration{100, 200, 400, 800, 1000, 1000, 1000} {
		middle *= time.Millisecond
		for range 100 {
			if wait := retryWait(attempt); wait < middle*8/10 || wait > middle*12/10 {
				t.Errorf("attempt %d: %v", attempt, wait)
			}
		}
	}
	if wait := resumeWait(1 << 40); wait < time.Second || wait > 9*time.Second {
		t.Error(wait)
	}
}

func TestBelowHalfOfTheBudgetNothingIsRetried(t *testing.T) {
	spent := newBudget()
	for range 499 {
		if !spent.failed() {
			t.Fatal("it is refused too early")
		}
	}
	if spent.failed() {
		t.Error("it is allowed at half")
	}
	for range 20 {
		spent.answered()
	}
	if !spent.failed() {
		t.Error("twenty answers did not give back two tokens")
	}
}

func TestAPushbackThatCannotBeReadIsANo(t *testing.T) {
	for told, wanted := range map[string]time.Duration{
		"700": 700 * time.Millisecond, "0": 0, "-1": -time.Millisecond, "soon": -1, "": -1, "99999999999999999999": -1,
	} {
		if wait, says := pushback(metadata.Pairs("grpc-retry-pushback-ms", told)); !says || wait != wanted {
			t.Errorf("%q: %v", told, wait)
		}
	}
	if _, says := pushback(nil); says {
		t.Error("there is none")
	}
}

func TestACallThatWaitsOnASilentConnectionIsMadeAgainOnANewOne(t *testing.T) {
	client, sessionID := connected(t, "proxy_target", Options{})
	theTestbed.must(t, "freeze", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.Sessions.Append(ctx, said(sessionID, "once")); err != nil {
		t.Error(err)
	}
	if read := texts(t, client, sessionID); !slices.Equal(read, []string{"once"}) {
		t.Error(read)
	}
}
