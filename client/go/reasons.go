package lockstitch

import "time"

// One type a reason, by the names that the wire has for them (lockstitchv1.ErrorReason without its prefix).
type (
	// INVALID_ARGUMENT

	// InvalidFieldError is a field that is missing, malformed or outside its range; Fields names it.
	InvalidFieldError struct{ *failure }
	// ExpectedVersionRequiredError is a change computed from an old value that came without a guard.
	ExpectedVersionRequiredError struct{ *failure }
	// PageTokenInvalidError is a page token that was not made by this store, or for another call.
	PageTokenInvalidError struct{ *failure }
	// MessageTooLargeError is a message that is larger than a request may be.
	MessageTooLargeError struct{ *failure }
	// BatchTooLargeError is a request that holds too much, or too many items.
	BatchTooLargeError struct{ *failure }

	// UNAUTHENTICATED

	// TokenMissingError is a call without a token.
	TokenMissingError struct{ *failure }
	// TokenInvalidError is a token that is malformed, forged or meant for somebody else.
	TokenInvalidError struct{ *failure }
	// TokenExpiredError is a token whose time has passed.
	TokenExpiredError struct{ *failure }

	// PERMISSION_DENIED

	// RoleNotAllowedError is what the caller's role may not do or claim.
	RoleNotAllowedError struct{ *failure }

	// NOT_FOUND

	// SessionNotFoundError is a session that never was, or is somebody else's.
	SessionNotFoundError struct{ *failure }
	// MessageNotFoundError is a message that this session does not have.
	MessageNotFoundError struct{ *failure }
	// ToolCallNotFoundError is a result or change for a call that nobody made in this session.
	ToolCallNotFoundError struct{ *failure }
	// RunNotFoundError is a run that this session does not have.
	RunNotFoundError struct{ *failure }
	// CheckpointNotFoundError is a checkpoint that this session and namespace do not have.
	CheckpointNotFoundError struct{ *failure }

	// ALREADY_EXISTS

	// SessionExistsError is a session id that is taken.
	SessionExistsError struct{ *failure }
	// MessageIDExistsError is a message id that was used in this session before.
	MessageIDExistsError struct{ *failure }

	// ABORTED

	// VersionConflictError is a change that somebody else was faster than. Nothing was stored: read what was missed, then decide.
	VersionConflictError struct{ *failure }

	// FAILED_PRECONDITION

	// SessionClosedError is a change of a closed session: restore it first.
	SessionClosedError struct{ *failure }
	// SessionExpiredError is a change of a session whose time has passed: restore it with a new life.
	SessionExpiredError struct{ *failure }
	// SessionDeletedError is a change of a deleted session: undelete it first.
	SessionDeletedError struct{ *failure }
	// RunActiveError is what can't be done while a run is active: wait, join it, interrupt it or cancel it.
	RunActiveError struct{ *failure }
	// RunFencedError is a change under a run that is not its caller's any more. Stop acting.
	RunFencedError struct{ *failure }
	// RunEndedError is a change under a run that has ended.
	RunEndedError struct{ *failure }
	// ToolCallEndedError is a second outcome of a tool call: the first one stays.
	ToolCallEndedError struct{ *failure }
	// ToolCallStatusError is a tool call that can't go from its status to the one asked for.
	ToolCallStatusError struct{ *failure }
	// ToolCallAmbiguousError is a provider's id that two open tool calls have: name one by its tool_call_id.
	ToolCallAmbiguousError struct{ *failure }
	// RequestIDReusedError is a request_id that was used for other content or another method.
	RequestIDReusedError struct{ *failure }

	// OUT_OF_RANGE

	// CursorAheadError is a version that lies ahead of the session, or a draft's step ahead of its text.
	CursorAheadError struct{ *failure }
	// StoreRestoredError is a version of before the store was restored from a backup: read the session anew.
	StoreRestoredError struct{ *failure }

	// RESOURCE_EXHAUSTED

	// RateLimitedError is a caller that makes more calls than it may: come again after RetryAfter.
	RateLimitedError struct{ *failure }
	// QuotaExceededError is a tenant or user that has as many sessions as it may.
	QuotaExceededError struct{ *failure }
	// SessionFullError is a session that holds as many messages as it may.
	SessionFullError struct{ *failure }
	// SubscriptionLimitError is a stream where so many are open as may be.
	SubscriptionLimitError struct{ *failure }
	// SlowConsumerError is a stream that took nothing for too long. A subscription resumes by itself.
	SlowConsumerError struct{ *failure }

	// UNAVAILABLE

	// DrainingError is a server that is going away: another one answers.
	DrainingError struct{ *failure }
	// OverloadedError is a server that had no time for the call. Nothing was done.
	OverloadedError struct{ *failure }
	// DatabaseUnavailableError is a server that can't reach its database. Nothing was done.
	DatabaseUnavailableError struct{ *failure }
	// CommitOutcomeUnknownError is a connection that was lost around the commit: the same request_id, sent again, tells.
	CommitOutcomeUnknownError struct{ *failure }

	// INTERNAL

	// InternalError is a bug of the server.
	InternalError struct{ *failure }
)

