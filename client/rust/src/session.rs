//! The handle of one session: what can be read of it and followed, and how far it has seen.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::error::Error;
use crate::items::Items;
use crate::lease::Lease;
use crate::locked;
use crate::random;
use crate::rpc::Rpc;
use crate::subscription::Subscription;
use crate::transport::Transport;
use crate::v1;
use crate::v1::subscribe_response::Frame;

/// How far somebody has seen a session: a handle, its clones, and the runs that it started.
#[derive(Debug, Default)]
struct Seen {
    version: i64,
    memory_version: i64,
    info: Option<v1::Session>,
    receipt: Option<v1::CommitReceipt>,
}

/// One session, as its client sees it. Made by [`crate::Client::create`], `get` and `session`. A clone is the same handle.
///
/// Its methods take the wire's own requests. What is left at its default there is filled in: `session_id`, a fresh
/// `request_id` (every retry repeats it; give one of your own to retry beyond the call's own time), and under a run its
/// fence. There is no hidden guard: where `expected_version` is `None`, nothing is compared.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) transport: Arc<Transport>,
    id: Arc<str>,
    seen: Arc<Mutex<Seen>>,
    within: Option<Duration>,
    lease: Option<Arc<Lease>>,
}

impl Session {
    pub(crate) fn new(transport: Arc<Transport>, session_id: &str) -> Self {
        Self {
            transport,
            id: session_id.into(),
            seen: Arc::default(),
            within: None,
            lease: None,
        }
    }

