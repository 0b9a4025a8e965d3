//! The children of turns, by the ids of their turns, and what they said, by their own.

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, RunId};
use figaro_domain::child::ChildRun;
use figaro_domain::conversation::Message;

/// The children of a turn, in the order in which they began.
pub(crate) fn of_turn(tables: &Tables<'_>, root: RunId) -> Result<Vec<ChildRun>, Fault> {
    tables.children.list(&key::id(root))
}

/// Whether a turn is on record as one at work.
pub(crate) fn is_at_work(tables: &Tables<'_>, root: RunId) -> Result<bool, Fault> {
    Ok(tables.turns.list(&[])?.iter().any(|turn| turn.id == root))
}

/// Writes the record of a child.
pub(crate) fn put(tables: &Tables<'_>, changes: &mut Changes<'_>, child: &ChildRun) -> Result<(), Fault> {
    changes.put(&tables.children, key::child(child.root, child.id), child)
}

/// The record of a child as it is now; `None` where it was erased.
pub(crate) fn find(tables: &Tables<'_>, child: &ChildRun) -> Result<Option<ChildRun>, Fault> {
    tables.children.find(&key::child(child.root, child.id))
}

/// The record of a child that has not ended.
pub(crate) fn going_on(tables: &Tables<'_>, child: &ChildRun) -> Result<Option<ChildRun>, Fault> {
    Ok(find(tables, child)?.filter(|child| child.outcome.is_none()))
}

/// Appends a message of a child. Called once per operation.
pub(crate) fn append(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    child: RunId,
    mut message: Message,
) -> Result<(), Fault> {
    message.index = tables.child_messages.next_index(&key::id(child))?;
    changes.put(&tables.child_messages, key::call(child, message.index), &message)
}

/// Ends the children of a turn that has ended: those that went on are cancelled, and no words of any are kept.
pub(crate) fn end_all(tables: &Tables<'_>, changes: &mut Changes<'_>, root: RunId) -> Result<(), Fault> {
    for child in of_turn(tables, root)? {
        clear(tables, changes, child.id)?;
        put(tables, changes, &child.without_words())?;
    }
    Ok(())
}

/// Removes the children of a turn as if they had never been.
pub(crate) fn remove_all(tables: &Tables<'_>, changes: &mut Changes<'_>, root: RunId) -> Result<(), Fault> {
    for child in of_turn(tables, root)? {
        clear(tables, changes, child.id)?;
        changes.remove(&tables.children, key::child(root, child.id));
    }
    Ok(())
}

/// Has `forget` change the messages of children of turns in a chat, which gives whether it did.
pub(crate) fn forget_read(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    forget: impl Fn(&mut Message) -> bool,
) -> Result<(), Fault> {
    for child in tables.children.list(&[])?.into_iter().filter(|child| child.chat == chat) {
        for item in tables.child_messages.scan(&key::id(child.id))? {
            let (key, mut message) = item?;
            if forget(&mut message) {
                changes.put(&tables.child_messages, key, &message)?;
            }
        }
    }
    Ok(())
}

/// Removes what is kept of all children of turns in a chat.
pub(crate) fn remove_of_chat(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
) -> Result<(), Fault> {
    for child in tables.children.list(&[])?.into_iter().filter(|child| child.chat == chat) {
        clear(tables, changes, child.id)?;
        changes.remove(&tables.children, key::child(child.root, child.id));
    }
    Ok(())
}

/// Gives what the children in a chat took to the id that the chat has from now on.
pub(crate) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), Fault> {
    for child in tables.children.list(&[])?.into_iter().filter(|child| child.chat == from) {
        put(tables, changes, &ChildRun { chat: to, ..child })?;
    }
    Ok(())
}

/// Forgets the children that have ended and began before this time. Gives how many there were.
pub(crate) fn expire(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, Fault> {
    let at_work: Vec<RunId> = tables.turns.list(&[])?.into_iter().map(|turn| turn.id).collect();
    let is_old = |child: &ChildRun| child.started_at < before && !at_work.contains(&child.root);
    let old: Vec<ChildRun> = tables.children.list(&[])?.into_iter().filter(is_old).collect();
    for child in &old {
        clear(tables, changes, child.id)?;
        changes.remove(&tables.children, key::child(child.root, child.id));
    }
    Ok(old.len())
}

/// Removes the messages and calls of a child.
fn clear(tables: &Tables<'_>, changes: &mut Changes<'_>, child: RunId) -> Result<(), Fault> {
    for key in tables.child_messages.keys_of(&key::id(child))? {
        changes.remove(&tables.child_messages, key?);
    }
    for key in tables.calls.keys_of(&key::id(child))? {
        changes.remove(&tables.calls, key?);
    }
    Ok(())
}
