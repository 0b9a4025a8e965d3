//! Erasure of data at people's request: the records to erase (`to_erase`, `everything`), data made of them (`kept`), data
//! that the model created while answering them (`made`), records that lose fields (`saved`), other traces (`traces`), and
//! the search for them (`find`). After every erasure a rewrite of the store's files is due (`due`).
//!
//! Chats are long, and a writer blocks all others. So the data is first found part by part (`parts`) while others write,
//! and then erased at once, if nothing was written in the searched sessions.

mod everything;
mod exchange;
mod find;
mod found;
mod kept;
mod made;
mod parts;
mod saved;
mod to_erase;
mod traces;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

pub use self::find::SaidSearch;
pub(crate) use self::find::{said, said_at, said_with};
pub(crate) use self::found::ErasureMatches;
pub(crate) use self::parts::Looks;
use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::due::mark;
use super::{external, receptions, session_list};
use figaro_domain::conversation::Session;
use figaro_domain::erasure::{Erasure, Forgotten};

/// Finds the data to erase.
pub(crate) fn look_for(store: &impl Looks, what: &Erasure) -> Result<ErasureMatches, StoreFault> {
    let sessions = store.look(|tables| session_list::of_chat(tables, what.chat()))?;
    let to_erase = to_erase::find(store, what, &sessions)?;
    let traces = match to_erase.is_empty() {
        true => Vec::new(),
        false => traces::find(store, &to_erase, &sessions)?,
    };
    let sessions = sessions.into_iter().map(|session| session.id).collect();
    Ok(ErasureMatches { to_erase, traces, sessions })
}

/// Returns `true` if the found data is still complete after messages were written in these sessions (by their keys).
pub(crate) fn is_whole(
    tables: &Tables<'_>,
    found: &ErasureMatches,
    what: &Erasure,
    written: &BTreeSet<Vec<u8>>,
) -> Result<bool, StoreFault> {
    let sessions = session_list::of_chat(tables, what.chat())?;
    let is_same = sessions.iter().map(|session: &Session| &session.id).eq(&found.sessions);
    let is_written = || found.sessions.iter().any(|session| written.contains(&key::id(session)));
    Ok(is_same && !is_written() && found.to_erase.is_background_as(&to_erase::background(tables, what)?))
}

/// Erases the found data, unless an answer is being written in the chat.
pub(crate) fn erase(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    found: &mut ErasureMatches,
    what: &Erasure,
    now: DateTime<Utc>,
) -> Result<Forgotten, StoreFault> {
    found.to_erase.take_waiting(tables)?;
    if !found.to_erase.is_empty() && found.to_erase.is_busy(tables)? {
        return Ok(Forgotten::Busy);
    }
    let mut erased = found.to_erase.remove(tables, changes)?;
    kept::made_of(tables, changes, found, what, &mut erased)?;
    saved::clear(tables, changes, &found.to_erase, what, &mut erased)?;
    traces::clear(tables, changes, found)?;
    receptions::forget(tables, changes, what, &found.to_erase.telegram())?;
    match what {
        Erasure::Said(..) => {
            made::lists(tables, changes, &found.to_erase, &mut erased)?;
            made::texts(tables, changes, &found.to_erase)?;
        }
        // Deleting a conversation is tidying up: notes and reminders stay.
        Erasure::Session(conversation, _) => {
            made::texts(tables, changes, &found.to_erase)?;
            // The name of the parent stays, because the notes are found by it.
            if conversation.topic.is_some() {
                external::forget(tables, changes, &key::conversation(*conversation))?;
            }
        }
        Erasure::Chat(chat, user) => everything::of_chat(tables, changes, &mut erased, *chat, user)?,
        Erasure::Person(chat, user) => {
            made::lists(tables, changes, &found.to_erase, &mut erased)?;
            made::texts(tables, changes, &found.to_erase)?;
            everything::of_person(tables, changes, &mut erased, *chat, user)?;
        }
    }
    // Erasing a chat or a person also erases uncounted data, such as settings.
    if !erased.is_nothing() || matches!(what, Erasure::Chat(..) | Erasure::Person(..)) {
        mark(tables, changes, now)?;
    }
    Ok(Forgotten::Done(erased))
}
