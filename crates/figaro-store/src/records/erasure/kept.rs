//! Data made of erased messages: pins, documents, summaries, memories.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::changes::Changes;
use super::super::super::documents;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::tables::Tables;
use super::super::{pins, summaries};
use super::found::ErasureMatches;
use figaro_base::ids::{EntryId, MemoryId, SessionId, UserId};
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::document::DocumentSource;
use figaro_domain::erasure::{Erased, Erasure};
use figaro_domain::memory::Memory;
use figaro_domain::pin::{Pin, PinType, SystemPin};
use figaro_domain::summary::Summary;

/// Erases data made of erased messages, and other such data of an erased chat or person. A summary loses all its words
/// and is made again of the remaining messages.
pub(super) fn made_of(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    found: &ErasureMatches,
    what: &Erasure,
    erased: &mut Erased,
) -> Result<(), StoreFault> {
    let to_erase = &found.to_erase;
    let (entries, telegram) = (to_erase.entries(), to_erase.telegram());
    let is_source = |id: Option<EntryId>, place: Option<EntryKey>| {
        id.is_some_and(|id| entries.contains(&id)) || place.is_some_and(|place| to_erase.has(place))
    };
    let is_pinned = |pin: &Pin| {
        let is_shown = pin.telegram.is_some_and(|message| telegram.contains(&message));
        // The pins of the zone and of consent apply in all sessions of the chat.
        let is_of_chat = matches!(pin.about, Some(SystemPin::Zone | SystemPin::Consent));
        (to_erase.has_session(pin.session) && !is_of_chat)
            || is_source(pin.source_message_id, pin.source)
            || pin.turn.is_some_and(|turn| to_erase.turns.contains(&turn))
            || is_shown
    };
    for item in tables.pins.scan(&key::chat(to_erase.chat))? {
        let (key, pin) = item?;
        if is_pinned(&pin) || is_theirs(&pin, what) {
            changes.remove(&tables.pins, key);
            // Figaro's own pins are not counted; people never see them among theirs.
            erased.pins += usize::from(pin.pin_type != PinType::System);
        }
    }
    for mut document in tables.documents.list(&key::chat(to_erase.chat))? {
        let before = document.sources.len();
        document.sources.retain(|source| {
            let is_erased = source.telegram.is_some_and(|message| telegram.contains(&message))
                || source.session.is_some_and(|session| to_erase.has_session(session))
                || source.turn.is_some_and(|turn| to_erase.asked.contains(&turn))
                || is_of_sender(source, what);
            !is_erased
        });
        if document.sources.is_empty() {
            documents::remove(tables, changes, &document)?;
            erased.documents += 1;
        } else if document.sources.len() < before {
            changes.put(&tables.documents, key::document(document.chat, document.id), &document)?;
        }
    }
    summed_up(tables, changes, found, erased)?;
    // No facts are taken from an erased message, even if a model is reading it now.
    for item in tables.unread.scan(&[])? {
        let (key, unread) = item?;
        if is_source(Some(unread.id), Some(unread.place)) {
            changes.remove(&tables.unread, key);
        }
    }
    let mut gone: BTreeMap<UserId, BTreeSet<MemoryId>> = BTreeMap::new();
    for item in tables.memories.scan(&[])? {
        let (key, memory) = item?;
        let is_made = memory.sources().any(|source| entries.contains(&source)) || to_erase.has(memory.source);
        if is_made || is_of_theirs(&memory, what) {
            changes.remove(&tables.memories, key);
            erased.memories += usize::from(memory.is_active());
            gone.entry(memory.user).or_default().insert(memory.id);
        }
    }
    // It may quote an earlier message too. The pin of a memory is in its person's own chat.
    for (user, gone) in gone {
        pins::remove_of_memories(tables, changes, &user, Some(&gone))?;
    }
    Ok(())
}

/// Clears the summaries of erased messages, and of messages with traces of them, to be made again of the rest. Those of
/// whole sessions go.
fn summed_up(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    ErasureMatches { to_erase, traces, .. }: &ErasureMatches,
    erased: &mut Erased,
) -> Result<(), StoreFault> {
    // A summary may repeat a result that has read the messages, or a quote of them.
    let touched: BTreeSet<SessionId> =
        to_erase.touched().into_iter().chain(traces.iter().map(|message| message.session)).collect();
    for session in touched {
        let is_whole = to_erase.has_session(session);
        let covers = |summary: &Summary| {
            let has_trace = |message: &Message| message.session == session && summary.covers(message.index);
            to_erase.has_any_of(session, summary.start..=summary.end) || traces.iter().any(has_trace)
        };
        for item in tables.summaries.scan(&key::id(session))? {
            let (key, summary) = item?;
            if is_whole {
                changes.remove(&tables.summaries, key);
            } else if covers(&summary) {
                summaries::make_stale(tables, changes, session, summary.start)?;
            } else {
                continue;
            }
            erased.summaries += usize::from(!summary.is_stale());
        }
        if is_whole {
            changes.remove(&tables.summary_jobs, key::id(session));
        }
    }
    Ok(())
}

/// Returns `true` if a pin is erased even if its message is not.
fn is_theirs(pin: &Pin, what: &Erasure) -> bool {
    match what {
        Erasure::Said(..) | Erasure::Session(..) => false,
        Erasure::Chat(..) => true,
        Erasure::Person(_, user) => pin.author.as_ref() == Some(user),
    }
}

/// Returns `true` if the source of a document is erased even if its message is not.
fn is_of_sender(source: &DocumentSource, what: &Erasure) -> bool {
    match what {
        Erasure::Said(..) | Erasure::Session(..) => false,
        Erasure::Chat(..) => true,
        Erasure::Person(_, user) => source.sender == *user,
    }
}

/// Returns `true` if a memory is erased with its person: in a private chat all of them, in a group those of the group.
fn is_of_theirs(memory: &Memory, what: &Erasure) -> bool {
    match what {
        Erasure::Said(..) | Erasure::Session(..) => false,
        Erasure::Chat(_, user) => memory.user == *user,
        Erasure::Person(chat, user) => memory.user == *user && memory.chat == *chat,
    }
}
