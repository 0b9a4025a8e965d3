//! What one caller may use and has used: whoever shows a key, a token's subject, or all who need show nothing together.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::error::ApiError;

/// So many questions of one caller are answered or wait at the same time.
const MAX_AT_ONCE: usize = 64;
/// So many follow turns for one caller at the same time, beside those whose questions are answered.
const MAX_FOLLOWERS: usize = 64;
/// The bodies of questions have so many bytes together at most while these are read, wait and are answered: those of one key, and of
/// all keys.
const OF_KEYS: Bounds = Bounds { own: 64 << 20, all: 160 << 20 };
/// The same of one subject of tokens, and of all: these are many, and take no room from the keys.
const OF_SUBJECTS: Bounds = Bounds { own: 16 << 20, all: 96 << 20 };
/// When somebody may come again for whom there is no room.
const ROOM_AFTER: Duration = Duration::from_secs(1);

/// What a caller may use; what is `None` has no bound.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    /// Requests of a minute.
    pub(super) per_minute: Option<u32>,
    /// Tokens of a day.
    pub(super) per_day: Option<u64>,
}

/// How many bytes bodies have together.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Those of one caller.
    own: usize,
    /// Those of all callers of its kind.
    all: usize,
}

/// What callers of one kind share with each other.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    /// The questions of all of them.
    questions: Arc<Semaphore>,
    /// The bytes of all their bodies.
    bytes: Arc<Semaphore>,
    bounds: Bounds,
}

impl Shared {
    /// What keys share: so many questions together.
    pub(super) fn of_keys(questions: usize) -> Self {
        Self::within(questions, OF_KEYS)
    }

    /// The same of the subjects of tokens.
    pub(super) fn of_subjects(questions: usize) -> Self {
        Self::within(questions, OF_SUBJECTS)
    }

    fn within(questions: usize, bounds: Bounds) -> Self {
        let bytes = Arc::new(Semaphore::new(bounds.all));
        Self { questions: Arc::new(Semaphore::new(questions)), bytes, bounds }
    }
}

/// What a caller may use and has used.
#[derive(Debug)]
pub struct Account {
    name: String,
    limits: Limits,
    rate: Option<DefaultDirectRateLimiter>,
    /// The tokens of a day.
    spent: Mutex<Spent>,
    questions: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    followers: Arc<Semaphore>,
    shared: Shared,
}

#[derive(Debug, Default)]
struct Spent {
    day: NaiveDate,
    tokens: u64,
}

/// A place among the questions that are answered at the same time, until it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    _own: OwnedSemaphorePermit,
    _shared: OwnedSemaphorePermit,
}

/// Room for the bytes of a body, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    own: Option<OwnedSemaphorePermit>,
    shared: Option<OwnedSemaphorePermit>,
}

/// One without bounds of its own, such as of whoever needs no key.
impl Default for Account {
    fn default() -> Self {
        Self::new("-", Limits::default(), Shared::of_keys(MAX_AT_ONCE))
    }
}

impl Account {
    /// One of this name, within these bounds.
    pub(super) fn new(name: &str, limits: Limits, shared: Shared) -> Self {
        let rate = limits.per_minute.and_then(NonZeroU32::new);
        Self {
            name: name.to_owned(),
            limits,
            rate: rate.map(|rate| RateLimiter::direct(Quota::per_minute(rate))),
            spent: Mutex::default(),
            questions: Arc::new(Semaphore::new(MAX_AT_ONCE)),
            bytes: Arc::new(Semaphore::new(shared.bounds.own)),
            followers: Arc::new(Semaphore::new(MAX_FOLLOWERS)),
            shared,
        }
    }

    /// What the log and the metrics call it.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Counts one request more.
    ///
    /// # Errors
    /// When there were too many in a minute.
    pub(crate) fn count(&self) -> Result<(), ApiError> {
        let Some(Err(early)) = self.rate.as_ref().map(RateLimiter::check) else { return Ok(()) };
        let wait = early.wait_time_from(DefaultClock::default().now());
        let words = "there were too many requests by this key or token; there may be so many in a minute, and no more";
        Err(ApiError::too_many("rate_limit_exceeded", words).after(wait))
    }

