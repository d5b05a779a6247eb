//! Which servers this client fits: within a major version the wire only grows.

use tonic::Code;

use crate::error::{Error, Failure};

/// The first version of a server that has what this client calls, and the first that may speak otherwise.
const SERVER_FROM: [u64; 3] = [0, 1, 0];
const SERVER_BEFORE: [u64; 3] = [1, 0, 0];

/// Fails with what is wrong with a server's version, if anything is. One that can't be read is too old.
pub(crate) fn refuse_other_versions(version: &str) -> Result<(), Error> {
    let numbers = numbers(version).unwrap_or_default();
    if numbers < SERVER_FROM {
        let named = if version.is_empty() { "of no version" } else { version };
        let message = format!("The server is {named}; this client needs {}.", text(SERVER_FROM));
        return Err(Error::ServerTooOld(failure(version, message)));
    }
    if numbers >= SERVER_BEFORE {
        let before = text(SERVER_BEFORE);
        let message = format!("The server is {version}; this client knows those before {before}.");
        return Err(Error::ServerTooNew(failure(version, message)));
    }
    Ok(())
}

/// The numbers of a version; what stands behind `-` or `+` does not count.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let parts: Option<Vec<u64>> = version
        .split(['-', '+'])
        .next()?
        .split('.')
        .map(|part| {
            part.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| part.parse().ok())?
        })
        .collect();
    parts?.try_into().ok()
}

fn failure(version: &str, message: String) -> Box<Failure> {
    let told = [
        ("server_version", version.to_owned()),
        ("from", text(SERVER_FROM)),
        ("before", text(SERVER_BEFORE)),
    ];
    let mut failure = Failure::of_ours(Code::Unimplemented, message);
    failure.metadata = told.map(|(key, text)| (key.to_owned(), text)).into();
    failure.into()
}

fn text(version: [u64; 3]) -> String {
    version.map(|number| number.to_string()).join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(numbers("0.1.0"), Some([0, 1, 0]));
        assert_eq!(numbers("0.10.2-rc.1+build.7"), Some([0, 10, 2]));
        assert!(numbers("0.10.0") > numbers("0.9.9"));
    }

    #[test]
    fn what_is_no_version_is_too_old() {
        for version in [
            "",
            "banana",
            "1",
            "1.0",
            "1.0.0.0",
            "1.+0.0",
            "1.0.x",
            "99999999999999999999.0.0",
        ] {
            assert!(
                matches!(refuse_other_versions(version), Err(Error::ServerTooOld(_))),
                "{version}"
            );
        }
    }

    #[test]
    fn a_refusal_says_which_versions_fit() {
        let error = refuse_other_versions("1.2.3").unwrap_err();
        let failure = error.failure();
        assert_eq!((failure.code, failure.reason.as_str()), (Code::Unimplemented, ""));
        assert_eq!(
            (failure.text("server_version"), failure.text("from")),
            ("1.2.3", "0.1.0")
        );
        assert_eq!(failure.text("before"), "1.0.0");
    }
}