var typeOfReason = map[string]func(*Error) error{
	"INVALID_FIELD":             func(e *Error) error { return &InvalidFieldError{e} },
	"EXPECTED_VERSION_REQUIRED": func(e *Error) error { return &ExpectedVersionRequiredError{e} },
	"PAGE_TOKEN_INVALID":        func(e *Error) error { return &PageTokenInvalidError{e} },
	"MESSAGE_TOO_LARGE":         func(e *Error) error { return &MessageTooLargeError{e} },
	"BATCH_TOO_LARGE":           func(e *Error) error { return &BatchTooLargeError{e} },
	"TOKEN_MISSING":             func(e *Error) error { return &TokenMissingError{e} },
	"TOKEN_INVALID":             func(e *Error) error { return &TokenInvalidError{e} },
	"TOKEN_EXPIRED":             func(e *Error) error { return &TokenExpiredError{e} },
	"ROLE_NOT_ALLOWED":          func(e *Error) error { return &RoleNotAllowedError{e} },
	"SESSION_NOT_FOUND":         func(e *Error) error { return &SessionNotFoundError{e} },
	"MESSAGE_NOT_FOUND":         func(e *Error) error { return &MessageNotFoundError{e} },
	"TOOL_CALL_NOT_FOUND":       func(e *Error) error { return &ToolCallNotFoundError{e} },
	"RUN_NOT_FOUND":             func(e *Error) error { return &RunNotFoundError{e} },
	"CHECKPOINT_NOT_FOUND":      func(e *Error) error { return &CheckpointNotFoundError{e} },
	"SESSION_EXISTS":            func(e *Error) error { return &SessionExistsError{e} },
	"MESSAGE_ID_EXISTS":         func(e *Error) error { return &MessageIDExistsError{e} },
	"VERSION_CONFLICT":          func(e *Error) error { return &VersionConflictError{e} },
	"SESSION_CLOSED":            func(e *Error) error { return &SessionClosedError{e} },
	"SESSION_EXPIRED":           func(e *Error) error { return &SessionExpiredError{e} },
	"SESSION_DELETED":           func(e *Error) error { return &SessionDeletedError{e} },
	"RUN_ACTIVE":                func(e *Error) error { return &RunActiveError{e} },
	"RUN_FENCED":                func(e *Error) error { return &RunFencedError{e} },
	"RUN_ENDED":                 func(e *Error) error { return &RunEndedError{e} },
	"TOOL_CALL_ENDED":           func(e *Error) error { return &ToolCallEndedError{e} },
	"TOOL_CALL_STATUS":          func(e *Error) error { return &ToolCallStatusError{e} },
	"TOOL_CALL_AMBIGUOUS":       func(e *Error) error { return &ToolCallAmbiguousError{e} },
	"REQUEST_ID_REUSED":         func(e *Error) error { return &RequestIDReusedError{e} },
	"CURSOR_AHEAD":              func(e *Error) error { return &CursorAheadError{e} },
	"STORE_RESTORED":            func(e *Error) error { return &StoreRestoredError{e} },
	"RATE_LIMITED":              func(e *Error) error { return &RateLimitedError{e} },
	"QUOTA_EXCEEDED":            func(e *Error) error { return &QuotaExceededError{e} },
	"SESSION_FULL":              func(e *Error) error { return &SessionFullError{e} },
	"SUBSCRIPTION_LIMIT":        func(e *Error) error { return &SubscriptionLimitError{e} },
	"SLOW_CONSUMER":             func(e *Error) error { return &SlowConsumerError{e} },
	"DRAINING":                  func(e *Error) error { return &DrainingError{e} },
	"OVERLOADED":                func(e *Error) error { return &OverloadedError{e} },
	"DATABASE_UNAVAILABLE":      func(e *Error) error { return &DatabaseUnavailableError{e} },
	"COMMIT_OUTCOME_UNKNOWN":    func(e *Error) error { return &CommitOutcomeUnknownError{e} },
	"INTERNAL":                  func(e *Error) error { return &InternalError{e} },
}

// LimitBytes is the most bytes of a request's content.
func (e *MessageTooLargeError) LimitBytes() int64 { return e.number("limit_bytes") }

// ExpectedVersion is the version that the request expected.
func (e *VersionConflictError) ExpectedVersion() int64 { return e.number("expected_version") }

// CurrentVersion is the session's version now.
func (e *VersionConflictError) CurrentVersion() int64 { return e.number("current_version") }

// MemoryVersion is the version of the commit that last changed the memory.
func (e *VersionConflictError) MemoryVersion() int64 { return e.number("memory_version") }

// LastSeq is the seq of the newest message: what came after the last one you know is what you missed.
func (e *VersionConflictError) LastSeq() int64 { return e.number("last_seq") }

// RunID is the run that is active.
func (e *RunActiveError) RunID() string { return e.Metadata["run_id"] }

// LeaseExpireTime is until when its lease is live unless it is renewed, by the database's clock; zero where nobody said.
func (e *RunActiveError) LeaseExpireTime() time.Time {
	told, _ := time.Parse(time.RFC3339Nano, e.Metadata["lease_expire_time"])
	return told
}

// RunID is the run that was fenced.
func (e *RunFencedError) RunID() string { return e.Metadata["run_id"] }

// RunID is the run that has ended.
func (e *RunEndedError) RunID() string { return e.Metadata["run_id"] }

// Status is the status that the tool call has, such as "RUNNING".
func (e *ToolCallStatusError) Status() string { return e.Metadata["status"] }

// CurrentVersion is the session's version now; 0 where it was a draft's text that lies ahead.
func (e *CursorAheadError) CurrentVersion() int64 { return e.number("current_version") }

// StoreEpoch is the epoch that the store is in now.
func (e *StoreRestoredError) StoreEpoch() string { return e.Metadata["store_epoch"] }

// Limit is the most messages of a session.
func (e *SessionFullError) Limit() int64 { return e.number("limit") }

// Limit is the most streams.
func (e *SubscriptionLimitError) Limit() int64 { return e.number("limit") }

// IncidentID is under which the server's log has the cause.
func (e *InternalError) IncidentID() string { return e.Metadata["incident_id"] }
