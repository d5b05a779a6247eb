//! The lease of a run that is held here: renewed in the background, until the run ends or is somebody else's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;
use tonic::Code;

use crate::error::Error;
use crate::locked;
use crate::retries::Waits;
use crate::transport::Transport;
use crate::v1;
use crate::wire;

/// How often a lease is renewed before it would run out.
const RENEWALS_A_LEASE: u32 = 3;

const TIMEOUT_MIN: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Told {
    run: v1::Run,
    has_ended: bool,
    loss: Option<Error>,
}

/// What became of a run, from renewals and from what the run's own changes were told.
#[derive(Debug)]
pub(crate) struct Lease {
    transport: Arc<Transport>,
    length: Duration,
    endings: AtomicUsize,
    told: Mutex<Told>,
    pub(crate) fence: v1::Fence,
}

impl Lease {
    pub(crate) fn new(transport: Arc<Transport>, run: v1::Run, length: Duration) -> Self {
        let fence = v1::Fence {
            run_id: run.run_id.clone(),
            fencing_token: run.fencing_token,
        };
        let told = Mutex::new(Told {
            run,
            has_ended: false,
            loss: None,
        });
        Self {
            transport,
            length,
            endings: AtomicUsize::new(0),
            told,
            fence,
        }
    }

    /// The run as it was last told.
    pub(crate) fn run(&self) -> v1::Run {
        locked(&self.told).run.clone()
    }

    /// Whether it was ended here.
    pub(crate) fn has_ended(&self) -> bool {
        locked(&self.told).has_ended
    }

    /// Why it is not held here any more; none while it is, and where it was ended here.
    pub(crate) fn loss(&self) -> Option<Error> {
        locked(&self.told).loss.clone()
    }

    pub(crate) fn refuse_lost(&self) -> Result<(), Error> {
        self.loss().map_or(Ok(()), Err)
    }

    /// Says that a call is under way that ends the run: what is told of its end meanwhile is no loss.
    pub(crate) fn ending(&self) -> Ending<'_> {
        self.endings.fetch_add(1, Ordering::SeqCst);
        Ending(&self.endings)
    }

    /// Notes how a call went that was made under the run.
    pub(crate) fn told(&self, finishes: bool, error: Option<&Error>) {
        match error {
            None if finishes => locked(&self.told).has_ended = true,
            // A change of another run's memory may be told of that run's end.
            Some(error @ (Error::RunFenced(failure) | Error::RunEnded(failure)))
                if failure.run_id() == self.fence.run_id =>
            {
                self.lose(error);
            }
            _ => {}
        }
    }

    /// Renews the lease now, or tells why it is lost.
    pub(crate) async fn renew(&self, within: Option<Duration>) -> Result<v1::Run, Error> {
        self.refuse_lost()?;
        let request = v1::RenewRunRequest {
            session_id: self.run().session_id,
            fence: Some(self.fence.clone()),
            lease: Some(wire::duration(self.length)),
        };
        let outcome = self.transport.call(request, within).await;
        self.told(false, outcome.as_ref().err());
        let run = outcome?.run.unwrap_or_default();
        locked(&self.told).run = run.clone();
        Ok(run)
    }

    /// Renews it until the run is over; at once where nobody knows how much of the lease is left.
    pub(crate) async fn renew_on(&self, at_once: bool) {
        let every = self.length / RENEWALS_A_LEASE;
        let mut waits = Waits::of_a_call();
        let mut wait = if at_once { Duration::ZERO } else { every };
        while self.loss().is_none() && !self.has_ended() {
            sleep(wait).await;
            wait = match self.renew(Some(every.max(TIMEOUT_MIN))).await {
                Ok(_) => {
                    waits = Waits::of_a_call();
                    every
                }
                Err(error) if is_the_end(&error) => {
                    self.lose(&error);
                    every
                }
                // Whatever it is, a token that can't be had too: the lease may yet be saved.
                Err(_) => waits.next().min(every),
            };
        }
    }

    fn lose(&self, error: &Error) {
        let mut told = locked(&self.told);
        if self.endings.load(Ordering::SeqCst) == 0 && !told.has_ended && told.loss.is_none() {
            told.loss = Some(error.clone());
        }
    }
}

/// For as long as it lives, the run is being ended here.
pub(crate) struct Ending<'a>(&'a AtomicUsize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn is_the_end(error: &Error) -> bool {
    matches!(
        error,
        Error::RunFenced(_) | Error::RunEnded(_) | Error::SessionDeleted(_)
    ) || error.code() == Code::NotFound
}
