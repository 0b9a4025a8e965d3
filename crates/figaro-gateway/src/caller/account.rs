//! Limits and usage of one caller: the holder of a key, the subject of a token, or all callers without credentials
//! together.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::error::GatewayError;

/// Maximum number of questions of one caller that wait or are answered at the same time.
const MAX_AT_ONCE: usize = 64;
/// Maximum number of followers of one caller, besides those whose question is being answered.
const MAX_FOLLOWERS: usize = 64;
/// Limits on bodies of key holders, in bytes: of one key and of all keys. A body counts while it is read, waits and
/// is answered.
const OF_KEYS: ByteLimits = ByteLimits { own: 64 << 20, all: 160 << 20 };
/// Limits on bodies of token subjects, in bytes: of one subject and of all. Subjects are many, so they take no room
/// from the keys.
const OF_SUBJECTS: ByteLimits = ByteLimits { own: 16 << 20, all: 96 << 20 };
/// Retry time when there is no room.
const ROOM_AFTER: Duration = Duration::from_secs(1);

/// Limits on the total size of bodies, in bytes.
#[derive(Debug, Clone, Copy)]
struct ByteLimits {
    /// Limit of one caller.
    own: usize,
    /// Limit of all callers of one kind.
    all: usize,
}

/// Limits shared by all callers of one kind.
#[derive(Debug, Clone)]
pub(super) struct SharedLimits {
    /// Permits for questions.
    questions: Arc<Semaphore>,
    /// Permits for bytes of bodies.
    bytes: Arc<Semaphore>,
    bounds: ByteLimits,
}

impl SharedLimits {
    /// Creates the limits that keys share; `questions` is the maximum of all of them.
    pub(super) fn of_keys(questions: usize) -> Self {
        Self::within(questions, OF_KEYS)
    }

    /// Creates the limits that token subjects share.
    pub(super) fn of_subjects(questions: usize) -> Self {
        Self::within(questions, OF_SUBJECTS)
    }

    fn within(questions: usize, bounds: ByteLimits) -> Self {
        let bytes = Arc::new(Semaphore::new(bounds.all));
        Self { questions: Arc::new(Semaphore::new(questions)), bytes, bounds }
    }
}

/// Limits and usage of a caller.
#[derive(Debug)]
pub struct Account {
    name: String,
    /// Name by which the ledger counts what the caller spends; `None` for callers without a key.
    key: Option<String>,
    rate: Option<DefaultDirectRateLimiter>,
    questions: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    followers: Arc<Semaphore>,
    shared: SharedLimits,
}

/// Permit for a question in progress; returned on drop.
#[derive(Debug)]
pub(crate) struct QuestionPermit {
    _own: OwnedSemaphorePermit,
    _shared: OwnedSemaphorePermit,
}

/// Permit for the bytes of a body; returned on drop.
#[derive(Debug, Default)]
pub(crate) struct BodyPermit {
    own: Option<OwnedSemaphorePermit>,
    shared: Option<OwnedSemaphorePermit>,
}

/// An account without limits of its own, such as that of callers without a key.
impl Default for Account {
    fn default() -> Self {
        Self::new("-", None, None, SharedLimits::of_keys(MAX_AT_ONCE))
    }
}

impl Account {
    /// Creates an account with this name and these limits. The ledger counts by `key` what the caller spends; `per_minute` is
    /// the maximum of requests, `None` for no limit.
    pub(super) fn new(
        name: &str,
        key: Option<String>,
        per_minute: Option<u32>,
        shared: SharedLimits,
    ) -> Self {
        let rate = per_minute.and_then(NonZeroU32::new);
        Self {
            name: name.to_owned(),
            key,
            rate: rate.map(|rate| RateLimiter::direct(Quota::per_minute(rate))),
            questions: Arc::new(Semaphore::new(MAX_AT_ONCE)),
            bytes: Arc::new(Semaphore::new(shared.bounds.own)),
            followers: Arc::new(Semaphore::new(MAX_FOLLOWERS)),
            shared,
        }
    }

