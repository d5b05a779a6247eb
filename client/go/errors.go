package lockstitch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Domain is the ErrorInfo domain of the reasons that this package knows.
const Domain = "lockstitch.dev"

// Error is a call that failed. Every error of a call is one of these, and where the server gave a reason, one of the
// types made of it, such as [VersionConflictError]:
//
//	var conflict *lockstitch.VersionConflictError
//	if errors.As(err, &conflict) { … conflict.CurrentVersion() … }
//
// A reason that this client does not know yet is a plain *Error of its code, so that status.Code(err) ==
// codes.NotFound goes on telling what later servers add. errors.As finds the *Error in each of them.
type Error struct {
	// Code is gRPC's code.
	Code codes.Code
	// Reason is what the server says, such as "VERSION_CONFLICT"; "" where no server of ours answered.
	Reason string
	// Message is one sentence for people. Not for telling errors apart.
	Message string
	// Metadata is what the reason comes with, all text, such as {"limit_bytes": "3145728"}.
	Metadata map[string]string
	// Fields are those that were refused.
	Fields []FieldViolation
	// RetryAfter is how long the server asks to be left alone; 0 where it did not say.
	RetryAfter time.Duration
	// RequestID is the id of the change that failed; "" for reads. Sending it again never makes the change twice.
	RequestID string

	cause error
	isOwn bool // made here, before anything was sent
}

// failure is what the types of the reasons are made of: embedded by its own name, Error would hide the method Error.
type failure = Error

// FieldViolation is a field that was refused.
type FieldViolation struct {
	// Field is where it lies, such as "messages[1].parts[0].json".
	Field string
	// Description is what is wrong with it.
	Description string
}

func (e *Error) Error() string {
	what := e.Reason
	if what == "" {
		what = e.Code.String()
	}
	if e.Message == "" {
		return "lockstitch: " + what
	}
	return fmt.Sprintf("lockstitch: %s: %s", what, e.Message)
}

// GRPCStatus lets status.Code and status.Convert read the error.
func (e *Error) GRPCStatus() *status.Status {
	return status.New(e.Code, e.Message)
}

// Unwrap gives what lies behind it: gRPC's own error, or that of a TokenSource.
func (e *Error) Unwrap() error {
	return e.cause
}

// As finds the *Error in each of the types that are made of reasons.
func (e *Error) As(target any) bool {
	found, ok := target.(**Error)
	if ok {
		*found = e
	}
	return ok
}

// Is says that a call whose time is up is a context.DeadlineExceeded, and one that was given up a context.Canceled.
func (e *Error) Is(target error) bool {
	return e.Code == codes.DeadlineExceeded && target == context.DeadlineExceeded ||
		e.Code == codes.Canceled && target == context.Canceled
}

// number is a number of the metadata; 0 where the server left it out.
func (e *Error) number(key string) int64 {
	read, _ := strconv.ParseInt(e.Metadata[key], 10, 64)
	return read
}

func asError(err error) (*Error, bool) {
	var found *Error
	ok := errors.As(err, &found)
	return found, ok
}

// errorOf reads the error of a failed call by its details, never by its text. requestID is that of the change it was.
func errorOf(err error, requestID string) error {
	if err == nil {
		return nil
	}
	told := status.Convert(err)
	made := &Error{Code: told.Code(), Message: told.Message(), RequestID: requestID, cause: err}
	for _, detail := range told.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == Domain {
				made.Reason, made.Metadata = detail.GetReason(), detail.GetMetadata()
			}
		case *errdetails.BadRequest:
			for _, refused := range detail.GetFieldViolations() {
				made.Fields = append(made.Fields, FieldViolation{refused.GetField(), refused.GetDescription()})
			}
		case *errdetails.RetryInfo:
			made.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	if typed, known := typeOfReason[made.Reason]; known {
		return typed(made)
	}
	return made
}
