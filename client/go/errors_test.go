package lockstitch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

func refusal(t *testing.T, code codes.Code, info *errdetails.ErrorInfo) error {
	t.Helper()
	told, err := status.New(code, "one sentence").WithDetails(info)
	if err != nil {
		t.Fatal(err)
	}
	return told.Err()
}

func TestEachReasonIsATypeOfItsOwn(t *testing.T) {
	seen := map[reflect.Type]string{}
	for number, name := range lockstitchv1.ErrorReason_name {
		reason := strings.TrimPrefix(name, "ERROR_REASON_")
		if number == 0 {
			continue
		}
		info := &errdetails.ErrorInfo{Domain: Domain, Reason: reason, Metadata: map[string]string{"limit": "3"}}
		err := errorOf(refusal(t, codes.FailedPrecondition, info), "r1")
		kind := reflect.TypeOf(err)
		if kind == reflect.TypeOf(&Error{}) || seen[kind] != "" {
			t.Errorf("%s is a %v, as %s is", reason, kind, seen[kind])
		}
		seen[kind] = reason
		var failure *Error
		if !errors.As(fmt.Errorf("wrapped: %w", err), &failure) || failure.Reason != reason ||
			failure.Metadata["limit"] != "3" || failure.RequestID != "r1" {
			t.Errorf("%s: %+v", reason, failure)
		}
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if len(seen) != len(typeOfReason) {
		t.Errorf("%d types for %d reasons", len(typeOfReason), len(seen))
	}
}

func TestAReasonOfALaterServerOrOfSomebodyElseIsAPlainErrorOfItsCode(t *testing.T) {
	later := errorOf(refusal(t, codes.NotFound, &errdetails.ErrorInfo{Domain: Domain, Reason: "MOON_NOT_FOUND"}), "")
	if found, plain := later.(*Error); !plain || found.Reason != "MOON_NOT_FOUND" || status.Code(later) != codes.NotFound {
		t.Errorf("%T %v", later, later)
	}
	other := errorOf(refusal(t, codes.NotFound, &errdetails.ErrorInfo{Domain: "example.org", Reason: "SESSION_NOT_FOUND"}), "")
	if found, plain := other.(*Error); !plain || found.Reason != "" {
		t.Errorf("%T %v", other, other)
	}
}

func TestWhatAReasonComesWithHasItsType(t *testing.T) {
	info := &errdetails.ErrorInfo{Domain: Domain, Reason: "VERSION_CONFLICT", Metadata: map[string]string{
		"expected_version": "3", "current_version": "9007199254740993", "memory_version": "2", "last_seq": "7",
	}}
	var conflict *VersionConflictError
	if !errors.As(errorOf(refusal(t, codes.Aborted, info), ""), &conflict) || conflict.ExpectedVersion() != 3 ||
		conflict.CurrentVersion() != 9007199254740993 || conflict.MemoryVersion() != 2 || conflict.LastSeq() != 7 {
		t.Error(conflict)
	}
	info = &errdetails.ErrorInfo{Domain: Domain, Reason: "RUN_ACTIVE", Metadata: map[string]string{
		"run_id": "r1", "lease_expire_time": "2026-11-30T10:00:00.5Z",
	}}
	var active *RunActiveError
	until := time.Date(2026, 11, 30, 10, 0, 0, 5e8, time.UTC)
	if !errors.As(errorOf(refusal(t, codes.FailedPrecondition, info), ""), &active) || active.RunID() != "r1" ||
		!active.LeaseExpireTime().Equal(until) {
		t.Error(active)
	}
}

func TestACallWhoseTimeIsUpIsADeadlineExceeded(t *testing.T) {
	client, sessionID := connected(t, "proxy_target", Options{})
	theTestbed.must(t, "stall", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := client.Sessions.Append(ctx, said(sessionID, "hello"))
	if !errors.Is(err, context.DeadlineExceeded) || status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err = client.Sessions.Append(ctx, said(sessionID, "hello")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
