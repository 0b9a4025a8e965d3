//! The port for the audit log.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_domain::audit::{AuditEntry, AuditVerdict, Audited};

type Result<T> = std::result::Result<T, StoreError>;

/// So many entries are read at a time.
const AT_ONCE: usize = 1_000;

/// The audit log. It is only added to: nothing changes an entry, and entries go by age alone, the oldest first.
#[async_trait]
pub trait AuditStore: Debug + Send + Sync {
    /// Adds entries in this order behind all others, durably: what they tell of is done after it.
    async fn audit(&self, events: Vec<Audited>) -> Result<()>;
    /// The newest entries before this place, or of all, at most so many, the newest first. Those that cannot be read are left
    /// out.
    async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>>;
    /// Reads the whole log and says whether it is as it was written. Nothing is set aside meanwhile.
    async fn verify_audit(&self) -> Result<AuditVerdict>;
    /// Forgets the oldest entries that were made before this time, a bounded number at a time; the log is verified from the first
    /// that is left. Returns how many went. An entry that cannot be read, and all behind it, stay.
    async fn expire_audit(&self, before: DateTime<Utc>) -> Result<usize>;
}

/// All entries of the log that can be read, the oldest first.
///
/// # Errors
/// When the store fails.
pub async fn whole_log(store: &dyn AuditStore) -> Result<Vec<AuditEntry>> {
    let (mut entries, mut before) = (Vec::new(), None);
    loop {
        let more = store.audited(before, AT_ONCE).await?;
        let Some(last) = more.last() else { break };
        before = Some(last.seq);
        entries.extend(more);
    }
    entries.reverse();
    Ok(entries)
}
