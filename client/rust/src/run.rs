//! A run that is held here: changes of its session that are refused once it is somebody else's.

use std::fmt::Display;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::lease::Lease;
use crate::random;
use crate::session::Session;
use crate::v1::{FinishRunRequest, FinishRunResponse, OnBusy, Run, RunStatus, StartRunRequest};
use crate::wire;

const LEASE: Duration = Duration::from_secs(30);
const ERROR_BYTES_MAX: usize = 8192;

/// A run that is held here, made by [`Session::run`] or [`Session::start_run`].
///
/// It changes and reads its session as [`Session`] does, to which it derefs. Every change carries the run's fence: once
/// somebody else has taken the run over, interrupted or ended it, it is refused with [`Error::RunFenced`], and nothing is
/// stored. From the moment that this is known, whatever is asked through the run fails with it. The fence is a guard:
/// values computed from old ones need no other.
///
/// One that is dropped before it was finished is ended as CANCELLED in the background, unless it was joined.
#[derive(Debug)]
pub struct HeldRun {
    session: Session,
    lease: Arc<Lease>,
    renewing: JoinHandle<()>,
    is_joined: bool,
}

impl Session {
    /// Holds a run while its body works: started here, renewed in the background, ended with the body.
    ///
    /// It ends as SUCCEEDED where the body ends well, as FAILED with the error's text (8 KiB of it) where it fails, as
    /// CANCELLED where it is dropped; or earlier, as [`HeldRun::finish`] or an append's `finish_run` says. A run that was
    /// joined is left running: who started it ends it. If the run was lost while the body ended well, its error is given.
    ///
    /// ```no_run
    /// # use lockstitch::{Error, Session, assistant, v1::{AppendRequest, StartRunRequest}};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let start = StartRunRequest { worker: "engine-1".into(), ..Default::default() };
    /// session.run(start, async |run| {
    ///     run.append(AppendRequest { messages: vec![assistant("Done.")], ..Default::default() }).await
    /// }).await?;
    /// # Ok(()) }
    /// ```
    pub async fn run<T, E: From<Error> + Display>(
        &self,
        start: StartRunRequest,
        body: impl AsyncFnOnce(&HeldRun) -> Result<T, E>,
    ) -> Result<T, E> {
        let run = self.start_run(start).await?;
        let outcome = body(&run).await;
        match &outcome {
            Ok(_) => run.end_well().await?,
            Err(error) => run.end_after(error).await,
        }
        outcome
    }

    /// Starts a run and holds it until it is finished, dropped, or lost.
    ///
    /// Where a run is active, `on_busy` says what happens: REJECT fails with [`Error::RunActive`], JOIN gives that run,
    /// INTERRUPT ends it, so that its holder is fenced. The lease is 30 seconds where the request has none.
    pub async fn start_run(&self, mut request: StartRunRequest) -> Result<HeldRun, Error> {
        let lease = request.lease.and_then(|lease| lease.try_into().ok()).unwrap_or(LEASE);
        request.lease.get_or_insert_with(|| wire::duration(LEASE));
        if request.request_id.is_empty() {
            request.request_id = random::id();
        }
        let joins = request.on_busy() == OnBusy::Join;
        if joins && request.run_id.is_empty() {
            // An id made here, and the same for a retry: another one in the answer is a joined run's.
            request.run_id = name_of(&request.request_id);
        }
        let (expected, run_id) = (request.expected_version, request.run_id.clone());
        let answer = self.call(request).await?;
        let (run, receipt) = (answer.run.unwrap_or_default(), answer.receipt.unwrap_or_default());
        let is_joined = joins && run.run_id != run_id;
        if !is_joined && run.started_version == receipt.version {
            self.made(Some(&receipt), expected, None);
        }
        let lease = Arc::new(Lease::new(self.transport.clone(), run, lease));
        // Of a lease that was granted before now, nobody knows how much is left.
        let at_once = joins || receipt.replayed;
        let renewed = lease.clone();
        let renewing = tokio::spawn(async move { renewed.renew_on(at_once).await });
        let session = self.under(lease.clone());
        Ok(HeldRun {
            session,
            lease,
            renewing,
            is_joined,
        })
    }
}

impl HeldRun {
    /// Which run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.lease.fence.run_id
    }

    /// The token that its changes carry: higher than that of every run before it. A tool may compare it likewise.
    #[must_use]
    pub fn fencing_token(&self) -> i64 {
        self.lease.fence.fencing_token
    }

    /// The run as the last renewal told it: until when its lease is live, whether somebody asked it to end.
    #[must_use]
    pub fn info(&self) -> Run {
        self.lease.run()
    }

    /// Whether somebody asked it to end, as the last renewal told.
    #[must_use]
    pub fn cancel_requested(&self) -> bool {
        self.lease.run().cancel_requested
    }

    /// Whether somebody else started it: then it is not ended here.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.is_joined
    }

    /// Why it is known to be over, by somebody else: what was begun under it, such as a tool, should stop.
    #[must_use]
    pub fn loss(&self) -> Option<Error> {
        self.lease.loss()
    }

    /// Renews the lease now, and gives the run: before an act that nobody can take back, say.
    ///
    /// It is renewed in the background anyway. A lease that ran out is renewed as long as nobody took over.
    pub async fn renew(&self) -> Result<Run, Error> {
        self.lease.renew(None).await
    }

    /// Ends the run, as the request says: SUCCEEDED where it has no status. Tool calls stay as they are.
    ///
    /// An append's `finish_run` does it in one commit with the last messages.
    pub async fn finish(&self, mut request: FinishRunRequest) -> Result<FinishRunResponse, Error> {
        if request.status() == RunStatus::Unspecified {
            request.set_status(RunStatus::Succeeded);
        }
        let expected = request.expected_version;
        let answer = self.session.call(request).await?;
        self.session.made(answer.receipt.as_ref(), expected, None);
        Ok(answer)
    }

    async fn end_well(&self) -> Result<(), Error> {
        if self.lease.has_ended() {
            return Ok(());
        }
        if !self.is_joined {
            self.finish(FinishRunRequest::default()).await?;
        } else if let Some(loss @ Error::RunFenced(_)) = self.lease.loss() {
            return Err(loss);
        }
        Ok(())
    }

    async fn end_after(&self, error: &impl Display) {
        if !self.is_ours_to_end() {
            return;
        }
        let request = FinishRunRequest {
            error: text_of(error),
            status: RunStatus::Failed.into(),
            ..Default::default()
        };
        // The body's own error is the one to be seen; a run that could not be ended ends with its lease.
        let _ = self.finish(request).await;
    }

    fn is_ours_to_end(&self) -> bool {
        !self.lease.has_ended() && self.lease.loss().is_none() && !self.is_joined
    }
}

impl Deref for HeldRun {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Drop for HeldRun {
    fn drop(&mut self) {
        self.renewing.abort();
        let Some(runtime) = Handle::try_current().ok().filter(|_| self.is_ours_to_end()) else {
            return;
        };
        let session = self.session.clone();
        runtime.spawn(async move {
            let status = RunStatus::Cancelled.into();
            // Where it fails, the run ends with its lease.
            let _ = session
                .call(FinishRunRequest {
                    status,
                    ..Default::default()
                })
                .await;
        });
    }
}

fn name_of(request_id: &str) -> String {
    format!("run_{request_id}")
}

fn text_of(error: &impl Display) -> String {
    let mut text = error.to_string();
    let mut end = ERROR_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
