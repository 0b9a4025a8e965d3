//! The audit log by place, and its end. Operations add their entries with [`append`], in the same commit as the action.
//! The key for hashes of arguments is in the table about the store itself, which exports and copies leave out.

use chrono::{DateTime, Utc};
use ring::hmac;

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use crate::engine::Keys;
use figaro_base::secret::{ExposeSecret, random_hex};
use figaro_domain::approval::canonical;
use figaro_domain::audit::{AuditEntry, AuditVerdict, Audited};
use figaro_domain::code::hex;

/// Key of the record with the end of the log.
const HEAD: &[u8] = b"head";
/// Key of the record with the beginning of the log, once old entries were deleted.
const ANCHOR: &[u8] = b"anchor";
/// Maximum entries deleted at once, so that other writers do not wait long.
const EXPIRED_AT_ONCE: usize = 1_000;
/// Key of the secret for hashes.
const SECRET: &[u8] = b"audit_secret";
/// Length of that secret, in bytes.
const SECRET_BYTES: usize = 32;

/// Appends entries, also after those that the same operation added before.
pub(crate) fn append(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    events: Vec<Audited>,
) -> Result<(), StoreFault> {
    for Audited { event, arguments } in events {
        let head = match changes.pending(&tables.audit_head, HEAD)? {
            Some(head) => head,
            None => tables.audit_head.get(HEAD)?.unwrap_or_default(),
        };
        let hash = match arguments {
            Some(arguments) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret(tables, changes)?.as_bytes());
                Some(hex(hmac::sign(&key, canonical(&arguments).as_bytes()).as_ref()))
            }
            None => None,
        };
        let (entry, head) = head.extend(event, hash)?;
        changes.put(&tables.audit, key::audit(entry.seq), &entry)?;
        changes.put(&tables.audit_head, HEAD, &head)?;
    }
    Ok(())
}

/// Returns the newest entries before this place, newest first. Unreadable entries stay in place: they are evidence.
pub(crate) fn newest(
    tables: &Tables<'_>,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<AuditEntry>, StoreFault> {
    let mut found = Vec::new();
    let keys = match before {
        Some(before) => Keys::before(key::audit(before), &[]),
        None => Keys::beginning_with([]),
    };
    for item in tables.audit.entries_in(&keys)?.rev() {
        if found.len() >= limit {
            break;
        }
        let (_, bytes) = item?;
        found.extend(serde_json::from_slice::<AuditEntry>(&bytes).ok());
    }
    Ok(found)
}

/// Follows the chain from its first entry to the recorded end.
pub(crate) fn verify(tables: &Tables<'_>) -> Result<AuditVerdict, StoreFault> {
    let end = tables.audit_head.get(HEAD)?.unwrap_or_default();
    let mut at = tables.audit_head.get(ANCHOR)?.unwrap_or_default();
    let (mut entries, mut broken) = (0, None);
    for item in tables.audit.entries(&[])? {
        let (key, bytes) = item?;
        entries += 1;
        if broken.is_some() {
            continue;
        }
        let is_next = match serde_json::from_slice::<AuditEntry>(&bytes) {
            Ok(entry) => key == key::audit(entry.seq) && at.follow(&entry, &bytes)?,
            Err(_unreadable) => false,
        };
        broken = (!is_next).then_some(at.next);
    }
    let broken = broken.or_else(|| (at != end).then_some(at.next));
    Ok(AuditVerdict { entries, broken })
}

/// Deletes the oldest entries from before this time, up to [`EXPIRED_AT_ONCE`], and records the new beginning of the log.
/// Stops at the first entry that breaks the chain: damage must not be cleared away.
pub(crate) fn expire(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, StoreFault> {
    let (mut at, mut gone) = (tables.audit_head.get(ANCHOR)?.unwrap_or_default(), 0);
    for item in tables.audit.entries(&[])?.take(EXPIRED_AT_ONCE) {
        let (key, bytes) = item?;
        let Ok(entry) = serde_json::from_slice::<AuditEntry>(&bytes) else { break };
        if entry.event.at >= before || !at.follow(&entry, &bytes)? {
            break;
        }
        changes.remove(&tables.audit, key);
        gone += 1;
    }
    if gone > 0 {
        changes.put(&tables.audit_head, ANCHOR, &at)?;
    }
    Ok(gone)
}

/// Returns the secret for hashes, created on first use.
fn secret(tables: &Tables<'_>, changes: &mut Changes<'_>) -> Result<String, StoreFault> {
    let known = match changes.pending(&tables.store_secrets, SECRET)? {
        Some(secret) => Some(secret),
        None => tables.store_secrets.get(SECRET)?,
    };
    if let Some(secret) = known {
        return Ok(secret);
    }
    let made = random_hex(SECRET_BYTES).map_err(|error| StoreFault::Panic(error.to_string()))?;
    let made = made.expose_secret().to_owned();
    changes.put(&tables.store_secrets, SECRET, &made)?;
    Ok(made)
}
