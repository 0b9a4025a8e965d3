//! Data of a chat or a person besides messages.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::super::changes::Changes;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::table::Table;
use super::super::super::tables::Tables;
use super::super::{business, children, external, facts, parked, people, session_list, tasks, undos};
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::erasure::Erased;
use figaro_domain::profile::Consent;
use figaro_domain::task::Task;

/// Erases all other data of a private chat and its person; the messages are erased already.
pub(super) fn of_chat(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    erased: &mut Erased,
    chat: ChatId,
    user: &UserId,
) -> Result<(), StoreFault> {
    erased.notes += remove_all(changes, &tables.notes, chat)?;
    erased.records += remove_all(changes, &tables.records, chat)?;
    erased.personas += remove_all(changes, &tables.personas, chat)?;
    // Passages of unreadable documents, too.
    remove_all(changes, &tables.documents, chat)?;
    remove_all(changes, &tables.passages, chat)?;
    remove_all(changes, &tables.persona_questions, chat)?;
    remove_all(changes, &tables.chats, chat)?;
    external::forget(tables, changes, &key::chat(chat))?;
    remove_all(changes, &tables.current, chat)?;
    remove_all(changes, &tables.background, chat)?;
    remove_all(changes, &tables.people, chat)?;
    remove_all(changes, &tables.index_blocks, chat)?;
    for (key, change) in tables.config_changes.scan(&[])?.collect::<Result<Vec<_>, _>>()? {
        if change.chat == chat {
            changes.remove(&tables.config_changes, key);
        }
    }
    business::forget(tables, changes, user)?;
    undos::remove_where(tables, changes, |undo| undo.asked_in == chat)?;
    children::remove_of_chat(tables, changes, chat)?;
    for (key, outgoing) in tables.deliveries.scan(&[])?.collect::<Result<Vec<_>, _>>()? {
        if outgoing.delivery.place.chat == chat {
            changes.remove(&tables.deliveries, key);
        }
    }
    for parked in tables.parked.list(&[])? {
        if parked.turn.conversation.chat == chat {
            changes.remove(&tables.parked, key::id(parked.turn.id));
        }
    }
    for task in tasks::of_chat(tables, chat)? {
        remove_task(tables, changes, erased, &task)?;
    }
    // Also drops messages from elsewhere that are still to be read for facts.
    facts::skip(tables, changes, &key::user(user))?;
    remove_profile(tables, changes, erased, user)
}

/// Erases all other data of a person in a group; the messages are erased already.
pub(super) fn of_person(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    erased: &mut Erased,
    chat: ChatId,
    user: &UserId,
) -> Result<(), StoreFault> {
    for item in tables.notes.scan(&key::chat(chat))? {
        let (key, note) = item?;
        // One that the model added for them may be erased already.
        if note.author.as_ref() == Some(user) && !changes.removes(&tables.notes, &key) {
            changes.remove(&tables.notes, key);
            erased.notes += 1;
        }
    }
    for session in session_list::of_chat(tables, chat)? {
        let waiting = parked::of_conversation(tables, session.conversation)?;
        for parked in waiting.into_iter().filter(|parked| parked.asked == *user) {
            changes.remove(&tables.parked, key::id(parked.turn.id));
        }
    }
    for task in tasks::of_chat(tables, chat)? {
        if task.creator.user == *user {
            remove_task(tables, changes, erased, &task)?;
        }
    }
    undos::forget(tables, changes, chat, user)?;
    people::forget(tables, changes, chat, user);
    remove_profile(tables, changes, erased, user)
}

/// Deletes all records of a table whose keys begin with a chat, readable or not. Returns the number deleted.
fn remove_all<T: Serialize + DeserializeOwned>(
    changes: &mut Changes<'_>,
    table: &Table<'_, T>,
    chat: ChatId,
) -> Result<usize, StoreFault> {
    let mut removed = 0;
    for key in table.keys_of(&key::chat(chat))? {
        changes.remove(table, key?);
        removed += 1;
    }
    Ok(removed)
}

/// Deletes a task with the history of its runs, unless it is deleted already.
pub(super) fn remove_task(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    erased: &mut Erased,
    task: &Task,
) -> Result<(), StoreFault> {
    if changes.removes(&tables.tasks, key::id(task.id)) {
        return Ok(());
    }
    tasks::put(tables, changes, Some(task), None)?;
    for key in tables.task_runs.keys_of(&key::id(task.id))? {
        changes.remove(&tables.task_runs, key?);
    }
    erased.tasks += 1;
    Ok(())
}

fn remove_profile(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    erased: &mut Erased,
    user: &UserId,
) -> Result<(), StoreFault> {
    let key = key::user(user);
    erased.profiles += usize::from(tables.profiles.contains(&key)?);
    // A refusal to be remembered is permanent; nothing else about the person is kept.
    match tables.profiles.find(&key)?.filter(|profile| profile.consent == Consent::Refused) {
        Some(profile) => changes.put(&tables.profiles, key, &profile.without_traits()),
        None => {
            changes.remove(&tables.profiles, key);
            Ok(())
        }
    }
}
