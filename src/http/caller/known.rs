//! The keys that there are, with what their bounds leave, and how tokens are verified.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::NaiveDate;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::error::ApiError;
use super::token::{Token, Verifier};
use crate::config::{ApiKey, HttpSettings, KeyHash};

/// So many questions of one key are answered or wait at the same time.
const MAX_AT_ONCE: usize = 64;
/// When somebody may come again for whom there is no room.
const ROOM_AFTER: Duration = Duration::from_secs(1);

/// The keys that there are, and how tokens are verified.
#[derive(Debug)]
pub struct Known {
    keys: Vec<Arc<Keyed>>,
    verifier: Option<Verifier>,
    is_open: bool,
    /// What those have together who show no key.
    keyless: Arc<Semaphore>,
}

/// A key and what its bounds leave.
#[derive(Debug)]
pub struct Keyed {
    pub(super) key: ApiKey,
    rate: Option<DefaultDirectRateLimiter>,
    /// The tokens of a day.
    spent: Mutex<Spent>,
    at_once: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Spent {
    day: NaiveDate,
    tokens: u64,
}

impl Known {
    /// The callers of these settings.
    #[must_use]
    pub fn new(settings: &HttpSettings) -> Self {
        Self {
            keys: settings.keys.iter().cloned().map(|key| Arc::new(Keyed::new(key))).collect(),
            verifier: settings.tokens.as_ref().and_then(Verifier::new),
            is_open: settings.keys.is_empty() && settings.tokens.is_none(),
            keyless: Arc::new(Semaphore::new(MAX_AT_ONCE)),
        }
    }

    /// Whether nobody need show who they are.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The key that was shown. It is compared with every key to the end, by their hashes, so that time tells nothing.
    pub(super) fn key(&self, shown: &str) -> Option<Arc<Keyed>> {
        let hash = KeyHash::of(shown);
        let mut found = u64::MAX;
        for (at, known) in (0_u64..).zip(&self.keys) {
            let is_it: Choice = known.key.hash.0.ct_eq(&hash.0);
            found.conditional_assign(&at, is_it);
        }
        self.keys.get(usize::try_from(found).ok()?).cloned()
    }

    /// What a token says, if it is genuine.
    ///
    /// # Errors
    /// If it is not, or tokens are not taken.
    pub(super) fn token(&self, token: &str) -> Result<Token, ApiError> {
        let unknown = || ApiError::unauthorized("this key is not known: it is none of API_KEYS");
        self.verifier.as_ref().ok_or_else(unknown)?.verify(token)
    }

    /// A place among the questions that are answered at the same time.
    ///
    /// # Errors
    /// When there is none, or the bounds of the key are reached.
    pub fn admit(
        &self,
        key: Option<&Arc<Keyed>>,
        today: NaiveDate,
    ) -> Result<OwnedSemaphorePermit, ApiError> {
        let room = match key {
            Some(key) => {
                key.check(today)?;
                &key.at_once
            }
            None => &self.keyless,
        };
        room.clone().try_acquire_owned().map_err(|_full| {
            let words =
                format!("{MAX_AT_ONCE} questions are being answered already; ask again when one is over");
            ApiError::too_many("too_many_at_once", words).after(ROOM_AFTER)
        })
    }
}

impl Keyed {
    fn new(key: ApiKey) -> Self {
        let rate =
            key.per_minute.and_then(NonZeroU32::new).map(|rate| RateLimiter::direct(Quota::per_minute(rate)));
        Self { key, rate, spent: Mutex::default(), at_once: Arc::new(Semaphore::new(MAX_AT_ONCE)) }
    }

    /// What the log and the metrics call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.key.name
    }

    /// Counts one request more.
    fn check(&self, today: NaiveDate) -> Result<(), ApiError> {
        if let Some(most) = self.key.per_day {
            let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
            if spent.day == today && spent.tokens >= most {
                let words = format!(
                    "the {most} tokens that this key has in a day are used up; it has new ones tomorrow"
                );
                return Err(ApiError::too_many("insufficient_quota", words));
            }
        }
        let Some(Err(early)) = self.rate.as_ref().map(RateLimiter::check) else { return Ok(()) };
        let wait = early.wait_time_from(DefaultClock::default().now());
        let words = "this key has made too many requests; it may make so many in a minute, and no more";
        Err(ApiError::too_many("rate_limit_exceeded", words).after(wait))
    }

    /// Counts what was used.
    pub fn spend(&self, tokens: u64, today: NaiveDate) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.day != today {
            *spent = Spent { day: today, tokens: 0 };
        }
        spent.tokens = spent.tokens.saturating_add(tokens);
    }
}
