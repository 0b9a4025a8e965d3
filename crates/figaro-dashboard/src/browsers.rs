//! Browsers that are signed in, in memory only: a restart signs everybody out.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use figaro_agent::sign_in::{SignIn, SignInGrant};
use figaro_base::ids::UserId;
use figaro_base::secret::{ExposeSecret, SecretString, random_hex};
use figaro_domain::code::CodeHash;

/// Time after which a browser has to sign in again, whatever it did meanwhile.
pub(crate) const SIGNED_IN_HOURS: i64 = 12;
/// Size of the secret in the cookie, in random bytes.
const SECRET_BYTES: usize = 32;
/// Maximum number of browsers of all people, and of each kind of a person. A further one signs out the oldest.
const MAX_BROWSERS: usize = 1_000;
const MAX_OF_PERSON: usize = 5;
/// Requests of a browser: in a second, and at once.
const A_SECOND: NonZeroU32 = NonZeroU32::new(20).unwrap();
const AT_ONCE: NonZeroU32 = NonZeroU32::new(60).unwrap();
/// Maximum number of pages that are kept up to date at the same time: of a browser, and of all.
const MAX_STREAMS: usize = 4;
const MAX_STREAMS_OF_ALL: usize = 64;

/// Browsers that are signed in, by the hash of the secret in their cookie.
#[derive(Debug)]
pub(crate) struct Browsers {
    signed_in: Mutex<HashMap<CodeHash, Arc<Browser>>>,
    streams: Arc<Semaphore>,
    sign_in: SignIn,
}

/// Permit to keep a page up to date.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// Program that shows the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrowserKind {
    Plain,
    /// The view of a Telegram client.
    MiniApp,
}

/// A browser that is signed in.
#[derive(Debug)]
pub(crate) struct Browser {
    grant: SignInGrant,
    pub(crate) kind: BrowserKind,
    /// Hash of how the browser names itself: a cookie that a program of another name sends is refused.
    program: CodeHash,
    until: DateTime<Utc>,
    rate: DefaultDirectRateLimiter,
    streams: Arc<Semaphore>,
    /// Result of the last action, which the next page tells.
    told: Mutex<Option<String>>,
}

impl Browser {
    /// Returns the person that the browser is signed in for.
    pub(crate) const fn user(&self) -> &UserId {
        &self.grant.user
    }

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
    /// Creates an empty list. Who signs out everywhere by `sign_in` is signed out here.
    pub(crate) fn new(sign_in: SignIn) -> Self {
        let streams = Arc::new(Semaphore::new(MAX_STREAMS_OF_ALL));
        Self { signed_in: Mutex::default(), streams, sign_in }
    }

    /// Signs a browser in for a person, and returns the secret for its cookie. `None` if the system has no random numbers.
    pub(crate) fn sign_in(
        &self,
        grant: SignInGrant,
        kind: BrowserKind,
        program: &str,
        now: DateTime<Utc>,
    ) -> Option<SecretString> {
        let secret = random_hex(SECRET_BYTES).ok()?;
        let mut all = self.signed_in.lock();
        all.retain(|_, browser| self.lasts(browser, now));
        // Opening the Mini App again and again signs no browser out.
        let own = all.iter().filter(|(_, browser)| *browser.user() == grant.user && browser.kind == kind);
        let mut own: Vec<_> = own.map(|(key, browser)| (browser.until, key.clone())).collect();
        own.sort_by_key(|(until, _)| *until);
        let excess = (own.len() + 1).saturating_sub(MAX_OF_PERSON);
        own.drain(..excess).for_each(|(_, key)| drop(all.remove(&key)));
        if all.len() >= MAX_BROWSERS {
            // Nobody can keep others out.
            let oldest = all.iter().min_by_key(|(_, browser)| browser.until).map(|(key, _)| key.clone());
            oldest.and_then(|key| all.remove(&key));
        }
        let browser = Browser {
            grant,
            kind,
            program: CodeHash::of(program),
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
        let all = self.signed_in.lock();
        let browser = all.get(&CodeHash::of(secret))?;
        (self.lasts(browser, now) && browser.program == CodeHash::of(program)).then(|| browser.clone())
    }

    /// Returns a permit to keep a page of a browser up to date; `None` if too many are.
    pub(crate) fn stream(&self, browser: &Browser) -> Option<StreamPermit> {
        let own = browser.streams.clone().try_acquire_owned().ok()?;
        let of_all = self.streams.clone().try_acquire_owned().ok()?;
        Some(StreamPermit { _own: own, _of_all: of_all })
    }

    /// Returns `true` if a browser is still signed in.
    pub(crate) fn has(&self, browser: &Arc<Browser>, now: DateTime<Utc>) -> bool {
        self.lasts(browser, now) && self.signed_in.lock().values().any(|one| Arc::ptr_eq(one, browser))
    }

    /// Returns `true` if neither the time of a browser is over nor its person has signed out everywhere.
    fn lasts(&self, browser: &Browser, now: DateTime<Utc>) -> bool {
        now < browser.until && self.sign_in.holds(&browser.grant)
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, secret: &str) {
        self.signed_in.lock().remove(&CodeHash::of(secret));
    }
}
