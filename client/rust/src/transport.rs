//! The one way out: every call of a client goes through here, with retries.

use std::sync::Mutex;
use std::time::Duration;

use prost::Message;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::endpoint::channel;
use crate::error::{Error, Failure};
use crate::failures::{error_of, pushback_milliseconds};
use crate::locked;
use crate::retries::{RetryBudget, Waits, wait};
use crate::rpc::Rpc;
use crate::token::Token;

const AUTHORIZATION: &str = "authorization";

/// A channel, with how many there were before it.
#[derive(Clone, Debug)]
struct Connection {
    channel: Channel,
    number: u64,
}

/// An open stream, with the connection that it came by.
pub(crate) struct Opened<A> {
    pub(crate) answers: Streaming<A>,
    pub(crate) connection: u64,
}

#[derive(Debug)]
pub(crate) struct Transport {
    endpoint: Endpoint,
    token: Token,
    timeout: Duration,
    budget: RetryBudget,
    connection: Mutex<Connection>,
}

impl Transport {
    pub(crate) fn new(endpoint: Endpoint, token: Token, timeout: Duration) -> Self {
        let connection = Mutex::new(Connection {
            channel: channel(&endpoint),
            number: 0,
        });
        Self {
            endpoint,
            token,
            timeout,
            budget: RetryBudget::new(),
            connection,
        }
    }

    /// How long a call may take that does not say.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Calls one method and gives its answer; `within` covers all attempts together.
    pub(crate) async fn call<Q: Rpc>(&self, mut request: Q, within: Option<Duration>) -> Result<Q::Answer, Error> {
        let request_id = request.request_id().cloned().unwrap_or_default();
        let deadline = Instant::now() + within.unwrap_or(self.timeout);
        let mut waits = Waits::of_a_call();
        loop {
            let status = match timeout_at(deadline, self.attempt(&request, deadline)).await {
                Ok(Ok(answer)) => {
                    self.budget.succeeded();
                    return Ok(answer);
                }
                Ok(Err(Refused::Here(error))) => return Err(error),
                Ok(Err(Refused::There(status))) => status,
                Err(_) => return Err(too_late(&request_id)),
            };
            let error = error_of(&status, &request_id);
            match self.wait_before_retry(&status, &error, waits.next()) {
                Some(wait) if Instant::now() + wait < deadline => sleep(wait).await,
                _ => return Err(error),
            }
        }
    }

    /// Opens a server stream: one attempt, in so much time.
    pub(crate) async fn open<Q: Rpc>(&self, request: &Q, within: Duration) -> Result<Opened<Q::Answer>, Error> {
        let opening = async {
            let request = self.request(request).await?;
            let connection = self.connection();
            let mut grpc = ready(connection.channel).await?;
            let response = grpc
                .server_streaming(request, path::<Q>(), ProstCodec::<Q, Q::Answer>::default())
                .await?;
            Ok(Opened {
                answers: response.into_inner(),
                connection: connection.number,
            })
        };
        match timeout(within, opening).await {
            Ok(Ok(opened)) => Ok(opened),
            Ok(Err(Refused::Here(error))) => Err(error),
            Ok(Err(Refused::There(status))) => Err(error_of(&status, "")),
            Err(_) => Err(silent()),
        }
    }

    /// Replaces a connection whose network went dead without a word. Calls in flight on it end by themselves.
    pub(crate) fn renew(&self, suspect: u64) {
        let mut connection = locked(&self.connection);
        if connection.number == suspect {
            *connection = Connection {
                channel: channel(&self.endpoint),
                number: suspect + 1,
            };
        }
    }

    async fn attempt<Q: Rpc>(&self, request: &Q, deadline: Instant) -> Result<Q::Answer, Refused> {
        let mut request = self.request(request).await?;
        request.set_timeout(deadline - Instant::now());
        let mut grpc = ready(self.connection().channel).await?;
        Ok(grpc
            .unary(request, path::<Q>(), ProstCodec::<Q, Q::Answer>::default())
            .await?
            .into_inner())
    }

    async fn request<Q: Message + Clone>(&self, request: &Q) -> Result<Request<Q>, Refused> {
        let mut request = Request::new(request.clone());
        if let Some(header) = self.token.header().await.map_err(Refused::Here)? {
            request.metadata_mut().insert(AUTHORIZATION, header);
        }
        Ok(request)
    }

    fn connection(&self) -> Connection {
        locked(&self.connection).clone()
    }

    fn wait_before_retry(&self, status: &Status, error: &Error, backoff: Duration) -> Option<Duration> {
        if error.code() != Code::Unavailable {
            self.budget.succeeded();
            return None;
        }
        if !self.budget.failed() {
            return None;
        }
        wait(backoff, pushback_milliseconds(status), error.failure().retry_after)
    }
}

/// Where an attempt failed: before it went out, or on its way and there.
enum Refused {
    Here(Error),
    There(Status),
}

impl From<Status> for Refused {
    fn from(status: Status) -> Self {
        Self::There(status)
    }
}

async fn ready(channel: Channel) -> Result<Grpc<Channel>, Status> {
    let mut grpc = Grpc::new(channel);
    grpc.ready()
        .await
        .map_err(|cause| Status::unavailable(cause.to_string()))?;
    Ok(grpc)
}

fn path<Q: Rpc>() -> PathAndQuery {
    PathAndQuery::from_static(Q::PATH)
}

/// What a stream is told whose server said nothing for too long.
pub(crate) fn silent() -> Error {
    Failure::of_ours(
        Code::Unavailable,
        "The server was silent for longer than its heartbeats.",
    )
    .into()
}

fn too_late(request_id: &str) -> Error {
    let mut failure = Failure::of_ours(Code::DeadlineExceeded, "No answer came in time.");
    request_id.clone_into(&mut failure.request_id);
    failure.into()
}
