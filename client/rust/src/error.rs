//! What a call can fail with: one variant for each reason that a server gives, chosen by the reason and never by text.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tonic::Code;

/// A field that was refused: where it lies (`messages[1].parts[0].json`) and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldViolation {
    /// The field's path within the request.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

/// What is known of a failed call; every [`Error`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The gRPC code.
    pub code: Code,
    /// The reason as the server names it, such as `VERSION_CONFLICT`; empty where no server of ours answered.
    pub reason: String,
    /// One sentence for people. Not for telling errors apart.
    pub message: String,
    /// What the reason comes with, all text, such as `limit_bytes`.
    pub metadata: HashMap<String, String>,
    /// The fields that were refused, where some were.
    pub field_violations: Vec<FieldViolation>,
    /// How long the server asks to be left alone; none where it did not say.
    pub retry_after: Option<Duration>,
    /// The id of the change that failed; empty for reads. Sent again, it can never make the change twice.
    pub request_id: String,
}

impl Failure {
    /// A failure that no server told of.
    pub(crate) fn of_ours(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: String::new(),
            message: message.into(),
            metadata: HashMap::new(),
            field_violations: Vec::new(),
            retry_after: None,
            request_id: String::new(),
        }
    }

    /// A text of the metadata; empty where the server left it out.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.metadata.get(key).map_or("", String::as_str)
    }

    /// A number of the metadata; 0 where the server left it out.
    #[must_use]
    pub fn number(&self, key: &str) -> i64 {
        self.text(key).parse().unwrap_or_default()
    }

    /// `VERSION_CONFLICT`: the version that the request expected.
    #[must_use]
    pub fn expected_version(&self) -> i64 {
        self.number("expected_version")
    }

    /// `VERSION_CONFLICT`, `CURSOR_AHEAD`: the session's version now.
    #[must_use]
    pub fn current_version(&self) -> i64 {
        self.number("current_version")
    }

    /// `VERSION_CONFLICT`: the version of the commit that last changed the memory.
    #[must_use]
    pub fn memory_version(&self) -> i64 {
        self.number("memory_version")
    }

    /// `VERSION_CONFLICT`: the seq of the newest message. What came after the last one you know is what you missed.
    #[must_use]
    pub fn last_seq(&self) -> i64 {
        self.number("last_seq")
    }

    /// `RUN_ACTIVE`, `RUN_FENCED`, `RUN_ENDED`: which run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        self.text("run_id")
    }
}

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $reason:literal,)*) => {
        /// Why a call failed. A reason that this client does not know yet is [`Error::Other`], with its code.
        ///
        /// ```
        /// # use lockstitch::Error;
        /// # fn missed(outcome: Result<(), Error>) -> Option<i64> {
        /// match outcome {
        ///     Err(Error::VersionConflict(conflict)) => Some(conflict.current_version()),
        ///     _ => None,
        /// }
        /// # }
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])* $name(Box<Failure>),)*
            /// No server could answer in the time that the call had. It was retried with the same `request_id` until then.
            Unavailable(Box<Failure>),
            /// No answer came in time. A change may have been made: its `request_id` tells, sent again.
            DeadlineExceeded(Box<Failure>),
            /// The server is newer than this client: another major version. Speak to it with a newer client.
            ServerTooNew(Box<Failure>),
            /// The server is older than this client can speak to.
            ServerTooOld(Box<Failure>),
            /// Whatever else; `failure().code` has its kind.
            Other(Box<Failure>),
        }

        impl Error {
            /// The reasons that this client knows, by the name that the wire has for them.
            pub const REASONS: &[&str] = &[$($reason),*];

            /// What is known of it.
            #[must_use]
            pub fn failure(&self) -> &Failure {
                match self {
                    $(Self::$name(failure) |)*
                    Self::Unavailable(failure)
                    | Self::DeadlineExceeded(failure)
                    | Self::ServerTooNew(failure)
                    | Self::ServerTooOld(failure)
                    | Self::Other(failure) => failure,
                }
            }
        }

        impl From<Failure> for Error {
            fn from(failure: Failure) -> Self {
                match failure.reason.as_str() {
                    $($reason => Self::$name(failure.into()),)*
                    _ => match failure.code {
                        Code::Unavailable => Self::Unavailable(failure.into()),
                        Code::DeadlineExceeded => Self::DeadlineExceeded(failure.into()),
                        _ => Self::Other(failure.into()),
                    },
                }
            }
        }
    };
}

