//! Vectors of messages, kept beside them by the same keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::{StoredVector, Tables};
use crate::engine::Keys;
use crate::{KeptVector, MessageVector};
use figaro_base::ids::SessionId;
use figaro_domain::conversation::EntryKey;
use figaro_domain::vector::ByteVector;

/// The newest vectors of a session's messages before an index, newest first.
pub(in crate::kv) fn before(
    tables: &Tables<'_>,
    session: SessionId,
    index: u32,
    limit: usize,
) -> Result<Vec<KeptVector>, Fault> {
    let range = Keys::before(key::message(session, index), &key::id(session));
    let mut found = Vec::new();
    for item in tables.vectors.scan_range(&range)?.rev().take(limit) {
        let (key, StoredVector(model, scale, bytes)) = item?;
        let Some(index) = key::index_of(&key) else { continue };
        // What is no vector any more has none to be compared with, and is made anew.
        let bytes = STANDARD_NO_PAD.decode(bytes).unwrap_or_default();
        let numbers = bytes.into_iter().map(u8::cast_signed).collect();
        found.push(KeptVector { index, model, vector: ByteVector { scale, numbers } });
    }
    Ok(found)
}

/// Keeps vectors of messages that are still where they were and say what they said. Gives where these are.
pub(in crate::kv) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    model: &str,
    vectors: &[MessageVector],
) -> Result<Vec<EntryKey>, Fault> {
    let mut kept = Vec::new();
    for MessageVector { place, of, vector } in vectors {
        let key = key::message(place.session, place.index);
        if tables.messages.find(&key)?.is_none_or(|there| !there.says_the_same(of)) {
            continue;
        }
        let bytes: Vec<u8> = vector.numbers.iter().map(|number| number.cast_unsigned()).collect();
        let stored = StoredVector(model.to_owned(), vector.scale, STANDARD_NO_PAD.encode(bytes));
        changes.put(&tables.vectors, key, &stored)?;
        kept.push(*place);
    }
    Ok(kept)
}

/// Removes a message by its key, with what was made of it.
pub(in crate::kv) fn remove_message(tables: &Tables<'_>, changes: &mut Changes<'_>, key: Vec<u8>) {
    remove(tables, changes, &key);
    changes.remove(&tables.messages, key);
}

/// Removes the vector of a message by its key: the message says something else now.
pub(in crate::kv) fn remove(tables: &Tables<'_>, changes: &mut Changes<'_>, key: &[u8]) {
    changes.remove(&tables.vectors, key);
}
