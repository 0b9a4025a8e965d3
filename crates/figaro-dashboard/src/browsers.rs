//! Browsers that are signed in, in memory only: a restart signs everybody out.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use figaro_agent::sign_in::SignIn;
use figaro_agent::sign_outs::{SIGNED_IN_HOURS, SignInGrant};
use figaro_base::ids::UserId;
use figaro_base::secret::{ExposeSecret, SecretString, random_hex};
use figaro_domain::code::CodeHash;

/// Size of the secret in the cookie, in random bytes.
const SECRET_BYTES: usize = 32;
/// Maximum number of browsers of all people, and of each kind of a person. A further one signs out the oldest.
const MAX_BROWSERS: usize = 1_000;
const MAX_OF_PERSON: usize = 5;
/// Sign-ins of a person: in an hour, and at once. Each has an entry in the audit log, which nobody is to flood.
const SIGN_INS_AN_HOUR: NonZeroU32 = NonZeroU32::new(30).unwrap();
const SIGN_INS_AT_ONCE: NonZeroU32 = NonZeroU32::new(30).unwrap();
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
    rate: DefaultKeyedRateLimiter<UserId>,
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
    /// Right to be signed in.
    pub(crate) grant: SignInGrant,
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
    /// Creates an empty list. People who sign out everywhere by `sign_in` are signed out here.
    pub(crate) fn new(sign_in: SignIn) -> Self {
        let streams = Arc::new(Semaphore::new(MAX_STREAMS_OF_ALL));
        let rate = RateLimiter::keyed(Quota::per_hour(SIGN_INS_AN_HOUR).allow_burst(SIGN_INS_AT_ONCE));
        Self { signed_in: Mutex::default(), streams, sign_in, rate }
    }

    /// Counts a sign-in of a person. Returns `false` if they have made too many.
    pub(crate) fn may_sign_in(&self, user: &UserId) -> bool {
        if self.rate.len() > MAX_BROWSERS {
            self.rate.retain_recent();
        }
        self.rate.check_key(user).is_ok()
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

    /// Returns `true` until the time of a browser is over or its person signs out everywhere.
    fn lasts(&self, browser: &Browser, now: DateTime<Utc>) -> bool {
        now < browser.until && self.sign_in.holds(&browser.grant)
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, secret: &str) {
        self.signed_in.lock().remove(&CodeHash::of(secret));
    }
}