    /// A place among the questions that are answered at the same time.
    ///
    /// # Errors
    /// When there is none, or the tokens of the day are used up.
    pub(crate) fn admit(&self, now: DateTime<Utc>) -> Result<Room, ApiError> {
        if let Some(most) = self.limits.per_day {
            let spent = self.spent.lock();
            if spent.day == now.date_naive() && spent.tokens >= most {
                let words = format!(
                    "the {most} tokens that this key or token has in a day are used up; it has new ones tomorrow"
                );
                return Err(ApiError::too_many("insufficient_quota", words).after(until_tomorrow(now)));
            }
        }
        let place = |room: &Arc<Semaphore>| {
            room.clone().try_acquire_owned().map_err(|_full| {
                let words = "as many questions are being answered already as may be at the same time; ask again when one is over";
                ApiError::too_many("too_many_at_once", words).after(ROOM_AFTER)
            })
        };
        Ok(Room { _own: place(&self.questions)?, _shared: place(&self.shared.questions)? })
    }

    /// A place among those who follow turns, until it is dropped.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn follow(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.followers.clone().try_acquire_owned().map_err(|_full| {
            let words = format!(
                "{MAX_FOLLOWERS} connections follow turns by this key or token already; end one of them, or ask again when a turn is over"
            );
            ApiError::too_many("too_many_followers", words).after(ROOM_AFTER)
        })
    }

    /// Takes room for so many bytes more of a body.
    ///
    /// # Errors
    /// When the bodies of this caller, or of all, have as many as they may.
    pub(crate) fn hold(&self, bytes: usize, held: &mut Bytes) -> Result<(), ApiError> {
        let count = u32::try_from(bytes).unwrap_or(u32::MAX);
        let own = self.bytes.clone().try_acquire_many_owned(count).map_err(|_full| {
            let words = format!(
                "the requests of this key or token that are at work have {} MiB together already; send this one again when one is over",
                self.shared.bounds.own >> 20
            );
            ApiError::too_many("too_many_bytes", words).after(ROOM_AFTER)
        })?;
        let shared = self.shared.bytes.clone().try_acquire_many_owned(count).map_err(|_full| {
            let words = "too many long requests are at work; send this one again in a moment";
            ApiError::unavailable("busy", words).after(ROOM_AFTER)
        })?;
        join(&mut held.own, own);
        join(&mut held.shared, shared);
        Ok(())
    }

    /// Counts what was used.
    pub(crate) fn spend(&self, tokens: u64, today: NaiveDate) {
        let mut spent = self.spent.lock();
        if spent.day != today {
            *spent = Spent { day: today, tokens: 0 };
        }
        spent.tokens = spent.tokens.saturating_add(tokens);
    }
}

/// How long the day (UTC) still is.
fn until_tomorrow(now: DateTime<Utc>) -> Duration {
    let tomorrow = now.date_naive().succ_opt().and_then(|day| day.and_hms_opt(0, 0, 0));
    tomorrow.and_then(|at| (at.and_utc() - now).to_std().ok()).unwrap_or_default()
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
        let keys = Shared::of_keys(1);
        let account = |name: &str, shared: &Shared| Account::new(name, Limits::default(), shared.clone());
        let accounts: Vec<Account> = (0..4).map(|at| account(&at.to_string(), &keys)).collect();
        let own = OF_KEYS.own;
        let mut held: Vec<Bytes> = Vec::new();
        for account in &accounts[..2] {
            let mut bytes = Bytes::default();
            account.hold(own - 1, &mut bytes).unwrap();
            account.hold(1, &mut bytes).unwrap();
            held.push(bytes);
            assert_eq!(account.hold(1, &mut Bytes::default()).unwrap_err().code, "too_many_bytes");
        }
        let mut rest = Bytes::default();
        accounts[2].hold(OF_KEYS.all - 2 * own, &mut rest).unwrap();
        let last = || accounts[3].hold(1, &mut Bytes::default());
        assert_eq!(last().unwrap_err().code, "busy");
        // Tokens have room of their own.
        let subject = account("-", &Shared::of_subjects(1));
        assert_eq!(subject.hold(OF_SUBJECTS.own, &mut Bytes::default()), Ok(()));
        held.pop();
        assert_eq!(last(), Ok(()));
    }
}
