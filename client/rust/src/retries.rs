//! When a failed attempt is worth another one, and after how long: one layer, within the call's own time.

use std::sync::Mutex;
use std::time::Duration;

use crate::random;

const INITIAL_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(1);
const RETRY_TOKENS_MAX: f64 = 1000.0;
const TOKEN_RATIO: f64 = 0.1;

/// The longest wait before a subscription is resumed: there may be thousands, and all lost their server at once.
const RESUME_MAX: Duration = Duration::from_secs(5);

/// The tokens of a client's retries, as gRPC's retry throttling counts them; all its calls share them.
#[derive(Debug)]
pub(crate) struct RetryBudget(Mutex<f64>);

impl RetryBudget {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(RETRY_TOKENS_MAX))
    }

    /// An attempt was answered, if only with another error than `UNAVAILABLE`.
    pub(crate) fn succeeded(&self) {
        let mut tokens = crate::locked(&self.0);
        *tokens = (*tokens + TOKEN_RATIO).min(RETRY_TOKENS_MAX);
    }

    /// An attempt was not answered. True where the budget still allows another one.
    pub(crate) fn failed(&self) -> bool {
        let mut tokens = crate::locked(&self.0);
        *tokens = (*tokens - 1.0).max(0.0);
        *tokens > RETRY_TOKENS_MAX / 2.0
    }
}

/// The waits before each further attempt: doubled up to the most, spread out so that callers don't come together.
#[derive(Debug)]
pub(crate) struct Waits {
    next: Duration,
    most: Duration,
    jitter: f64,
}

impl Waits {
    /// Of a call: up to a second, give or take a fifth.
    pub(crate) fn of_a_call() -> Self {
        Self {
            next: INITIAL_BACKOFF,
            most: MAX_BACKOFF,
            jitter: 0.2,
        }
    }

    /// Of a subscription: up to 5 seconds, give or take four fifths.
    pub(crate) fn of_a_subscription() -> Self {
        Self {
            next: INITIAL_BACKOFF,
            most: RESUME_MAX,
            jitter: 0.8,
        }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(self.most);
        wait.mul_f64(1.0 + self.jitter * (2.0 * random::fraction() - 1.0))
    }
}

/// The wait before the next attempt, or none for no further attempt.
///
/// The server has the last word: a pushback replaces the backoff (a negative one forbids), `RetryInfo` is the least.
pub(crate) fn wait(
    backoff: Duration,
    pushback_milliseconds: Option<i64>,
    retry_after: Option<Duration>,
) -> Option<Duration> {
    let wait = match pushback_milliseconds {
        None => backoff,
        Some(milliseconds) => Duration::from_millis(u64::try_from(milliseconds).ok()?),
    };
    Some(wait.max(retry_after.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Duration = Duration::from_millis(100);

    #[test]
    fn the_server_has_the_last_word_on_a_wait() {
        let second = Duration::from_secs(1);
        assert_eq!(wait(BACKOFF, None, None), Some(BACKOFF));
        assert_eq!(wait(BACKOFF, Some(0), None), Some(Duration::ZERO));
        assert_eq!(wait(BACKOFF, Some(3), Some(second)), Some(second));
        assert_eq!(wait(BACKOFF, Some(-1), Some(second)), None);
    }

    #[test]
    fn waits_double_up_to_the_most_and_are_spread() {
        let mut waits = Waits::of_a_call();
        let taken: Vec<f64> = (0..6).map(|_| waits.next().as_secs_f64()).collect();
        for (wait, middle) in taken.iter().zip([0.1, 0.2, 0.4, 0.8, 1.0, 1.0]) {
            assert!((wait / middle - 1.0).abs() <= 0.2 + 1e-9, "{taken:?}");
        }
    }

    #[test]
    fn half_of_the_budget_ends_retries_and_answers_give_it_back() {
        let budget = RetryBudget::new();
        assert!((0..499).all(|_| budget.failed()));
        assert!(!budget.failed());
        (0..20).for_each(|_| budget.succeeded());
        assert!(budget.failed());
    }
}
