//! Known keys with their accounts, and verification of tokens.

use std::sync::Arc;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::super::error::GatewayError;
use super::account::{Account, SharedLimits};
use super::subjects::Subjects;
use super::token::{TokenClaims, Verifier};
use figaro_config::{ApiKey, HttpSettings, KeyHash};

/// Maximum number of questions in progress, of all key holders and of all token holders.
const MAX_OF_KEYS: usize = 1_024;
const MAX_OF_TOKENS: usize = 256;

/// Known keys with their accounts, and verification of tokens.
#[derive(Debug)]
pub struct KnownCallers {
    keys: Vec<Keyed>,
    verifier: Option<Verifier>,
    subjects: Subjects,
    is_open: bool,
    /// Account shared by all callers without a key.
    keyless: Arc<Account>,
}

/// Key with the account of its holders.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) key: ApiKey,
    pub(super) account: Arc<Account>,
}

impl KnownCallers {
    /// Builds the callers from these settings.
    #[must_use]
    pub fn new(settings: &HttpSettings) -> Self {
        let shared = SharedLimits::of_keys(MAX_OF_KEYS);
        let keyed = |key: ApiKey| {
            let account = Account::new(&key.name, Some(key.name.clone()), key.per_minute, shared.clone());
            Keyed { key, account: Arc::new(account) }
        };
        let tokens = settings.tokens.as_ref();
        let of_subject = tokens.and_then(|tokens| tokens.per_minute);
        Self {
            keys: settings.keys.iter().cloned().map(keyed).collect(),
            verifier: tokens.and_then(Verifier::new),
            subjects: Subjects::new(of_subject, SharedLimits::of_subjects(MAX_OF_TOKENS)),
            is_open: settings.keys.is_empty() && tokens.is_none(),
            keyless: Arc::default(),
        }
    }

    /// Returns the account of callers without credentials.
    pub(super) fn keyless(&self) -> Arc<Account> {
        self.keyless.clone()
    }

    /// Returns the account of a token's subject.
    pub(super) fn subject(&self, tenant: &str, user: &str) -> Arc<Account> {
        self.subjects.account(&format!("{tenant}/{user}"))
    }

    /// Returns `true` if no credentials are needed.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the entry of a key. All keys are compared, by their hashes, so that timing reveals nothing.
    pub(super) fn key(&self, shown: &str) -> Option<&Keyed> {
        let hash = KeyHash::of(shown);
        let mut found = u64::MAX;
        for (at, known) in (0_u64..).zip(&self.keys) {
            let is_it: Choice = known.key.hash.0.ct_eq(&hash.0);
            found.conditional_assign(&at, is_it);
        }
        self.keys.get(usize::try_from(found).ok()?)
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    /// If the token is not genuine, or tokens are not configured.
    pub(super) fn token(&self, token: &str) -> Result<TokenClaims, GatewayError> {
        let unknown = || GatewayError::unauthorized("this key is not known: it is none of API_KEYS");
        self.verifier.as_ref().ok_or_else(unknown)?.verify(token)
    }
}
