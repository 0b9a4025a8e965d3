//! Children of turns, by turn id, and their messages, by child id.

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, RunId};
use figaro_domain::child::ChildRun;
use figaro_domain::conversation::Message;
use figaro_domain::tool::ToolCall;

/// Returns the children of a turn, in the order in which they began.
pub(crate) fn of_turn(tables: &Tables<'_>, root: RunId) -> Result<Vec<ChildRun>, StoreFault> {
    tables.children.list(&key::id(root))
}

/// Returns `true` if a turn is in progress.
pub(crate) fn is_at_work(tables: &Tables<'_>, root: RunId) -> Result<bool, StoreFault> {
    Ok(tables.turns.list(&[])?.iter().any(|turn| turn.id == root))
}

pub(crate) fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    child: &ChildRun,
) -> Result<(), StoreFault> {
    changes.put(&tables.children, key::child(child.root, child.id), child)
}

/// Returns the current record of a child; `None` if it was erased.
pub(crate) fn find(tables: &Tables<'_>, child: &ChildRun) -> Result<Option<ChildRun>, StoreFault> {
    tables.children.find(&key::child(child.root, child.id))
}

/// Returns the record of a child that has not ended.
pub(crate) fn going_on(tables: &Tables<'_>, child: &ChildRun) -> Result<Option<ChildRun>, StoreFault> {
    Ok(find(tables, child)?.filter(|child| child.outcome.is_none()))
}

/// Appends a message of a child. Call it once per operation.
pub(crate) fn append(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    child: RunId,
    mut message: Message,
) -> Result<(), StoreFault> {
    message.index = tables.child_messages.next_index(&key::id(child))?;
    changes.put(&tables.child_messages, key::call(child, message.index), &message)
}

/// Ends the children of an ended turn: cancels unfinished ones, and deletes the messages of all. Their calls become calls of
/// the turn, without results: what was done stays known.
pub(crate) fn end_all(tables: &Tables<'_>, changes: &mut Changes<'_>, root: RunId) -> Result<(), StoreFault> {
    let mut made = Vec::new();
    for child in of_turn(tables, root)? {
        made.extend(tables.calls.list(&key::id(child.id))?);
        clear(tables, changes, child.id)?;
        put(tables, changes, &child.without_words())?;
    }
    let next = tables.calls.next_index(&key::id(root))?;
    (next..).zip(made).try_for_each(|(index, call)| {
        changes.put(&tables.calls, key::call(root, index), &ToolCall { result: None, ..call })
    })
}

/// Deletes the children of a turn without a trace.
pub(crate) fn remove_all(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    root: RunId,
) -> Result<(), StoreFault> {
    for child in of_turn(tables, root)? {
        clear(tables, changes, child.id)?;
        changes.remove(&tables.children, key::child(root, child.id));
    }
    Ok(())
}

/// Applies `forget` to the messages of children of turns in a chat; it returns `true` for a changed message.
pub(crate) fn forget_read(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    forget: impl Fn(&mut Message) -> bool,
) -> Result<(), StoreFault> {
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

/// Deletes all stored data of children of turns in a chat.
pub(crate) fn remove_of_chat(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
) -> Result<(), StoreFault> {
    for child in tables.children.list(&[])?.into_iter().filter(|child| child.chat == chat) {
        clear(tables, changes, child.id)?;
        changes.remove(&tables.children, key::child(child.root, child.id));
    }
    Ok(())
}

/// Moves the children of a chat to its new id.
pub(crate) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for child in tables.children.list(&[])?.into_iter().filter(|child| child.chat == from) {
        put(tables, changes, &ChildRun { chat: to, ..child })?;
    }
    Ok(())
}

/// Deletes children that have ended and began before this time. Returns the number deleted.
pub(crate) fn expire(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    before: DateTime<Utc>,
) -> Result<usize, StoreFault> {
    let at_work: Vec<RunId> = tables.turns.list(&[])?.into_iter().map(|turn| turn.id).collect();
    let is_old = |child: &ChildRun| child.started_at < before && !at_work.contains(&child.root);
    let old: Vec<ChildRun> = tables.children.list(&[])?.into_iter().filter(is_old).collect();
    for child in &old {
        clear(tables, changes, child.id)?;
        changes.remove(&tables.children, key::child(child.root, child.id));
    }
    Ok(old.len())
}

/// Deletes the messages and calls of a child.
fn clear(tables: &Tables<'_>, changes: &mut Changes<'_>, child: RunId) -> Result<(), StoreFault> {
    for key in tables.child_messages.keys_of(&key::id(child))? {
        changes.remove(&tables.child_messages, key?);
    }
    for key in tables.calls.keys_of(&key::id(child))? {
        changes.remove(&tables.calls, key?);
    }
    Ok(())
}
