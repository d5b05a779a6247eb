//! Where a server is, and how to speak to it.

use std::net::IpAddr;
use std::time::Duration;

use tonic::Code;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

use crate::error::{Error, Failure};

/// How to speak to a server.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Tls {
    /// Plain text where the target can't leave this machine (loopback, `localhost`, a Unix socket), else TLS with the
    /// system's root certificates.
    #[default]
    WhereItLeavesTheMachine,
    /// Plain text by name: the token and all content can then be read on the way.
    Plain,
    /// TLS as configured: root certificates to trust, a certificate of one's own.
    With(Box<ClientTlsConfig>),
}

/// How long making a connection may take; a call that is over before then does not wait for it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that has been silent for so long while a call waits is asked for a sign of life, and made anew where none
/// comes: with a second left of the ten that a call has where nobody says. A server of ours lets callers ask every 5 s.
const SILENCE: Duration = Duration::from_millis(5500);
const SIGN_OF_LIFE: Duration = Duration::from_secs(3);

/// Windows in which an answer of 4 MiB flows without waiting for the reader's word.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

/// The endpoint of a target, as gRPC names it: `127.0.0.1:50051`, `dns:///store.example.org:443`, `unix:/run/a.sock`.
pub(crate) fn endpoint(target: &str, tls: Tls) -> Result<Endpoint, Error> {
    let address = target
        .strip_prefix("dns:")
        .map_or(target, |rest| rest.trim_start_matches('/'));
    let tls = match tls {
        Tls::WhereItLeavesTheMachine if is_local(address) => None,
        Tls::WhereItLeavesTheMachine => Some(ClientTlsConfig::new().with_native_roots()),
        Tls::Plain => None,
        Tls::With(config) => Some(*config),
    };
    let uri = match tls {
        _ if address.starts_with("unix:") => address.to_owned(),
        None => format!("http://{address}"),
        Some(_) => format!("https://{address}"),
    };
    let mut endpoint = Endpoint::from_shared(uri).map_err(|cause| refused(target, &cause))?;
    if let Some(config) = tls {
        endpoint = endpoint.tls_config(config).map_err(|cause| refused(target, &cause))?;
    }
    endpoint = endpoint
        .user_agent(concat!("lockstitch-rust/", env!("CARGO_PKG_VERSION")))
        .map_err(|cause| refused(target, &cause))?;
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(SILENCE)
        .keep_alive_timeout(SIGN_OF_LIFE)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES))
}

/// A channel that connects when it is first used, and again whenever its connection was lost.
pub(crate) fn channel(endpoint: &Endpoint) -> Channel {
    endpoint.connect_lazy()
}

fn is_local(address: &str) -> bool {
    if address.starts_with("unix:") {
        return true;
    }
    let host = match address.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(host, _)| host),
        None => address.rsplit_once(':').map_or(address, |(host, _)| host),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn refused(target: &str, cause: &dyn std::error::Error) -> Error {
    Failure::of_ours(Code::InvalidArgument, format!("{target} is no target: {cause}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_on_the_machine_is_local() {
        for address in [
            "127.0.0.1:50051",
            "localhost:1",
            "LOCALHOST",
            "[::1]:50051",
            "unix:/run/lockstitch.sock",
            "127.9.9.9:1",
        ] {
            assert!(is_local(address), "{address}");
        }
        for address in [
            "10.0.0.1:50051",
            "localhost.example.org:1",
            "[fe80::1]:50051",
            "store.example.org:443",
            "127.0.0.1.example.org:1",
        ] {
            assert!(!is_local(address), "{address}");
        }
    }
}
