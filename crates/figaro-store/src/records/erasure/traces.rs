//! Other traces of erased messages: calls, answers in delivery, quotes, tool results that read them, the index, and
//! unreadable records.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use chrono::{DateTime, Utc};

use super::super::super::changes::Changes;
use super::super::super::fault::StoreFault;
use super::super::super::key;
use super::super::super::snapshot::QUARANTINE;
use super::super::super::table::Table;
use super::super::super::tables::Tables;
use super::super::{children, index, write};
use super::found::ErasureMatches;
use super::parts::{self, Looks};
use super::to_erase::ToErase;
use crate::engine::Keys;
use figaro_base::ids::{MessageId, RunId, SessionId};
use figaro_domain::conversation::{Message, MessageRole, Session};
use figaro_domain::message::Quoted;

/// Part of the record of every tool result.
const RESULT: &str = "\"tool_call_id\":";
/// Part of the record of every message with a quote.
const QUOTES: &str = "\"quotes\":{\"message\":";
/// Replacement of an erased tool result.
const FORGOTTEN: &str = r#"{"success":false,"error":"what was read here was forgotten since"}"#;

/// Clears the records with traces of erased messages.
pub(super) fn clear(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    found: &ErasureMatches,
) -> Result<(), StoreFault> {
    let ErasureMatches { to_erase, traces, sessions } = found;
    if to_erase.is_empty() {
        return Ok(());
    }
    for turn in &to_erase.turns {
        of_turn(tables, changes, *turn)?;
    }
    let entries = to_erase.entries();
    for entry in &entries {
        changes.remove(&tables.imported, key::id(*entry));
    }
    for (key, outgoing) in tables.deliveries.scan(&[])?.collect::<Result<Vec<_>, _>>()? {
        let delivery = outgoing.delivery;
        if delivery.entry.is_some_and(|entry| entries.contains(&entry))
            || to_erase.turns.contains(&delivery.run)
        {
            changes.remove(&tables.deliveries, key);
        }
    }
    unreadable(tables, changes, to_erase, sessions)?;
    for message in traces {
        changes.put(&tables.messages, key::message(message.session, message.index), message)?;
        forget_call(tables, changes, message)?;
    }
    if let Some(since) = to_erase.since() {
        children::forget_read(tables, changes, to_erase.chat, |message| forget_read(message, since))?;
    }
    in_background(tables, changes, to_erase)?;
    index::drop_all(tables, changes, to_erase.chat)
}

/// Deletes the records of a turn besides its messages.
fn of_turn(tables: &Tables<'_>, changes: &mut Changes<'_>, turn: RunId) -> Result<(), StoreFault> {
    for key in tables.calls.keys_of(&key::id(turn))? {
        changes.remove(&tables.calls, key?);
    }
    changes.remove(&tables.parked, key::id(turn));
    changes.remove(&tables.config_changes, key::id(turn));
    changes.remove(&tables.undos, key::id(turn));
    children::remove_all(tables, changes, turn)?;
    write::forget_live(tables, changes, turn, 0)
}

/// Deletes unreadable updates and records of the chat: their contents are unknown.
fn unreadable(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    sessions: &[SessionId],
) -> Result<(), StoreFault> {
    let chat = to_erase.chat.to_string();
    for item in tables.unreadable.scan(&[])? {
        let (key, aside) = item?;
        if aside.text.contains(&chat) {
            changes.remove(&tables.unreadable, key);
        }
    }
    let ids = sessions.iter().map(key::id).chain(to_erase.turns.iter().map(key::id));
    let beginnings: Vec<Vec<u8>> = ids.chain([key::chat(to_erase.chat)]).collect();
    let quarantine: Table<'_, serde_json::Value> = Table::new(QUARANTINE, tables.snapshot);
    for key in quarantine.keys_of(&[])? {
        let key = key?;
        let place = key.iter().position(|byte| *byte == 0).map_or(&key[..], |zero| &key[zero + 1..]);
        if beginnings.iter().any(|beginning| place.starts_with(beginning)) {
            changes.remove(&quarantine, key);
        }
    }
    Ok(())
}

