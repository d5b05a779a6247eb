//! One session followed over as many streams as it takes, each from where the last one ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tonic::Code;

use crate::error::{Error, Failure};
use crate::failures::error_of;
use crate::retries::Waits;
use crate::transport::{Opened, Transport, silent};
use crate::v1::subscribe_response::Frame;
use crate::v1::{SubscribeRequest, SubscribeResponse};
use crate::wire;

/// How long the server may be silent where nobody says.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// A stream that is silent for so many heartbeats has lost its network without a word.
const SILENT_INTERVALS: f64 = 2.5;

/// How many attempts in a row may end before their first frame, for a reason that a further one may or may not mend.
const REFUSALS_MAX: u32 = 3;

/// Gives frames in order, each commit once, and resumes after whatever a further attempt can mend.
///
/// The request is kept up to date: it is what the next attempt sends.
pub(crate) struct Subscription {
    transport: Arc<Transport>,
    request: SubscribeRequest,
    silence: Duration,
    opening: Duration,
    first_opening_ends: Instant,
    stream: Option<Opened<SubscribeResponse>>,
    wait: Duration,
    waits: Option<Waits>,
    refusals: u32,
    is_open: bool,
    was_open: bool,
}

impl Subscription {
    pub(crate) fn new(transport: Arc<Transport>, mut request: SubscribeRequest, within: Option<Duration>) -> Self {
        let heartbeat = *request
            .heartbeat_interval
            .get_or_insert_with(|| wire::duration(HEARTBEAT_INTERVAL));
        let opening = within.unwrap_or(transport.timeout());
        Self {
            transport,
            request,
            silence: Duration::try_from(heartbeat)
                .unwrap_or(HEARTBEAT_INTERVAL)
                .mul_f64(SILENT_INTERVALS),
            opening,
            first_opening_ends: Instant::now() + opening,
            stream: None,
            wait: Duration::ZERO,
            waits: None,
            refusals: 0,
            is_open: false,
            was_open: false,
        }
    }

    /// Whether all commits are given, and all of each.
    pub(crate) fn is_whole(&self) -> bool {
        self.request.roles.is_empty()
    }

    /// The next frame, or what no further attempt can mend.
    pub(crate) async fn next(&mut self) -> Result<Frame, Error> {
        loop {
            match self.read().await {
                Ok(Some(SubscribeResponse { frame: Some(frame) })) => {
                    if self.moves_on(&frame) {
                        return Ok(frame);
                    }
                }
                Ok(Some(_)) => {} // a frame of a kind that a later server has
                Ok(None) => {
                    self.lost(Failure::of_ours(Code::Unavailable, "The stream ended without a reason.").into())?;
                }
                Err(error) => self.lost(error)?,
            }
        }
    }

    async fn read(&mut self) -> Result<Option<SubscribeResponse>, Error> {
        let mut stream = if let Some(open) = self.stream.take() {
            open
        } else {
            self.is_open = false;
            sleep(self.wait).await;
            self.transport.open(&self.request, self.opening).await?
        };
        let within = if self.is_open { self.silence } else { self.opening };
        match timeout(within, stream.answers.message()).await {
            Ok(Ok(frame)) => {
                self.stream = Some(stream);
                Ok(frame)
            }
            Ok(Err(status)) => Err(error_of(&status, "")),
            Err(_) => {
                self.transport.renew(stream.connection);
                Err(silent())
            }
        }
    }

    /// Notes how far the stream is; false for a commit that was given before.
    fn moves_on(&mut self, frame: &Frame) -> bool {
        self.is_open = true;
        self.was_open = true;
        self.refusals = 0;
        if let Frame::Opened(opened) = frame {
            // Not yet a reason to begin with short waits again: a server may open streams and lose them at once.
            self.request.store_epoch.clone_from(&opened.store_epoch);
            return true;
        }
        self.waits = None;
        match frame {
            Frame::Opened(_) | Frame::Draft(_) => {}
            Frame::Commit(commit) => {
                if commit.version <= self.request.after_version {
                    return false;
                }
                self.request.after_version = commit.version;
            }
            Frame::CaughtUp(caught_up) => self.request.after_version = caught_up.version,
            Frame::FellBehind(fell_behind) => self.request.after_version = fell_behind.version,
            Frame::Heartbeat(heartbeat) => self.request.after_version = heartbeat.version,
            Frame::Draining(draining) => {
                self.request.after_version = draining.version;
                self.wait = draining
                    .reconnect_after
                    .and_then(|after| after.try_into().ok())
                    .unwrap_or_default();
                self.stream = None;
            }
        }
        true
    }

    /// Makes ready for another attempt, or gives the error back if that would be in vain.
    fn lost(&mut self, error: Error) -> Result<(), Error> {
        self.stream = None;
        if !self.may_be_mended(&error) {
            return Err(error);
        }
        let wait = self.waits.get_or_insert_with(Waits::of_a_subscription).next();
        self.wait = wait.max(error.failure().retry_after.unwrap_or_default());
        if !self.was_open && Instant::now() + self.wait >= self.first_opening_ends {
            return Err(error);
        }
        Ok(())
    }

    fn may_be_mended(&mut self, error: &Error) -> bool {
        let is_cut =
            error.reason().is_empty() && matches!(error.code(), Code::Cancelled | Code::Internal | Code::Unknown);
        match error {
            Error::SlowConsumer(_) => true,
            _ if error.code() == Code::Unavailable => true,
            // The place may be taken by our own stream, of which the server does not know yet that it is dead.
            Error::SubscriptionLimit(_) => self.was_open,
            Error::TokenExpired(_) => self.is_worth_another(),
            _ if is_cut => self.is_worth_another(),
            _ => false,
        }
    }

    fn is_worth_another(&mut self) -> bool {
        self.refusals += 1;
        self.refusals < REFUSALS_MAX
    }
}
