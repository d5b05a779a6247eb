//! From a failed call to the error that says why: the trailing `google.rpc.Status`, read by reason and never by text.

use std::error::Error as _;

use tonic::{Code, Status, TimeoutExpired};
use tonic_types::{ErrorDetail, StatusExt};

use crate::error::{Error, Failure, FieldViolation};

/// The `ErrorInfo` domain of the reasons that this crate knows.
const DOMAIN: &str = "lockstitch.dev";

const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// The typed error of a failed call; `request_id` is that of the change it was, if it was one.
pub(crate) fn error_of(status: &Status, request_id: &str) -> Error {
    let mut failure = Failure::of_ours(code_of(status), status.message());
    request_id.clone_into(&mut failure.request_id);
    for detail in status.get_error_details_vec() {
        match detail {
            ErrorDetail::ErrorInfo(info) if info.domain == DOMAIN => {
                failure.reason = info.reason;
                failure.metadata = info.metadata;
            }
            ErrorDetail::RetryInfo(retry) => failure.retry_after = retry.retry_delay,
            ErrorDetail::BadRequest(refused) => {
                failure
                    .field_violations
                    .extend(refused.field_violations.into_iter().map(|violation| FieldViolation {
                        field: violation.field,
                        description: violation.description,
                    }));
            }
            _ => {}
        }
    }
    failure.into()
}

/// The code that gRPC has for it. tonic gives a connection that was cut other codes, and the cause beneath them.
fn code_of(status: &Status) -> Code {
    match (status.code(), status.source()) {
        (_, Some(cause)) if cause.is::<TimeoutExpired>() => Code::DeadlineExceeded,
        (Code::Cancelled | Code::Internal | Code::Unknown, Some(_)) => Code::Unavailable,
        (code, _) => code,
    }
}

/// How many milliseconds the server wants a retry to wait; negative where it wants none; none where it did not say.
pub(crate) fn pushback_milliseconds(status: &Status) -> Option<i64> {
    let said = status.metadata().get(PUSHBACK)?;
    // What can't be read forbids, as gRPC itself reads it.
    Some(said.to_str().ok().and_then(|text| text.parse().ok()).unwrap_or(-1))
}
