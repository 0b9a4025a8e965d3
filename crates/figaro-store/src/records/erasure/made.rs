//! Data that the model created while answering erased messages: notes, tasks, texts of settings and profiles. Otherwise
//! every prompt would still show them, and tasks would still send them. Data requested by other messages stays, and so do
//! people's own settings.

use std::collections::BTreeSet;

use super::super::super::changes::Changes;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::tasks;
use super::everything::remove_task;
use super::to_erase::ToErase;
use figaro_base::ids::UserId;
use figaro_domain::conversation::MessageRole;
use figaro_domain::erasure::Erased;

/// Deletes the notes and tasks created for the erased questions. Adds their numbers to `erased`.
pub(super) fn lists(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    erased: &mut Erased,
) -> Result<(), StoreFault> {
    for item in tables.notes.scan(&key::chat(to_erase.chat))? {
        let (key, note) = item?;
        if note.turn.is_some_and(|turn| to_erase.asked.contains(&turn)) {
            changes.remove(&tables.notes, key);
            erased.notes += 1;
        }
    }
    for task in tasks::of_chat(tables, to_erase.chat)? {
        if task.made_in.iter().any(|turn| to_erase.asked.contains(turn)) {
            remove_task(tables, changes, erased, &task)?;
        }
    }
    Ok(())
}

/// Clears the texts written for these questions, and the setting changes that could restore them.
pub(super) fn texts(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
) -> Result<(), StoreFault> {
    let (turns, place) = (&to_erase.asked, key::chat(to_erase.chat));
    if let Some(mut config) = tables.chats.find(&place)?
        && config.forget_turns(turns)
    {
        changes.put(&tables.chats, place, &config)?;
    }
    for item in tables.config_changes.scan(&[])? {
        let (key, mut change) = item?;
        if change.before.forget_turns(turns) || change.after.forget_turns(turns) {
            changes.remove(&tables.config_changes, key);
        }
    }
    let said = to_erase.messages().filter(|message| message.role == MessageRole::User);
    let people: BTreeSet<&UserId> =
        said.filter_map(|message| message.speaker.as_ref()).map(|who| &who.user).collect();
    for user in people {
        let key = key::user(user);
        let Some(mut profile) = tables.profiles.find(&key)? else { continue };
        if profile.forget_turns(to_erase.chat, turns) {
            changes.put(&tables.profiles, key, &profile)?;
        }
    }
    Ok(())
}
