//! Vectors of messages, kept beside them by the same keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::{StoredVector, Tables};
use crate::engine::Keys;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::EntryKey;
use figaro_domain::conversation::Message;
use figaro_domain::vector::ByteVector;
use std::sync::Arc;

/// How far a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// The session whose messages are counted.
    pub session: SessionId,
    /// The index behind its last message that is there to stay: what a turn in progress has stored may be taken back.
    pub next_index: u32,
}

/// A vector of a message, to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageVector {
    /// Where the message stands.
    pub place: EntryKey,
    /// The message that it was made of: another may have come to its place, or it may have been edited.
    pub of: Arc<Message>,
    /// What was made of it.
    pub vector: ByteVector,
}

/// A vector of a message of a session, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptVector {
    /// The place of the message in the session.
    pub index: u32,
    /// The name of the model that made it: only vectors of one model can be compared.
    pub model: String,
    /// The vector; without numbers if it could not be read.
    pub vector: ByteVector,
}

/// The newest vectors of a session's messages before an index, newest first.
pub(crate) fn before(
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
pub(crate) fn put(
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
pub(crate) fn remove_message(tables: &Tables<'_>, changes: &mut Changes<'_>, key: Vec<u8>) {
    remove(tables, changes, &key);
    changes.remove(&tables.messages, key);
}

/// Removes the vector of a message by its key: the message says something else now.
pub(crate) fn remove(tables: &Tables<'_>, changes: &mut Changes<'_>, key: &[u8]) {
    changes.remove(&tables.vectors, key);
}
