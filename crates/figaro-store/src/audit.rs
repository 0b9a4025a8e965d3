//! The audit log.

use chrono::{DateTime, Utc};

use super::records::audit;
use crate::{AuditStore, Result};
use figaro_domain::audit::{AuditEntry, AuditVerdict, Audited};

/// So many entries are read at a time.
const AT_ONCE: usize = 1_000;

/// All entries of the log that can be read, the oldest first.
///
/// # Errors
/// When the store fails.
pub async fn whole_log(store: &AuditStore) -> Result<Vec<AuditEntry>> {
    let (mut entries, mut before) = (Vec::new(), None);
    loop {
        let more = store.newest(before, AT_ONCE).await?;
        let Some(last) = more.last() else { break };
        before = Some(last.seq);
        entries.extend(more);
    }
    entries.reverse();
    Ok(entries)
}

impl AuditStore {
    /// Adds entries in this order behind all others, durably: what they tell of is done after it.
    pub async fn add(&self, events: Vec<Audited>) -> Result<()> {
        self.0
            .change_durably("write the audit log", |tables, changes| audit::append(tables, changes, events))
            .await
    }

    /// The newest entries before this place, or of all, at most so many, the newest first. Those that cannot be read are left
    /// out.
    pub async fn newest(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>> {
        self.0.read("read the audit log", move |tables| audit::newest(tables, before, limit)).await
    }

    /// Reads the whole log and says whether it is as it was written. Nothing is set aside meanwhile.
    pub async fn verify(&self) -> Result<AuditVerdict> {
        self.0.read("verify the audit log", audit::verify).await
    }

    /// Forgets the oldest entries that were made before this time, a bounded number at a time; the log is verified from the first
    /// that is left. Returns how many went. An entry that cannot be read, and all behind it, stay.
    pub async fn expire(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0
            .change("forget old entries of the audit log", move |tables, changes| {
                audit::expire(tables, changes, before)
            })
            .await
    }
}
