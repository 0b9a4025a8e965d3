//! Pins: added by people and by rules, updated with their source, and those of Figaro itself.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, MemoryId, MessageId, PinId, SessionId, UserId};
use figaro_domain::conversation::{ConversationId, EntryKey, Session};
use figaro_domain::memory::Memory;
use figaro_domain::pin::{Pin, PinType, SystemPin};
use figaro_domain::pinning::{self, Adding, PinEditEffect};
use figaro_domain::profile::{Consent, UserProfile};
use figaro_domain::record::ImportanceRules;

/// Result of adding a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinAdded {
    /// Stored as a new pin.
    New,
    /// The chat already has a pin with the same words, with this id; nothing was stored.
    Already(PinId),
    /// The chat has the maximum of pins; nothing was stored.
    Full,
}

pub(crate) fn put(tables: &Tables<'_>, changes: &mut Changes<'_>, pin: &Pin) -> Result<(), StoreFault> {
    changes.put(&tables.pins, key::pin(pin.chat, pin.id), pin)
}

/// Returns a pin of a chat, unless it is Figaro's own.
pub(crate) fn of_people(tables: &Tables<'_>, chat: ChatId, pin: PinId) -> Result<Option<Pin>, StoreFault> {
    Ok(tables.pins.get(&key::pin(chat, pin))?.filter(|pin| pin.about.is_none()))
}

/// Adds a pin, if there is room for it.
pub(crate) fn add(tables: &Tables<'_>, changes: &mut Changes<'_>, pin: &Pin) -> Result<PinAdded, StoreFault> {
    let mut kept = tables.pins.list(&key::chat(pin.chat))?;
    add_to(&mut kept, tables, changes, pin)
}

/// Pins vital statements in the messages of a question. The same words are pinned once, with the latest source.
pub(super) fn add_vital(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    pins: &[Pin],
) -> Result<(), StoreFault> {
    let Some(first) = pins.first() else { return Ok(()) };
    let mut kept = tables.pins.list(&key::chat(first.chat))?;
    for pin in pins {
        // People who refused memories pin by hand only.
        if let Some(user) = &pin.author
            && let Some(profile) = tables.profiles.find(&key::user(user))?
            && profile.consent == Consent::Refused
        {
            continue;
        }
        let PinAdded::Already(id) = add_to(&mut kept, tables, changes, pin)? else { continue };
        let known = kept.iter_mut().find(|kept| kept.id == id && kept.pin_type == PinType::Auto);
        if let Some(known) = known {
            let importance = known.importance;
            *known = Pin { id, importance, ..pin.clone() };
            put(tables, changes, known)?;
        }
    }
    Ok(())
}

fn add_to(
    kept: &mut Vec<Pin>,
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    pin: &Pin,
) -> Result<PinAdded, StoreFault> {
    let leaves = match pinning::adding(kept, pin) {
        Adding::Already(id) => return Ok(PinAdded::Already(id)),
        Adding::Full => return Ok(PinAdded::Full),
        Adding::New(leaves) => leaves,
    };
    if let Some(leaves) = leaves {
        kept.retain(|kept| kept.id != leaves);
        changes.remove(&tables.pins, key::pin(pin.chat, leaves));
    }
    put(tables, changes, pin)?;
    kept.push(pin.clone());
    Ok(PinAdded::New)
}

/// Updates the pin of a lasting preference to the words of its memory. Removes it with the memory, unless the memory was
/// dropped only because of the limit.
pub(super) fn follow_memory(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    memory: &Memory,
    has_expired: bool,
) -> Result<(), StoreFault> {
    let Some(chat) = memory.user.telegram_id().map(ChatId) else { return Ok(()) };
    let mut kept = tables.pins.list(&key::chat(chat))?;
    let known = kept.iter().find(|pin| pin.memory == Some(memory.id)).cloned();
    let source = tables.messages.find(&key::message(memory.source.session, memory.source.index))?;
    let source = source.filter(|message| message.id == memory.source_message_id);
    match (pinning::preference(memory, source.as_ref()), known) {
        (Some(pin), Some(known)) if pin.content != known.content => {
            put(tables, changes, &Pin { id: known.id, importance: known.importance, ..pin })
        }
        (Some(pin), None) => add_to(&mut kept, tables, changes, &pin).map(drop),
        (None, Some(known)) if !has_expired => {
            changes.remove(&tables.pins, key::pin(chat, known.id));
            Ok(())
        }
        (Some(_) | None, _) => Ok(()),
    }
}

