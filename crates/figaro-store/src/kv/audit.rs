//! [`AuditStore`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::KvStore;
use super::records::audit;
use crate::{AuditStore, Result};
use figaro_domain::audit::{AuditEntry, AuditVerdict, Audited};

#[async_trait]
impl AuditStore for KvStore {
    async fn audit(&self, events: Vec<Audited>) -> Result<()> {
        self.change_durably("write the audit log", |tables, changes| audit::append(tables, changes, events))
            .await
    }

    async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>> {
        self.read("read the audit log", move |tables| audit::newest(tables, before, limit)).await
    }

    async fn verify_audit(&self) -> Result<AuditVerdict> {
        self.read("verify the audit log", audit::verify).await
    }

    async fn expire_audit(&self, before: DateTime<Utc>) -> Result<usize> {
        self.change("forget old entries of the audit log", move |tables, changes| {
            audit::expire(tables, changes, before)
        })
        .await
    }
}
