//! What the model made in answering messages that are forgotten: notes, tasks, texts of settings and profiles. Every prompt
//! would go on showing them, and a task says its words when it runs. What another message asked for stays, and so does
//! what people set themselves.

use std::collections::BTreeSet;

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::tasks;
use super::everything::remove_task;
use super::to_erase::ToErase;
use figaro_base::ids::UserId;
use figaro_domain::conversation::Role;
use figaro_domain::erasure::Erased;

/// Removes the notes and tasks that were made for the questions that go. Gives how many in `erased`.
pub(super) fn lists(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    erased: &mut Erased,
) -> Result<(), Fault> {
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

/// Takes away the texts that were written for these questions, and the changes of settings that could bring them back.
pub(super) fn texts(tables: &Tables<'_>, changes: &mut Changes<'_>, to_erase: &ToErase) -> Result<(), Fault> {
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
    let said = to_erase.messages().filter(|message| message.role == Role::User);
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