/// Deletes the pins made from memories of a person that are deleted for good; of all memories with `None`.
pub(crate) fn remove_of_memories(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    user: &UserId,
    gone: Option<&BTreeSet<MemoryId>>,
) -> Result<usize, StoreFault> {
    let Some(chat) = user.telegram_id().map(ChatId) else { return Ok(0) };
    let mut removed = 0;
    for pin in tables.pins.list(&key::chat(chat))? {
        let is_gone = pin.memory.is_some_and(|memory| gone.is_none_or(|gone| gone.contains(&memory)));
        if is_gone {
            changes.remove(&tables.pins, key::pin(chat, pin.id));
            removed += 1;
        }
    }
    Ok(removed)
}

/// Edit of a message.
pub(crate) struct Edit<'a> {
    pub(crate) message: MessageId,
    /// Words after the edit.
    pub(crate) words: &'a str,
    /// Rules of packs in its chat.
    pub(crate) rules: &'a ImportanceRules,
}

/// Updates the pins of an edited message.
pub(crate) fn follow(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    Edit { message, words, rules }: Edit<'_>,
) -> Result<(), StoreFault> {
    let pins = tables.pins.list(&key::chat(chat))?;
    for pin in pins.iter().filter(|pin| pin.telegram == Some(message)) {
        match pinning::followed(pin, words, rules) {
            PinEditEffect::Same => {}
            PinEditEffect::Changed(pin) => put(tables, changes, &pin)?,
            PinEditEffect::Gone => changes.remove(&tables.pins, key::pin(chat, pin.id)),
        }
    }
    Ok(())
}

/// Deletes automatic pins of this and all later messages of a session, which are taken back.
pub(super) fn take_back(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    first: EntryKey,
) -> Result<(), StoreFault> {
    let Some(session) = tables.sessions.find(&key::id(first.session))? else { return Ok(()) };
    let chat = session.conversation.chat;
    let is_from = |source: EntryKey| source.session == first.session && source.index >= first.index;
    for pin in tables.pins.list(&key::chat(chat))? {
        let is_by_itself = matches!(pin.pin_type, PinType::Auto | PinType::Concept);
        if is_by_itself && pin.source.is_some_and(is_from) {
            changes.remove(&tables.pins, key::pin(chat, pin.id));
        }
    }
    Ok(())
}

/// Pins a person's consent in their private chat, until they withdraw it.
pub(crate) fn consent_changed(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    profile: &UserProfile,
    now: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let Some(chat) = profile.user.telegram_id().map(ChatId) else { return Ok(()) };
    let words = now.format(SystemPin::TIME).to_string();
    let session = anywhere(tables, chat)?;
    let pin = Pin::consent(profile.user.clone(), chat, session, words, now);
    if profile.consent == Consent::Given {
        keep(tables, changes, pin)
    } else {
        drop_replaced(tables, changes, &pin)
    }
}

/// Returns the current session of a chat. Figaro's own pins apply in all sessions, even before the first.
fn anywhere(tables: &Tables<'_>, chat: ChatId) -> Result<SessionId, StoreFault> {
    let current = tables.current.find(&key::conversation(ConversationId { chat, topic: None }))?;
    Ok(current.unwrap_or(SessionId::from_bytes([0; 16])))
}

/// Removes the pin that this one would replace.
fn drop_replaced(tables: &Tables<'_>, changes: &mut Changes<'_>, pin: &Pin) -> Result<(), StoreFault> {
    let kept = tables.pins.list(&key::chat(pin.chat))?;
    let gone = kept.iter().filter(|kept| pin.replaces(kept));
    gone.for_each(|gone| changes.remove(&tables.pins, key::pin(pin.chat, gone.id)));
    Ok(())
}

/// Stores a pin of Figaro's own, replacing its predecessor.
pub(crate) fn keep(tables: &Tables<'_>, changes: &mut Changes<'_>, mut pin: Pin) -> Result<(), StoreFault> {
    let kept = tables.pins.list(&key::chat(pin.chat))?;
    if let Some(known) = kept.iter().find(|kept| pin.replaces(kept)) {
        pin.id = known.id;
    }
    put(tables, changes, &pin)
}

/// Pins the zone of a chat, or removes the pin if it has none.
pub(crate) fn zone_changed(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    zone: Option<Tz>,
    now: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let session = anywhere(tables, chat)?;
    let words = zone.map_or_else(String::new, |zone| zone.name().to_owned());
    let pin = Pin::system(SystemPin::Zone, chat, session, words, now);
    if zone.is_some() { keep(tables, changes, pin) } else { drop_replaced(tables, changes, &pin) }
}

/// Pins the start and name of the current session of a conversation.
pub(crate) fn session_began(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    session: &Session,
) -> Result<(), StoreFault> {
    let ConversationId { chat, topic } = session.conversation;
    let began = session.created_at.format(SystemPin::TIME);
    let words = match &session.name {
        Some(name) => format!("{} ({began})", name.text),
        None => began.to_string(),
    };
    let about = SystemPin::Session(topic);
    keep(tables, changes, Pin::system(about, chat, session.id, words, session.created_at))
}
