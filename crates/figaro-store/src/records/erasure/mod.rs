//! What people have Figaro forget: which records go (`to_erase`, `everything`), what was made of them
//! (`kept`), what the model made in answering them (`made`), which records lose what was taken from them (`saved`), what else holds
//! a trace of them (`traces`), and how what is to be forgotten is found (`find`). Whatever is erased, the files of the store are to be rewritten after it (`due`).
//!
//! Chats are long, and nobody else writes while somebody does. So what goes is found first, part by part (`parts`), while others
//! write; then it is erased at once, if nothing was written in the sessions that were looked through.

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
pub(crate) use self::found::Found;
pub(crate) use self::parts::Looks;
use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use super::due::mark;
use super::{external, receptions};
use figaro_domain::conversation::Session;
use figaro_domain::erasure::{Erasure, Forgotten};

/// Finds what is to be erased.
pub(crate) fn look_for(store: &impl Looks, what: &Erasure) -> Result<Found, Fault> {
    let sessions = store.look(|tables| to_erase::sessions_of(tables, what.chat()))?;
    let to_erase = to_erase::find(store, what, &sessions)?;
    let traces = match to_erase.is_empty() {
        true => Vec::new(),
        false => traces::find(store, &to_erase, &sessions)?,
    };
    let sessions = sessions.into_iter().map(|session| session.id).collect();
    Ok(Found { to_erase, traces, sessions })
}

/// Whether what was found is still all there is, if messages of these sessions (by their keys) were written since.
pub(crate) fn is_whole(
    tables: &Tables<'_>,
    found: &Found,
    what: &Erasure,
    written: &BTreeSet<Vec<u8>>,
) -> Result<bool, Fault> {
    let sessions = to_erase::sessions_of(tables, what.chat())?;
    let is_same = sessions.iter().map(|session: &Session| &session.id).eq(&found.sessions);
    let is_written = || found.sessions.iter().any(|session| written.contains(&key::id(session)));
    Ok(is_same && !is_written() && found.to_erase.is_background_as(&to_erase::background(tables, what)?))
}

/// Erases what was found, unless an answer is being written in the chat.
pub(crate) fn erase(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    found: &mut Found,
    what: &Erasure,
    now: DateTime<Utc>,
) -> Result<Forgotten, Fault> {
    found.to_erase.take_waiting(tables)?;
    if !found.to_erase.is_empty() && found.to_erase.is_busy(tables)? {
        return Ok(Forgotten::Busy);
    }
    let mut erased = found.to_erase.remove(tables, changes)?;
    kept::made_of(tables, changes, &found.to_erase, what, &mut erased)?;
    saved::clear(tables, changes, &found.to_erase, what, &mut erased)?;
    traces::clear(tables, changes, found)?;
    receptions::forget(tables, changes, what, &found.to_erase.telegram())?;
    match what {
        Erasure::Said(..) => {
            made::lists(tables, changes, &found.to_erase, &mut erased)?;
            made::texts(tables, changes, &found.to_erase)?;
        }
        // People tidy up conversations, and expect to find their notes and reminders after that.
        Erasure::Session(conversation, _) => {
            made::texts(tables, changes, &found.to_erase)?;
            // The name of the whole stays: by it the notes are found.
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
    // All of a chat or a person takes along what is not counted, such as settings.
    if !erased.is_nothing() || matches!(what, Erasure::Chat(..) | Erasure::Person(..)) {
        mark(tables, changes, now)?;
    }
    Ok(Forgotten::Done(erased))
}
