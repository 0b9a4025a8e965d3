//! Data of a chat or a person besides messages.

use serde_json::Value;

use super::super::super::changes::Changes;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::table::Table;
use super::super::super::tables::{KEYED, KeyedBy, Tables};
use super::super::{business, children, external, facts, parked, people, session_list, tasks, undos};
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::erasure::Erased;
use figaro_domain::profile::Consent;
use figaro_domain::task::Task;

/// Erases all other data of a private chat and its person; the messages are erased already. What is found by its chat goes as
/// its table declares; other records are found here.
pub(super) fn of_chat(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    erased: &mut Erased,
    chat: ChatId,
    user: &UserId,
) -> Result<(), StoreFault> {
    let place = key::chat(chat);
    for (name, _) in KEYED.iter().filter(|(_, by)| *by == KeyedBy::Chat) {
        // Unreadable records, too.
        let table: Table<'_, Value> = Table::new(name, tables.snapshot);
        for key in table.keys_of(&place)? {
            changes.remove(&table, key?);
        }
    }
    erased.notes += tables.notes.keys_of(&place)?.count();
    erased.records += tables.records.keys_of(&place)?.count();
    erased.personas += tables.personas.keys_of(&place)?.count();
    external::forget(tables, changes, &place)?;
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