errors! {
    /// A field is missing, malformed or outside its range; `field_violations` names it.
    InvalidField = "INVALID_FIELD",
    /// A change that is computed from an old value came without a guard.
    ExpectedVersionRequired = "EXPECTED_VERSION_REQUIRED",
    /// A page token was not made by this store, or for another call.
    PageTokenInvalid = "PAGE_TOKEN_INVALID",
    /// One message is larger than a request may be.
    MessageTooLarge = "MESSAGE_TOO_LARGE",
    /// A request holds too much content (`limit_bytes`) or too many items (`limit`).
    BatchTooLarge = "BATCH_TOO_LARGE",
    /// The call came without a token.
    TokenMissing = "TOKEN_MISSING",
    /// The token is malformed, forged or meant for somebody else.
    TokenInvalid = "TOKEN_INVALID",
    /// The token's time has passed. A token that is a function is asked for a fresh one at every attempt.
    TokenExpired = "TOKEN_EXPIRED",
    /// The token's role may not do or claim this.
    RoleNotAllowed = "ROLE_NOT_ALLOWED",
    /// There is no such session: none at all, or somebody else's.
    SessionNotFound = "SESSION_NOT_FOUND",
    /// There is no such message in this session.
    MessageNotFound = "MESSAGE_NOT_FOUND",
    /// There is no such checkpoint in this session and namespace.
    CheckpointNotFound = "CHECKPOINT_NOT_FOUND",
    /// A result or change names a tool call that nobody made in this session.
    ToolCallNotFound = "TOOL_CALL_NOT_FOUND",
    /// There is no such run in this session.
    RunNotFound = "RUN_NOT_FOUND",
    /// The session id is taken.
    SessionExists = "SESSION_EXISTS",
    /// The message id was used in this session before.
    MessageIdExists = "MESSAGE_ID_EXISTS",
    /// The session (or its memory) is not at the version that was expected. Read what was missed, then decide.
    VersionConflict = "VERSION_CONFLICT",
    /// The session is closed: restore it first.
    SessionClosed = "SESSION_CLOSED",
    /// The session's time has passed: restore it with a new life.
    SessionExpired = "SESSION_EXPIRED",
    /// The session is deleted: undelete it first.
    SessionDeleted = "SESSION_DELETED",
    /// A run is active on the session: wait for its end, join it, interrupt it, or cancel it.
    RunActive = "RUN_ACTIVE",
    /// The run is not its caller's any more: somebody took it over, interrupted it or ended it. Stop acting.
    RunFenced = "RUN_FENCED",
    /// The run has ended.
    RunEnded = "RUN_ENDED",
    /// The tool call has ended with another outcome, which stays.
    ToolCallEnded = "TOOL_CALL_ENDED",
    /// The tool call can't go from its `status` to the one asked for.
    ToolCallStatusRefused = "TOOL_CALL_STATUS",
    /// Two open tool calls have this provider's id: name one by `tool_call_id`.
    ToolCallAmbiguous = "TOOL_CALL_AMBIGUOUS",
    /// The `request_id` was used for other content or another method.
    RequestIdReused = "REQUEST_ID_REUSED",
    /// A version was asked for that lies ahead of the session.
    CursorAhead = "CURSOR_AHEAD",
    /// The store was restored from a backup since: versions read before may name other commits now. Read anew.
    StoreRestored = "STORE_RESTORED",
    /// The tenant or the subject makes more calls than it may; come again after `retry_after`.
    RateLimited = "RATE_LIMITED",
    /// The tenant or the user has as many sessions as it may.
    QuotaExceeded = "QUOTA_EXCEEDED",
    /// The session holds as many messages as it may.
    SessionFull = "SESSION_FULL",
    /// As many streams are open as may be.
    SubscriptionLimit = "SUBSCRIPTION_LIMIT",
    /// A stream took nothing for so long that the server ended it. A subscription resumes by itself.
    SlowConsumer = "SLOW_CONSUMER",
    /// The server is going away: another one answers.
    Draining = "DRAINING",
    /// The server had no time for the call. Nothing was done.
    Overloaded = "OVERLOADED",
    /// The server can't reach its database. Nothing was done.
    DatabaseUnavailable = "DATABASE_UNAVAILABLE",
    /// The connection was lost around the commit. The same `request_id`, sent again, tells; nothing is made twice.
    CommitOutcomeUnknown = "COMMIT_OUTCOME_UNKNOWN",
    /// A bug of the server; `incident_id` is under what its log has the cause.
    Internal = "INTERNAL",
}

impl Error {
    /// The gRPC code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.failure().code
    }

    /// The reason as the server names it; empty where no server of ours answered.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.failure().reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = self.failure();
        let kind = if failure.reason.is_empty() {
            failure.code.description()
        } else {
            &failure.reason
        };
        write!(formatter, "{} ({kind})", failure.message)
    }
}

impl std::error::Error for Error {}
