//! Browsers that are signed in, in memory only: a restart signs everybody out.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use figaro_base::ids::UserId;
use figaro_base::secret::{ExposeSecret, SecretString, random_hex};
use figaro_domain::code::CodeHash;

/// Time after which a browser has to sign in again, whatever it did meanwhile.
pub(crate) const SIGNED_IN_HOURS: i64 = 12;
/// Size of the secret in the cookie, in random bytes.
const SECRET_BYTES: usize = 32;
/// Maximum number of browsers of all people. A further one signs out the one that signed in first.
const MAX_BROWSERS: usize = 1_000;
/// Requests of a browser: in a second, and at once.
const A_SECOND: NonZeroU32 = NonZeroU32::new(20).unwrap();
const AT_ONCE: NonZeroU32 = NonZeroU32::new(60).unwrap();
/// Maximum number of pages of a browser that are kept up to date at the same time.
const MAX_STREAMS: usize = 8;

/// Browsers that are signed in, by the hash of the secret in their cookie.
#[derive(Debug, Default)]
pub(crate) struct Browsers(Mutex<HashMap<CodeHash, Arc<Browser>>>);

/// A browser that is signed in.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) user: UserId,
    /// Program of the browser as it names itself: a cookie that another one sends is refused.
    program: String,
    until: DateTime<Utc>,
    rate: DefaultDirectRateLimiter,
    pub(crate) streams: Arc<Semaphore>,
    /// Result of the last action, which the next page tells.
    told: Mutex<Option<String>>,
}

impl Browser {
    /// Keeps the result of an action for the next page.
    pub(crate) fn tell(&self, words: String) {
        *self.told.lock() = Some(words);
    }

    /// Returns the result of the last action, once.
    pub(crate) fn take_told(&self) -> Option<String> {
        self.told.lock().take()
    }

    /// Returns `true` if the browser has requests left.
    pub(crate) fn may_ask(&self) -> bool {
        self.rate.check().is_ok()
    }
}

impl Browsers {
    /// Signs a browser in for a person, and returns the secret for its cookie. `None` if the system has no random numbers.
    pub(crate) fn sign_in(&self, user: UserId, program: &str, now: DateTime<Utc>) -> Option<SecretString> {
        let secret = random_hex(SECRET_BYTES).ok()?;
        let mut all = self.0.lock();
        all.retain(|_, browser| now < browser.until);
        if all.len() >= MAX_BROWSERS {
            let first = all.iter().min_by_key(|(_, browser)| browser.until).map(|(key, _)| key.clone());
            first.map(|key| all.remove(&key));
        }
        let browser = Browser {
            user,
            program: program.to_owned(),
            until: now + TimeDelta::hours(SIGNED_IN_HOURS),
            rate: RateLimiter::direct(Quota::per_second(A_SECOND).allow_burst(AT_ONCE)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            told: Mutex::default(),
        };
        all.insert(CodeHash::of(secret.expose_secret()), Arc::new(browser));
        Some(secret)
    }

    /// Returns the browser with this secret, if it is signed in and still the same program.
    pub(crate) fn find(&self, secret: &str, program: &str, now: DateTime<Utc>) -> Option<Arc<Browser>> {
        let all = self.0.lock();
        let browser = all.get(&CodeHash::of(secret))?;
        (now < browser.until && browser.program == program).then(|| browser.clone())
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, secret: &str) {
        self.0.lock().remove(&CodeHash::of(secret));
    }
}
