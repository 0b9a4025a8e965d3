//! Pins: added by people and by rules, changed with their source, and those that Figaro itself keeps.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::changes::Changes;
use super::super::fault::Fault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ChatId, MemoryId, MessageId, PinId, SessionId, UserId};
use figaro_domain::conversation::{Conversation, EntryKey, Session};
use figaro_domain::memory::Memory;
use figaro_domain::pin::{Pin, PinType, SystemPin};
use figaro_domain::pinning::{self, Adding, Followed};
use figaro_domain::profile::{Consent, UserProfile};
use figaro_domain::record::Rules;

/// What became of a pin that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinAdded {
    /// It was stored.
    New,
    /// The chat has one with the same words, which stays; nothing was stored. Its id.
    Already(PinId),
    /// The chat has as many pins as it may; nothing was stored.
    Full,
}

/// Writes a pin.
pub(crate) fn put(tables: &Tables<'_>, changes: &mut Changes<'_>, pin: &Pin) -> Result<(), Fault> {
    changes.put(&tables.pins, key::pin(pin.chat, pin.id), pin)
}

/// A pin of a chat; none that Figaro itself keeps.
pub(crate) fn of_people(tables: &Tables<'_>, chat: ChatId, pin: PinId) -> Result<Option<Pin>, Fault> {
    Ok(tables.pins.get(&key::pin(chat, pin))?.filter(|pin| pin.about.is_none()))
}

/// Adds a pin, if there is room for it.
pub(crate) fn add(tables: &Tables<'_>, changes: &mut Changes<'_>, pin: &Pin) -> Result<PinAdded, Fault> {
    let mut kept = tables.pins.list(&key::chat(pin.chat))?;
    add_to(&mut kept, tables, changes, pin)
}

/// Adds what is vital in the messages of a question. Of the same words the source is the latest.
pub(super) fn add_vital(tables: &Tables<'_>, changes: &mut Changes<'_>, pins: &[Pin]) -> Result<(), Fault> {
    let Some(first) = pins.first() else { return Ok(()) };
    let mut kept = tables.pins.list(&key::chat(first.chat))?;
    for pin in pins {
        // Who wants nothing remembered pins by hand.
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
) -> Result<PinAdded, Fault> {
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

/// Has the pin of a lasting preference say what its memory says now. It goes when the memory does, but for one that went because there
/// were too many: that nobody took back.
pub(super) fn follow_memory(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    memory: &Memory,
    has_expired: bool,
) -> Result<(), Fault> {
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

/// Removes what was pinned of memories of a person that go for good, and of all with `None`.
pub(crate) fn remove_of_memories(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    user: &UserId,
    gone: Option<&BTreeSet<MemoryId>>,
) -> Result<usize, Fault> {
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

/// What a message says since it was edited.
pub(crate) struct Edit<'a> {
    /// The message.
    pub(crate) message: MessageId,
    /// Its words now.
    pub(crate) words: &'a str,
    /// What rules of packs hold in its chat.
    pub(crate) rules: &'a Rules,
}

/// Has the pins of an edited message say what it says now.
pub(crate) fn follow(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    Edit { message, words, rules }: Edit<'_>,
) -> Result<(), Fault> {
    let pins = tables.pins.list(&key::chat(chat))?;
    for pin in pins.iter().filter(|pin| pin.telegram == Some(message)) {
        match pinning::followed(pin, words, rules) {
            Followed::Same => {}
            Followed::Changed(pin) => put(tables, changes, &pin)?,
            Followed::Gone => changes.remove(&tables.pins, key::pin(chat, pin.id)),
        }
    }
    Ok(())
}

/// Removes what was pinned by itself from messages of a session that are taken back, this one and all behind it.
pub(super) fn take_back(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    first: EntryKey,
) -> Result<(), Fault> {
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

/// Keeps what a person has agreed to, in their private chat, until they take it back.
pub(crate) fn consent_changed(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    profile: &UserProfile,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
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

/// The session that goes on in a chat: what Figaro keeps of a chat holds in all sessions, also where there is none yet.
fn anywhere(tables: &Tables<'_>, chat: ChatId) -> Result<SessionId, Fault> {
    let current = tables.current.find(&key::conversation(Conversation { chat, topic: None }))?;
    Ok(current.unwrap_or(SessionId::from_bytes([0; 16])))
}

/// Removes the pin in whose place this one would be kept.
fn drop_replaced(tables: &Tables<'_>, changes: &mut Changes<'_>, pin: &Pin) -> Result<(), Fault> {
    let kept = tables.pins.list(&key::chat(pin.chat))?;
    let gone = kept.iter().filter(|kept| pin.replaces(kept));
    gone.for_each(|gone| changes.remove(&tables.pins, key::pin(pin.chat, gone.id)));
    Ok(())
}

/// Keeps a pin of Figaro's own in place of the one that it replaces.
pub(crate) fn keep(tables: &Tables<'_>, changes: &mut Changes<'_>, mut pin: Pin) -> Result<(), Fault> {
    let kept = tables.pins.list(&key::chat(pin.chat))?;
    if let Some(known) = kept.iter().find(|kept| pin.replaces(kept)) {
        pin.id = known.id;
    }
    put(tables, changes, &pin)
}

/// Keeps the zone that a chat is in now, or that it is in none.
pub(crate) fn zone_changed(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    zone: Option<Tz>,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let session = anywhere(tables, chat)?;
    let words = zone.map_or_else(String::new, |zone| zone.name().to_owned());
    let pin = Pin::system(SystemPin::Zone, chat, session, words, now);
    if zone.is_some() { keep(tables, changes, pin) } else { drop_replaced(tables, changes, &pin) }
}

/// Keeps when the session that goes on in a conversation began, and what it is called.
pub(crate) fn session_began(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    session: &Session,
) -> Result<(), Fault> {
    let Conversation { chat, topic } = session.conversation;
    let began = session.created_at.format(SystemPin::TIME);
    let words = match &session.name {
        Some(name) => format!("{} ({began})", name.text),
        None => began.to_string(),
    };
    let about = SystemPin::Session(topic);
    keep(tables, changes, Pin::system(about, chat, session.id, words, session.created_at))
}
