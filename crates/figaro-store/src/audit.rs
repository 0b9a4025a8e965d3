//! The audit log.

use chrono::{DateTime, Utc};

use super::records::audit;
use crate::{AuditStore, Result};
use figaro_domain::audit::{AuditEntry, AuditVerdict, Audited};

/// Entries read at a time.
const AT_ONCE: usize = 1_000;

/// Returns all readable entries of the log, oldest first.
///
/// # Errors
/// When the store fails.
pub fn whole_log(store: &AuditStore) -> Result<Vec<AuditEntry>> {
    let (mut entries, mut before) = (Vec::new(), None);
    loop {
        let more = store.newest(before, AT_ONCE)?;
        let Some(last) = more.last() else { break };
        before = Some(last.seq);
        entries.extend(more);
    }
    entries.reverse();
    Ok(entries)
}

impl AuditStore {
    /// Appends entries in this order, durably: the recorded actions happen after it.
    pub async fn add(&self, events: Vec<Audited>) -> Result<()> {
        self.0
            .change_durably("write the audit log", |tables, changes| audit::append(tables, changes, events))
            .await
    }

    /// Returns the newest entries before this place (of all if `None`), at most `limit`, newest first. Unreadable entries
    /// are left out.
    pub fn newest(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>> {
        self.0.read("read the audit log", move |tables| audit::newest(tables, before, limit))
    }

    /// Verifies the whole log. Nothing is set aside meanwhile.
    pub fn verify(&self) -> Result<AuditVerdict> {
        self.0.read("verify the audit log", audit::verify)
    }

    /// Deletes the oldest entries from before this time, a bounded number at a time; the log is then verified from the
    /// first entry left. Returns the number deleted. An unreadable entry, and all after it, stay.
    pub fn expire(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0.change("forget old entries of the audit log", move |tables, changes| {
            audit::expire(tables, changes, before)
        })
    }
}
