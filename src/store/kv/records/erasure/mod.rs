//! What people have Figaro forget: which records go (`doomed`, `everything`), what was made of them
//! (`kept`), what it made of settings (`wishes`), what else holds a trace of them (`traces`), and how
//! what is to be forgotten is found (`find`). Whatever is erased, the files of the store are to be rewritten after it.

mod doomed;
mod everything;
mod exchange;
mod find;
mod kept;
mod traces;
mod wishes;

use chrono::{DateTime, Utc};

pub(in crate::store::kv) use self::find::{said, said_at, said_with};
use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::tables::{RewriteDue, Tables};
use crate::domain::erasure::{Erasure, Forgotten};

/// The key of the one record that says that files are to be rewritten.
const DUE: &[u8] = b"due";

/// Erases, unless an answer is being written in the chat.
pub(in crate::store::kv) fn erase(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    what: &Erasure,
    now: DateTime<Utc>,
) -> Result<Forgotten, Fault> {
    let doomed = match what {
        Erasure::Said(chat, places) => doomed::said(tables, *chat, places)?,
        Erasure::Session(conversation, session) => doomed::session(tables, *conversation, *session)?,
        Erasure::Chat(chat, _) => doomed::chat(tables, *chat)?,
        Erasure::Person(chat, user) => doomed::person(tables, *chat, user)?,
    };
    if !doomed.is_empty() && doomed.is_busy(tables)? {
        return Ok(Forgotten::Busy);
    }
    let mut erased = doomed.remove(tables, changes)?;
    kept::made_of(tables, changes, &doomed, what, &mut erased)?;
    traces::clear(tables, changes, &doomed)?;
    match what {
        Erasure::Said(..) | Erasure::Session(..) => wishes::clear(tables, changes, &doomed)?,
        Erasure::Chat(chat, user) => everything::of_chat(tables, changes, &mut erased, *chat, user)?,
        Erasure::Person(chat, user) => {
            wishes::clear(tables, changes, &doomed)?;
            everything::of_person(tables, changes, &mut erased, *chat, user)?;
        }
    }
    // All of a chat or a person takes along what is not counted, such as settings.
    if !erased.is_nothing() || matches!(what, Erasure::Chat(..) | Erasure::Person(..)) {
        mark(tables, changes, now)?;
    }
    Ok(Forgotten::Done(erased))
}

/// Notes that the files of the store are to be rewritten.
pub(in crate::store::kv) fn mark(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let before = due(tables)?.unwrap_or(RewriteDue { since: now, erasures: 0 });
    let after = RewriteDue { erasures: before.erasures.saturating_add(1), ..before };
    changes.put(&tables.erasures, DUE, &after)
}

/// Whether the files of the store are to be rewritten.
pub(in crate::store::kv) fn due(tables: &Tables<'_>) -> Result<Option<RewriteDue>, Fault> {
    tables.erasures.find(DUE)
}

/// They were rewritten, which began when this was due. What was erased since stays due.
pub(in crate::store::kv) fn rewritten(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    then: RewriteDue,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    match due(tables)? {
        Some(due) if due != then => changes.put(&tables.erasures, DUE, &RewriteDue { since: now, ..due }),
        _ => {
            changes.remove(&tables.erasures, DUE);
            Ok(())
        }
    }
}
