//! What turns did that can be taken back, by the ids of the turns.

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::undo::TurnUndo;

/// Removes the records of which this holds. Gives how many there were.
pub(crate) fn remove_where(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    is_over: impl Fn(&TurnUndo) -> bool,
) -> Result<usize, Fault> {
    let over: Vec<TurnUndo> = tables.undos.list(&[])?.into_iter().filter(is_over).collect();
    over.iter().for_each(|undo| changes.remove(&tables.undos, key::id(undo.run)));
    Ok(over.len())
}

/// Forgets a person in a chat: what was done for them cannot be taken back any more, and what was done to them for others has no
/// name of theirs.
pub(super) fn forget(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    user: &UserId,
) -> Result<(), Fault> {
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

/// Gives what was done in a chat to the id it has from now on: records that were removed come back there. What acted on messages, people or the title of the chat was done to
/// the one it was before: that cannot be taken back any more.
pub(super) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), Fault> {
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