    /// Returns the name by which the ledger counts what the caller spends.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the name for the log and the metrics.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Counts a request.
    ///
    /// # Errors
    /// If there were too many requests in a minute.
    pub(crate) fn count(&self) -> Result<(), GatewayError> {
        let Some(Err(early)) = self.rate.as_ref().map(RateLimiter::check) else { return Ok(()) };
        let wait = early.wait_time_from(DefaultClock::default().now());
        let words = "there were too many requests by this key or token; there may be so many in a minute, and no more";
        Err(GatewayError::too_many("rate_limit_exceeded", words).after(wait))
    }

    /// Takes a permit for a question.
    ///
    /// # Errors
    /// If there is none left.
    pub(crate) fn admit(&self) -> Result<QuestionPermit, GatewayError> {
        let place = |room: &Arc<Semaphore>| {
            room.clone().try_acquire_owned().map_err(|_full| {
                let words = "as many questions are being answered already as may be at the same time; ask again when one is over";
                GatewayError::too_many("too_many_at_once", words).after(ROOM_AFTER)
            })
        };
        Ok(QuestionPermit { _own: place(&self.questions)?, _shared: place(&self.shared.questions)? })
    }

    /// Takes a permit for a follower; returned on drop.
    ///
    /// # Errors
    /// If there is none left.
    pub(crate) fn follow(&self) -> Result<OwnedSemaphorePermit, GatewayError> {
        self.followers.clone().try_acquire_owned().map_err(|_full| {
            let words = format!(
                "{MAX_FOLLOWERS} connections follow turns by this key or token already; end one of them, or ask again when a turn is over"
            );
            GatewayError::too_many("too_many_followers", words).after(ROOM_AFTER)
        })
    }

    /// Takes a permit for this many more bytes of a body.
    ///
    /// # Errors
    /// If the bodies of this caller, or of all callers of its kind, are at their limit.
    pub(crate) fn hold(&self, bytes: usize, held: &mut BodyPermit) -> Result<(), GatewayError> {
        let count = u32::try_from(bytes).unwrap_or(u32::MAX);
        let own = self.bytes.clone().try_acquire_many_owned(count).map_err(|_full| {
            let words = format!(
                "the requests of this key or token that are at work have {} MiB together already; send this one again when one is over",
                self.shared.bounds.own >> 20
            );
            GatewayError::too_many("too_many_bytes", words).after(ROOM_AFTER)
        })?;
        let shared = self.shared.bytes.clone().try_acquire_many_owned(count).map_err(|_full| {
            let words = "too many long requests are at work; send this one again in a moment";
            GatewayError::unavailable("busy", words).after(ROOM_AFTER)
        })?;
        join(&mut held.own, own);
        join(&mut held.shared, shared);
        Ok(())
    }
}

fn join(held: &mut Option<OwnedSemaphorePermit>, more: OwnedSemaphorePermit) {
    match held {
        Some(held) => held.merge(more),
        None => *held = Some(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_room_for_each_caller_and_for_all() {
        let keys = SharedLimits::of_keys(1);
        let account = |name: &str, shared: &SharedLimits| Account::new(name, None, None, shared.clone());
        let accounts: Vec<Account> = (0..4).map(|at| account(&at.to_string(), &keys)).collect();
        let own = OF_KEYS.own;
        let mut held: Vec<BodyPermit> = Vec::new();
        for account in &accounts[..2] {
            let mut bytes = BodyPermit::default();
            account.hold(own - 1, &mut bytes).unwrap();
            account.hold(1, &mut bytes).unwrap();
            held.push(bytes);
            assert_eq!(account.hold(1, &mut BodyPermit::default()).unwrap_err().code, "too_many_bytes");
        }
        let mut rest = BodyPermit::default();
        accounts[2].hold(OF_KEYS.all - 2 * own, &mut rest).unwrap();
        let last = || accounts[3].hold(1, &mut BodyPermit::default());
        assert_eq!(last().unwrap_err().code, "busy");
        // Tokens have room of their own.
        let subject = account("-", &SharedLimits::of_subjects(1));
        assert_eq!(subject.hold(OF_SUBJECTS.own, &mut BodyPermit::default()), Ok(()));
        held.pop();
        assert_eq!(last(), Ok(()));
    }
}