/// Finds quotes of erased messages, and tool results that may have read them, in the remaining messages of these
/// sessions.
pub(super) fn find(
    store: &impl Looks,
    to_erase: &ToErase,
    sessions: &[Session],
) -> Result<Vec<Message>, StoreFault> {
    let (gone, since) = (to_erase.telegram(), to_erase.since());
    let mut traces = Vec::new();
    for session in sessions.iter().filter(|session| !to_erase.has_session(session.id)) {
        parts::each(store, session.id, 0, |tables, (key, bytes)| {
            // Few messages have either, and decoding all messages of a long chat takes long.
            let text = std::str::from_utf8(&bytes).unwrap_or_default();
            if text.contains(RESULT) || text.contains(QUOTES) {
                let message = tables.messages.decode(&key, bytes);
                let message = message.filter(|message| !to_erase.has(message.key()));
                traces.extend(message.and_then(|message| without_trace(message, &gone, since)));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(traces)
}

/// Returns the message without traces of erased data; `None` if it has none.
fn without_trace(
    mut message: Message,
    gone: &BTreeSet<MessageId>,
    since: Option<DateTime<Utc>>,
) -> Option<Message> {
    let has_quoted = message.quotes.take_if(|quoted| is_of(quoted, gone)).is_some();
    let has_read = since.is_some_and(|since| forget_read(&mut message, since));
    (has_quoted || has_read).then_some(message)
}

/// Clears a tool result that may have read something of this time or later, with its arguments; `true` if it did.
fn forget_read(message: &mut Message, since: DateTime<Utc>) -> bool {
    let is_later = message.created_at >= since && message.text != FORGOTTEN;
    let Some(tool) = message.tool.as_mut().filter(|tool| is_later && !tool.side_effects.outside) else {
        return false;
    };
    FORGOTTEN.clone_into(&mut message.text);
    "{}".clone_into(&mut tool.tool_arguments);
    tool.side_effects.said.clear();
    tool.side_effects.observation = None;
    true
}

fn is_of(quoted: &Quoted, gone: &BTreeSet<MessageId>) -> bool {
    quoted.message.is_some_and(|message| gone.contains(&message))
}

/// Clears the call record of a cleared result.
fn forget_call(tables: &Tables<'_>, changes: &mut Changes<'_>, read: &Message) -> Result<(), StoreFault> {
    let Some(tool) = read.tool.as_ref().filter(|_| read.text == FORGOTTEN) else { return Ok(()) };
    let before = Keys::before(key::message(read.session, read.index), &key::id(read.session));
    let mut earlier = tables.messages.scan_range(&before)?.rev().map(|item| item.map(|(_, message)| message));
    let question =
        earlier.find(|message| message.as_ref().map_or(true, |message| message.role == MessageRole::User));
    let Some(turn) = question.transpose()?.and_then(|question| question.turn) else { return Ok(()) };
    for item in tables.calls.scan(&key::id(turn))? {
        let (key, mut call) = item?;
        if call.call.id == tool.tool_call_id {
            "{}".clone_into(&mut call.call.arguments);
            call.result = call.result.map(|_| FORGOTTEN.to_owned());
            changes.put(&tables.calls, key, &call)?;
        }
    }
    Ok(())
}

/// Clears quotes of erased messages in background messages.
fn in_background(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
) -> Result<(), StoreFault> {
    let gone = to_erase.telegram();
    for item in tables.background.scan(&key::chat(to_erase.chat))? {
        let (key, mut message) = item?;
        let is_quoting = message.quotes.as_ref().is_some_and(|quoted| is_of(quoted, &gone));
        if is_quoting && !to_erase.has_background(&key) {
            message.quotes = None;
            changes.put(&tables.background, key, &message)?;
        }
    }
    Ok(())
}
