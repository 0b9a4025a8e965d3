//! Actions of turns that can be undone, by turn id.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::undo::TurnUndo;

/// Deletes the records that match. Returns the number deleted.
pub(crate) fn remove_where(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    is_over: impl Fn(&TurnUndo) -> bool,
) -> Result<usize, StoreFault> {
    let over: Vec<TurnUndo> = tables.undos.list(&[])?.into_iter().filter(is_over).collect();
    over.iter().for_each(|undo| changes.remove(&tables.undos, key::id(undo.run)));
    Ok(over.len())
}

/// Forgets a person in a chat: actions requested by them can no longer be undone, and actions on them for others lose
/// their name.
pub(super) fn forget(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    user: &UserId,
) -> Result<(), StoreFault> {
    for undo in tables.undos.list(&[])? {
        let mut nameless = undo.clone();
        for call in nameless.calls.iter_mut().filter(|call| call.target.chat == chat) {
            if call.user() == user.telegram_id() {
                call.person = None;
            }
        }
        if undo.asked_in == chat && undo.asked_by == *user {
            changes.remove(&tables.undos, key::id(undo.run));
        } else if nameless != undo {
            changes.put(&tables.undos, key::id(undo.run), &nameless)?;
        }
    }
    Ok(())
}

/// Moves the actions of a chat to its new id: removed records are restored there. Actions on messages, people or the
/// title of the old chat can no longer be undone.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for before in tables.undos.list(&[])? {
        let mut undo = before.clone();
        let moved = undo.calls.iter().filter_map(|call| match call.target.chat == from {
            true => call.moved_to(to),
            false => Some(call.clone()),
        });
        undo.calls = moved.collect();
        if undo.asked_in == from {
            undo.asked_in = to;
        }
        if undo.calls.is_empty() {
            changes.remove(&tables.undos, key::id(undo.run));
        } else if undo != before {
            changes.put(&tables.undos, key::id(undo.run), &undo)?;
        }
    }
    Ok(())
}