    /// Which session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.id
    }

    /// The version up to which this handle has seen the session; 0 before anything was seen.
    ///
    /// Every commit up to it was either read or made here. Reads move it on, and so does a change made here that follows
    /// directly on it; one that lands behind somebody else's commit does not: a change that expects it is refused then,
    /// until you have read what you missed.
    #[must_use]
    pub fn version(&self) -> i64 {
        locked(&self.seen).version
    }

    /// The version of the working memory that was last read or made through this handle; 0 before.
    #[must_use]
    pub fn memory_version(&self) -> i64 {
        locked(&self.seen).memory_version
    }

    /// The session as last read or created through this handle.
    #[must_use]
    pub fn info(&self) -> Option<v1::Session> {
        locked(&self.seen).info.clone()
    }

    /// The receipt of the last change made through this handle.
    #[must_use]
    pub fn receipt(&self) -> Option<v1::CommitReceipt> {
        locked(&self.seen).receipt.clone()
    }

    /// The same handle, whose calls may take so long, all attempts of each together.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        Self {
            within: Some(time),
            ..self.clone()
        }
    }

    /// The handle of another session, which has seen nothing yet and is under no run.
    pub(crate) fn another(&self, session_id: &str) -> Self {
        Self {
            within: self.within,
            ..Self::new(self.transport.clone(), session_id)
        }
    }

    /// The same handle, whose changes are made under a run.
    pub(crate) fn under(&self, lease: Arc<Lease>) -> Self {
        Self {
            lease: Some(lease),
            ..self.clone()
        }
    }

    /// Makes any call on this session, with its id, a `request_id` and the run's fence filled in.
    ///
    /// The other methods also note how far the handle has seen; this one does not.
    pub async fn call<Q: Rpc>(&self, mut request: Q) -> Result<Q::Answer, Error> {
        if let Some(session_id) = request.session_id().filter(|id| id.is_empty()) {
            *session_id = self.id.to_string();
        }
        fill_request_id(&mut request);
        let Some(lease) = &self.lease else {
            return self.transport.call(request, self.within).await;
        };
        if let Some(fence) = request.fence() {
            fence.get_or_insert_with(|| lease.fence.clone());
        }
        let finishes = request.finishes();
        lease.refuse_lost()?;
        let _ending = finishes.then(|| lease.ending());
        let outcome = self.transport.call(request, self.within).await;
        lease.told(finishes, outcome.as_ref().err());
        outcome
    }

    /// The session now, and with it what is asked for, from one snapshot.
    pub async fn get(&self, request: v1::GetSessionRequest) -> Result<v1::GetSessionResponse, Error> {
        let includes_memory = request.include_memory;
        let answer = self.call(request).await?;
        self.saw(answer.session.as_ref());
        if includes_memory {
            self.saw_memory(answer.memory.as_ref());
        }
        Ok(answer)
    }

    /// The working memory now, or as it was.
    pub async fn memory(&self, request: v1::GetMemoryRequest) -> Result<v1::WorkingMemory, Error> {
        let is_the_sessions = request.run_id.is_empty();
        let memory = self.call(request).await?.memory.unwrap_or_default();
        if is_the_sessions {
            self.saw_memory(Some(&memory));
        }
        Ok(memory)
    }

    /// All that an engine needs for the next turn, from one snapshot.
    pub async fn context(&self, request: v1::GetContextRequest) -> Result<v1::GetContextResponse, Error> {
        let answer = self.call(request).await?;
        self.saw(answer.session.as_ref());
        self.saw_memory(answer.memory.as_ref());
        Ok(answer)
    }

    /// The session's messages, oldest first unless asked otherwise, fetched a page at a time as you go on.
    #[must_use]
    pub fn messages(&self, request: v1::ListMessagesRequest) -> Items<v1::Message> {
        self.pages(
            request,
            |request, token| request.page_token = token,
            |page| (page.messages, page.next_page_token),
        )
    }

    /// The session's commits, oldest first unless asked otherwise.
    #[must_use]
    pub fn commits(&self, request: v1::ListCommitsRequest) -> Items<v1::Commit> {
        self.pages(
            request,
            |request, token| request.page_token = token,
            |page| (page.commits, page.next_page_token),
        )
    }

    /// The session's tool calls, oldest first.
    #[must_use]
    pub fn tool_calls(&self, request: v1::ListToolCallsRequest) -> Items<v1::ToolCall> {
        self.pages(
            request,
            |request, token| request.page_token = token,
            |page| (page.tool_calls, page.next_page_token),
        )
    }

    /// The session's runs, the newest first.
    #[must_use]
    pub fn runs(&self, request: v1::ListRunsRequest) -> Items<v1::Run> {
        self.pages(
            request,
            |request, token| request.page_token = token,
            |page| (page.runs, page.next_page_token),
        )
    }

    /// The session's commits behind a version, then each as it is made, for as long as you go on.
    ///
    /// Each commit comes once and whole, in order of version, none is left out, whatever happens to servers, their
    /// database and the network meanwhile: a lost stream is resumed behind the last commit. It fails with
    /// [`Error::SessionNotFound`], [`Error::CursorAhead`] or [`Error::StoreRestored`], or where the first opening took
    /// longer than a call may; once it was open there is no limit to how often and how long it is resumed.
    ///
    /// ```no_run
    /// # use lockstitch::{Error, Session};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let mut commits = session.subscribe(session.version());
    /// while let Some(commit) = commits.try_next().await? {
    ///     println!("{}: {} messages", commit.version, commit.messages.len());
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn subscribe(&self, after_version: i64) -> Items<v1::Commit> {
        let request = v1::SubscribeRequest {
            after_version,
            ..v1::SubscribeRequest::default()
        };
        let source = (self.clone(), self.subscription(request));
        Items::from_source(source, |(session, mut subscription)| async move {
            loop {
                if let Frame::Commit(commit) = session.next_frame(&mut subscription).await? {
                    return Ok(Some((commit, (session, subscription))));
                }
            }
        })
    }

    /// The same with every frame that the server sends, for those who show whether they are live, or text that is being
    /// generated; with a choice of roles and heartbeats, 15 seconds where the request has none.
    ///
    /// `opened` comes with each stream that is opened, and drafts that go on come from their beginning then: their `offset`
    /// says what was given before.
    #[must_use]
    pub fn frames(&self, request: v1::SubscribeRequest) -> Items<Frame> {
        let source = (self.clone(), self.subscription(request));
        Items::from_source(source, |(session, mut subscription)| async move {
            let frame = session.next_frame(&mut subscription).await?;
            Ok(Some((frame, (session, subscription))))
        })
    }

    fn subscription(&self, mut request: v1::SubscribeRequest) -> Subscription {
        if request.session_id.is_empty() {
            request.session_id = self.id.to_string();
        }
        Subscription::new(self.transport.clone(), request, self.within)
    }

    async fn next_frame(&self, subscription: &mut Subscription) -> Result<Frame, Error> {
        let frame = subscription.next().await?;
        if let Frame::Commit(commit) = &frame {
            if subscription.is_whole() {
                self.saw_version(commit.version);
            }
            self.note(commit.session.as_ref());
        }
        Ok(frame)
    }

    fn pages<Q: Rpc + Sync, T: Send + 'static>(
        &self,
        request: Q,
        turn: fn(&mut Q, String),
        open: fn(Q::Answer) -> (Vec<T>, String),
    ) -> Items<T> {
        let session = self.clone();
        Items::of_pages(move |token| {
            let (session, mut request) = (session.clone(), request.clone());
            turn(&mut request, token);
            async move { Ok(open(session.call(request).await?)) }
        })
    }

    /// Notes a change made here. It counts as seen only where nobody else's commit can lie before it unseen.
    pub(crate) fn made(
        &self,
        receipt: Option<&v1::CommitReceipt>,
        expected_version: Option<i64>,
        expected_memory_version: Option<i64>,
    ) {
        let Some(receipt) = receipt else { return };
        let mut seen = locked(&self.seen);
        seen.receipt = Some(receipt.clone());
        let follows = receipt.version <= expected_version.unwrap_or(seen.version) + 1;
        if follows {
            seen.version = seen.version.max(receipt.version);
        }
        if receipt.memory_version == receipt.version && (follows || expected_memory_version.is_some()) {
            seen.memory_version = seen.memory_version.max(receipt.memory_version);
        }
    }

    /// Notes a session as read: whoever reads it has seen it up to its version.
    pub(crate) fn saw(&self, session: Option<&v1::Session>) {
        self.note(session);
        self.saw_version(session.map_or(0, |session| session.version));
    }

    pub(crate) fn note(&self, session: Option<&v1::Session>) {
        let Some(session) = session else { return };
        let mut seen = locked(&self.seen);
        if seen.info.as_ref().is_none_or(|known| session.version >= known.version) {
            seen.info = Some(session.clone());
        }
    }

    fn saw_version(&self, version: i64) {
        let mut seen = locked(&self.seen);
        seen.version = seen.version.max(version);
    }

    pub(crate) fn saw_memory(&self, memory: Option<&v1::WorkingMemory>) {
        let mut seen = locked(&self.seen);
        seen.memory_version = seen.memory_version.max(memory.map_or(0, |memory| memory.version));
    }
}

/// Gives a change an id where its caller gave none.
pub(crate) fn fill_request_id<Q: Rpc>(request: &mut Q) {
    if let Some(request_id) = request.request_id().filter(|id| id.is_empty()) {
        *request_id = random::id();
    }
}
