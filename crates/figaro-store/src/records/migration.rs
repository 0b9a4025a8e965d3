//! A chat that gets a new id, as a group does when it becomes a supergroup: its stored data moves.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::{access, children, index, parked, people, receptions, spending, tasks, undos};
use figaro_base::ids::ChatId;
use figaro_domain::access::AccessChange;

/// Moves everything that is not in progress: turns and deliveries end under the old id.
pub(crate) fn migrate(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    if from == to {
        return Ok(());
    }
    move_settings(tables, changes, from, to)?;
    move_config_changes(tables, changes, from, to)?;
    move_notes(tables, changes, from, to)?;
    move_records(tables, changes, from, to)?;
    move_documents(tables, changes, from, to)?;
    move_personas(tables, changes, from, to)?;
    move_pins(tables, changes, from, to)?;
    move_memories(tables, changes, from, to)?;
    move_sessions(tables, changes, from, to)?;
    move_background(tables, changes, from, to)?;
    // The index is rebuilt under the new id.
    index::drop_all(tables, changes, from)?;
    index::drop_all(tables, changes, to)?;
    receptions::drop_all(tables, changes, from)?;
    move_wishes(tables, changes, from, to)?;
    spending::migrate(tables, changes, from, to)?;
    people::migrate(tables, changes, from, to)?;
    tasks::migrate(tables, changes, from, to)?;
    parked::migrate(tables, changes, from, to)?;
    undos::migrate(tables, changes, from, to)?;
    children::migrate(tables, changes, from, to)?;
    access::apply(tables, changes, AccessChange::Migrate { from, to }).map(drop)
}

fn move_settings(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    let (old, new) = (key::chat(from), key::chat(to));
    let Some(config) = tables.chats.find(&old)? else {
        return Ok(());
    };
    if !tables.chats.contains(&new)? {
        changes.put(&tables.chats, new, &config)?;
    }
    changes.remove(&tables.chats, old);
    Ok(())
}

fn move_config_changes(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.config_changes.scan(&[])? {
        let (key, mut change) = item?;
        if change.chat == from {
            change.chat = to;
            changes.put(&tables.config_changes, &key, &change)?;
        }
    }
    Ok(())
}

fn move_notes(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    let kept = tables.notes.list(&key::chat(to))?;
    for item in tables.notes.scan(&key::chat(from))? {
        let (old, mut note) = item?;
        note.chat = to;
        if !kept.iter().any(|other| other.says_the_same(&note)) {
            changes.put(&tables.notes, key::note(to, note.id), &note)?;
        }
        changes.remove(&tables.notes, old);
    }
    Ok(())
}

/// Moves all records, because others refer to them.
fn move_records(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.records.scan(&key::chat(from))? {
        let (old, mut record) = item?;
        record.chat = to;
        changes.put(&tables.records, key::record(to, record.id), &record)?;
        changes.remove(&tables.records, old);
    }
    Ok(())
}

fn move_documents(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.documents.scan(&key::chat(from))? {
        let (old, mut document) = item?;
        document.chat = to;
        // The messages of the old group have other ids than those of the new one.
        document.sources.iter_mut().for_each(|source| source.telegram = None);
        changes.put(&tables.documents, key::moved(&old, to), &document)?;
        changes.remove(&tables.documents, old);
    }
    for item in tables.passages.scan(&key::chat(from))? {
        let (old, passage) = item?;
        changes.put(&tables.passages, key::moved(&old, to), &passage)?;
        changes.remove(&tables.passages, old);
    }
    Ok(())
}

/// Moves all personas, since the settings may name any of them. Questions for words stay behind: nobody replies to them
/// in the new chat.
fn move_personas(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.personas.scan(&key::chat(from))? {
        let (old, mut persona) = item?;
        persona.chat = to;
        changes.put(&tables.personas, key::persona(to, persona.id), &persona)?;
        changes.remove(&tables.personas, old);
    }
    for item in tables.persona_questions.scan(&key::chat(from))? {
        changes.remove(&tables.persona_questions, item?.0);
    }
    Ok(())
}

fn move_pins(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    let kept = tables.pins.list(&key::chat(to))?;
    for item in tables.pins.scan(&key::chat(from))? {
        let (old, mut pin) = item?;
        pin.chat = to;
        // The messages of the old group have other ids than those of the new one.
        pin.telegram = None;
        // A pin of Figaro's own exists once per chat.
        if !kept.iter().any(|kept| pin.replaces(kept)) {
            changes.put(&tables.pins, key::pin(to, pin.id), &pin)?;
        }
        changes.remove(&tables.pins, old);
    }
    Ok(())
}

/// Updates the chat of memories, since a memory is used only in its own chat.
fn move_memories(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.memories.scan(&[])? {
        let (key, mut memory) = item?;
        if memory.chat == from {
            memory.chat = to;
            changes.put(&tables.memories, &key, &memory)?;
        }
    }
    Ok(())
}

/// Moves the current sessions of a chat, which are found by its id, and updates the chat in all others.
fn move_sessions(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.sessions.scan(&[])? {
        let (key, mut session) = item?;
        if session.conversation.chat == from {
            changes.remove(&tables.sessions_of, key::session_of(session.conversation, session.id));
            session.conversation.chat = to;
            changes.put(&tables.sessions_of, key::session_of(session.conversation, session.id), &())?;
            changes.put(&tables.sessions, &key, &session)?;
        }
    }
    for item in tables.current.scan(&key::chat(from))? {
        let (old, session) = item?;
        let new = key::moved(&old, to);
        if !tables.current.contains(&new)? {
            changes.put(&tables.current, new, &session)?;
        }
        changes.remove(&tables.current, old);
    }
    Ok(())
}

fn move_background(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.background.scan(&key::chat(from))? {
        let (old, mut message) = item?;
        message.place.chat = to;
        changes.put(&tables.background, key::moved(&old, to), &message)?;
        changes.remove(&tables.background, old);
    }
    Ok(())
}

/// Moves the wishes of people in a chat.
fn move_wishes(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    from: ChatId,
    to: ChatId,
) -> Result<(), StoreFault> {
    for item in tables.profiles.scan(&[])? {
        let (key, mut profile) = item?;
        if profile.migrate(from, to) {
            changes.put(&tables.profiles, &key, &profile)?;
        }
    }
    Ok(())
}
