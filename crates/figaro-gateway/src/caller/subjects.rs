//! Accounts of token holders: one per subject, as many as fit.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::account::{Account, SharedLimits};
use figaro_ledger::SUBJECT;

/// Maximum number of subjects whose usage is kept. The one seen longest ago is forgotten first.
const MAX_SUBJECTS: usize = 10_000;

/// Accounts of token holders.
#[derive(Debug)]
pub(super) struct Subjects {
    /// Maximum requests of a subject per minute; `None` for no limit.
    per_minute: Option<u32>,
    shared: SharedLimits,
    known: Mutex<HashMap<String, SubjectAccount>>,
}

#[derive(Debug)]
struct SubjectAccount {
    account: Arc<Account>,
    last: Instant,
}

impl Subjects {
    pub(super) fn new(per_minute: Option<u32>, shared: SharedLimits) -> Self {
        Self { per_minute, shared, known: Mutex::default() }
    }

    /// Returns the account of a subject, given by a unique text.
    pub(super) fn account(&self, subject: &str) -> Arc<Account> {
        let mut known = self.known.lock();
        let now = Instant::now();
        if let Some(seen) = known.get_mut(subject) {
            seen.last = now;
            return seen.account.clone();
        }
        if known.len() >= MAX_SUBJECTS {
            // The subject of this request keeps its account.
            let idle = known.iter().filter(|(_, seen)| Arc::strong_count(&seen.account) == 1);
            let oldest = idle.min_by_key(|(_, seen)| seen.last).map(|(subject, _)| subject.clone());
            oldest.iter().for_each(|oldest| drop(known.remove(oldest)));
        }
        let key = Some(format!("{SUBJECT}{subject}"));
        let account = Arc::new(Account::new("-", key, self.per_minute, self.shared.clone()));
        known.insert(subject.to_owned(), SubjectAccount { account: account.clone(), last: now });
        account
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_has_an_account_and_those_of_long_ago_make_room() {
        let subjects = Subjects::new(Some(1), SharedLimits::of_subjects(8));
        let ann = subjects.account("ann");
        ann.count().unwrap();
        assert_eq!(ann.key(), Some("jwt:ann"));
        assert!(subjects.account("ann").count().is_err());
        assert!(subjects.account("bob").count().is_ok() && subjects.account("bob").admit().is_ok());
        for number in 0..MAX_SUBJECTS {
            subjects.account(&number.to_string());
        }
        assert_eq!(subjects.known.lock().len(), MAX_SUBJECTS);
        assert!(subjects.account("ann").count().is_err(), "whoever is at work is not forgotten");
        assert!(subjects.account("bob").count().is_ok(), "who was there longest ago is");
    }
}
