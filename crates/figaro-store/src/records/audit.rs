//! The audit log by place, and where it ends. Operations that are worth an entry add it with [`append`], in the commit of what it
//! tells of. The key of the hashes of arguments stands in the table of the store itself, which no export and no copy carries.

use chrono::{DateTime, Utc};
use ring::hmac;

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use crate::engine::Keys;
use figaro_base::secret::{ExposeSecret, random_hex};
use figaro_domain::approval::canonical;
use figaro_domain::audit::{AuditEntry, AuditVerdict, Audited};
use figaro_domain::code::hex;

/// The key of the one record that says where the log ends.
const HEAD: &[u8] = b"head";
/// The key of the one record that says where it begins, once old entries have gone.
const ANCHOR: &[u8] = b"anchor";
/// So many entries go at once, so that no other writer waits long.
const EXPIRED_AT_ONCE: usize = 1_000;
/// The key of the secret of the hashes.
const SECRET: &[u8] = b"audit_secret";
/// The bytes of that secret.
const SECRET_BYTES: usize = 32;

/// Adds entries behind all others, also behind those that the same operation has added before.
pub(crate) fn append(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    events: Vec<Audited>,
) -> Result<(), Fault> {
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

/// The newest entries before this place, the newest first. What cannot be read stays where it is: it is evidence.
pub(crate) fn newest(
    tables: &Tables<'_>,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<AuditEntry>, Fault> {
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

/// Follows the chain from its first entry to where it has to end.
pub(crate) fn verify(tables: &Tables<'_>) -> Result<AuditVerdict, Fault> {
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

/// Removes the oldest entries that were made before this time, up to [`EXPIRED_AT_ONCE`], and notes where the log begins then. It
/// ends at the first entry that is not what belongs there: what is broken is not to be cleared away.
pub(crate) fn expire(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, Fault> {
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

/// The secret of the hashes, made when it is needed first.
fn secret(tables: &Tables<'_>, changes: &mut Changes<'_>) -> Result<String, Fault> {
    let known = match changes.pending(&tables.store_secrets, SECRET)? {
        Some(secret) => Some(secret),
        None => tables.store_secrets.get(SECRET)?,
    };
    if let Some(secret) = known {
        return Ok(secret);
    }
    let made = random_hex(SECRET_BYTES).map_err(|error| Fault::Panic(error.to_string()))?;
    let made = made.expose_secret().to_owned();
    changes.put(&tables.store_secrets, SECRET, &made)?;
    Ok(made)
}
