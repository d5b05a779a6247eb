//! Where calls begin.

use std::sync::Arc;
use std::time::Duration;

use crate::endpoint::{Tls, endpoint};
use crate::error::Error;
use crate::items::Items;
use crate::rpc::Rpc;
use crate::session::{Session, fill_request_id};
use crate::token::Token;
use crate::transport::Transport;
use crate::v1;
use crate::versions::refuse_other_versions;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Speaks to a lockstitch server. A clone is the same client: give one to each task.
///
/// `UNAVAILABLE` is retried with the same `request_id` and growing waits until the call's time is up; the server's word on
/// when to come again is kept. Everything else is given at once, as an [`Error`].
#[derive(Clone, Debug)]
pub struct Client {
    transport: Arc<Transport>,
    within: Option<Duration>,
}

/// How a client is made, where [`Client::connect`] does not say enough.
#[derive(Debug)]
pub struct Builder {
    target: String,
    token: Token,
    tls: Tls,
    timeout: Duration,
}

impl Client {
    /// A client of a server, within a Tokio runtime. It connects when it is first used.
    ///
    /// The target is as gRPC names it: `127.0.0.1:50051`, `dns:///store.example.org:443`, `unix:/run/lockstitch.sock`.
    /// Plain text is spoken where it can't leave this machine, else TLS with the system's root certificates.
    pub fn connect(target: impl Into<String>, token: impl Into<Token>) -> Result<Self, Error> {
        Self::builder(target, token).connect()
    }

    /// The same with a choice of TLS and of how long calls may take.
    pub fn builder(target: impl Into<String>, token: impl Into<Token>) -> Builder {
        Builder {
            target: target.into(),
            token: token.into(),
            tls: Tls::default(),
            timeout: TIMEOUT,
        }
    }

    /// The same client, whose calls may take so long, all attempts of each together.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        Self {
            within: Some(time),
            ..self.clone()
        }
    }

    /// Creates a session, with its first messages and memory in the same commit.
    pub async fn create(&self, request: v1::CreateSessionRequest) -> Result<Session, Error> {
        let answer = self.call(request).await?;
        let made = answer.session.unwrap_or_default();
        let session = self.session(&made.session_id);
        session.made(answer.receipt.as_ref(), None, None);
        session.note(Some(&made));
        Ok(session)
    }

    /// The handle of a session that is there, with its [`Session::info`] read.
    pub async fn get(&self, session_id: &str) -> Result<Session, Error> {
        let session = self.session(session_id);
        session.get(v1::GetSessionRequest::default()).await?;
        Ok(session)
    }

    /// The handle of a session by its id, without asking whether it is there.
    #[must_use]
    pub fn session(&self, session_id: &str) -> Session {
        let session = Session::new(self.transport.clone(), session_id);
        self.within.map_or(session.clone(), |time| session.within(time))
    }

    /// The sessions, the most recently used first, fetched a page at a time as you go on. A user sees its own only.
    #[must_use]
    pub fn list(&self, request: v1::ListSessionsRequest) -> Items<v1::Session> {
        let client = self.clone();
        Items::of_pages(move |page_token| {
            let (client, request) = (
                client.clone(),
                v1::ListSessionsRequest {
                    page_token,
                    ..request.clone()
                },
            );
            async move {
                let page = client.call(request).await?;
                Ok((page.sessions, page.next_page_token))
            }
        })
    }

    /// What the server is and which limits it holds. For engines and admins.
    pub async fn server_info(&self) -> Result<v1::GetServerInfoResponse, Error> {
        self.call(v1::GetServerInfoRequest {}).await
    }

    /// Fails with [`Error::ServerTooOld`] or [`Error::ServerTooNew`] where this client does not fit the server.
    pub async fn check_server(&self) -> Result<v1::GetServerInfoResponse, Error> {
        let info = self.server_info().await?;
        refuse_other_versions(&info.version)?;
        Ok(info)
    }

    /// Makes any call, with a `request_id` filled in and with retries: for what has no method of its own.
    ///
    /// ```no_run
    /// # use lockstitch::{Client, Error, v1::EraseUserRequest};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let erased = client.call(EraseUserRequest { user_id: "u1".into(), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    pub async fn call<Q: Rpc>(&self, mut request: Q) -> Result<Q::Answer, Error> {
        fill_request_id(&mut request);
        self.transport.call(request, self.within).await
    }
}

impl Builder {
    /// How to speak to the server.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// How long a call may take, all attempts together. Shorter fails sooner under trouble, longer rides out longer
    /// restarts. Defaults to 10 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The client, within a Tokio runtime. It connects when it is first used.
    pub fn connect(self) -> Result<Client, Error> {
        let endpoint = endpoint(&self.target, self.tls)?;
        let transport = Arc::new(Transport::new(endpoint, self.token, self.timeout));
        Ok(Client {
            transport,
            within: None,
        })
    }
}
