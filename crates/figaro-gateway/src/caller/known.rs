//! The keys that there are, with what their bounds leave, and how tokens are verified.

use std::sync::Arc;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::super::error::ApiError;
use super::account::{Account, Limits, Shared};
use super::subjects::Subjects;
use super::token::{Token, Verifier};
use figaro_config::{ApiKey, HttpSettings, KeyHash};

/// So many questions of all who show keys, and of all who show tokens, are answered or wait at the same time.
const MAX_OF_KEYS: usize = 1_024;
const MAX_OF_TOKENS: usize = 256;

/// The keys that there are, and how tokens are verified.
#[derive(Debug)]
pub struct Known {
    keys: Vec<Keyed>,
    verifier: Option<Verifier>,
    subjects: Subjects,
    is_open: bool,
    /// What those have together who show no key.
    keyless: Arc<Account>,
}

/// A key, and what whoever shows it may use.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) key: ApiKey,
    pub(super) account: Arc<Account>,
}

impl Known {
    /// The callers of these settings.
    #[must_use]
    pub fn new(settings: &HttpSettings) -> Self {
        let shared = Shared::of_keys(MAX_OF_KEYS);
        let keyed = |key: ApiKey| {
            let limits = Limits { per_minute: key.per_minute, per_day: key.per_day };
            let account = Arc::new(Account::new(&key.name, limits, shared.clone()));
            Keyed { key, account }
        };
        let tokens = settings.tokens.as_ref();
        let of_subject =
            tokens.map(|tokens| Limits { per_minute: tokens.per_minute, per_day: tokens.per_day });
        Self {
            keys: settings.keys.iter().cloned().map(keyed).collect(),
            verifier: tokens.and_then(Verifier::new),
            subjects: Subjects::new(of_subject.unwrap_or_default(), Shared::of_subjects(MAX_OF_TOKENS)),
            is_open: settings.keys.is_empty() && tokens.is_none(),
            keyless: Arc::default(),
        }
    }

    /// The account of those who show nothing.
    pub(super) fn keyless(&self) -> Arc<Account> {
        self.keyless.clone()
    }

    /// The account of whoever a token names.
    pub(super) fn subject(&self, tenant: &str, user: &str) -> Arc<Account> {
        self.subjects.account(&format!("{tenant}/{user}"))
    }

    /// Whether nobody need show who they are.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The key that was shown. It is compared with every key to the end, by their hashes, so that time tells nothing.
    pub(super) fn key(&self, shown: &str) -> Option<&Keyed> {
        let hash = KeyHash::of(shown);
        let mut found = u64::MAX;
        for (at, known) in (0_u64..).zip(&self.keys) {
            let is_it: Choice = known.key.hash.0.ct_eq(&hash.0);
            found.conditional_assign(&at, is_it);
        }
        self.keys.get(usize::try_from(found).ok()?)
    }

    /// What a token says, if it is genuine.
    ///
    /// # Errors
    /// If it is not, or tokens are not taken.
    pub(super) fn token(&self, token: &str) -> Result<Token, ApiError> {
        let unknown = || ApiError::unauthorized("this key is not known: it is none of API_KEYS");
        self.verifier.as_ref().ok_or_else(unknown)?.verify(token)
    }
}
