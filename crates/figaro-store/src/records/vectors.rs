//! Vectors of messages, stored with the same keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::{StoredVector, Tables};
use crate::engine::Keys;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::EntryKey;
use figaro_domain::conversation::Message;
use figaro_domain::vector::ByteVector;
use std::sync::Arc;

/// Position up to which a session's messages are permanent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// Session whose messages are counted.
    pub session: SessionId,
    /// Index after its last permanent message: messages of a turn in progress may be taken back.
    pub next_index: u32,
}

/// A new vector of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageVector {
    /// Key of the message.
    pub place: EntryKey,
    /// Message that the vector was made of: another may have taken its place, or it may have been edited.
    pub of: Arc<Message>,
    /// Vector of that message.
    pub vector: ByteVector,
}

/// A stored vector of a session's message.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptVector {
    /// Index of the message in its session.
    pub index: u32,
    /// Name of the model that made it: only vectors of one model can be compared.
    pub model: String,
    /// The vector; empty if it is unreadable.
    pub vector: ByteVector,
}

/// Returns the newest vectors of a session's messages before an index, newest first.
pub(crate) fn before(
    tables: &Tables<'_>,
    session: SessionId,
    index: u32,
    limit: usize,
) -> Result<Vec<KeptVector>, StoreFault> {
    let range = Keys::before(key::message(session, index), &key::id(session));
    let mut found = Vec::new();
    for item in tables.vectors.scan_range(&range)?.rev().take(limit) {
        let (key, StoredVector(model, scale, bytes)) = item?;
        let Some(index) = key::index_of(&key) else { continue };
        // A damaged vector counts as empty and is made anew.
        let bytes = STANDARD_NO_PAD.decode(bytes).unwrap_or_default();
        let numbers = bytes.into_iter().map(u8::cast_signed).collect();
        found.push(KeptVector { index, model, vector: ByteVector { scale, numbers } });
    }
    Ok(found)
}

/// Stores vectors of messages that are unmoved and unchanged. Returns the places of these messages.
pub(crate) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    model: &str,
    vectors: &[MessageVector],
) -> Result<Vec<EntryKey>, StoreFault> {
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

/// Deletes a message by its key, with the data made of it.
pub(crate) fn remove_message(tables: &Tables<'_>, changes: &mut Changes<'_>, key: Vec<u8>) {
    remove(tables, changes, &key);
    changes.remove(&tables.messages, key);
}

/// Deletes the vector of a changed message by its key.
pub(crate) fn remove(tables: &Tables<'_>, changes: &mut Changes<'_>, key: &[u8]) {
    changes.remove(&tables.vectors, key);
}
