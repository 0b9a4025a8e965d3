//! What else holds something of erased messages: calls, answers on their way, quotes in other messages, what tools have read of
//! them, the index, and what could not be read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use chrono::{DateTime, Utc};

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::snapshot::QUARANTINE;
use super::super::super::table::Table;
use super::super::super::tables::Tables;
use super::super::{children, index, write};
use super::found::Found;
use super::parts::{self, Looks};
use super::to_erase::ToErase;
use crate::engine::Keys;
use figaro_base::ids::{MessageId, RunId, SessionId};
use figaro_domain::conversation::{Message, Role, Session};
use figaro_domain::message::Quoted;

/// Stands in the record of each result of a tool.
const RESULT: &str = "\"tool_call_id\":";
/// Stands in the record of each message with a quote.
const QUOTES: &str = "\"quotes\":{\"message\":";
/// What stands in the place of such a result.
const FORGOTTEN: &str = r#"{"success":false,"error":"what was read here was forgotten since"}"#;

/// Clears what holds something of erased messages.
pub(super) fn clear(tables: &Tables<'_>, changes: &mut Changes<'_>, found: &Found) -> Result<(), Fault> {
    let Found { to_erase, traces, sessions } = found;
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

/// The records of a turn beside its messages.
fn of_turn(tables: &Tables<'_>, changes: &mut Changes<'_>, turn: RunId) -> Result<(), Fault> {
    for key in tables.calls.keys_of(&key::id(turn))? {
        changes.remove(&tables.calls, key?);
    }
    changes.remove(&tables.parked, key::id(turn));
    changes.remove(&tables.config_changes, key::id(turn));
    changes.remove(&tables.undos, key::id(turn));
    children::remove_all(tables, changes, turn)?;
    write::forget_live(tables, changes, turn, 0)
}

/// Updates of the chat that could not be read, and records that cannot be: nobody knows what is in them.
fn unreadable(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    sessions: &[SessionId],
) -> Result<(), Fault> {
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

/// Finds quotes of what goes, and results of tools that may have read it, in the messages of these sessions that stay.
pub(super) fn find(
    store: &impl Looks,
    to_erase: &ToErase,
    sessions: &[Session],
) -> Result<Vec<Message>, Fault> {
    let (gone, since) = (to_erase.telegram(), to_erase.since());
    let mut traces = Vec::new();
    for session in sessions.iter().filter(|session| !to_erase.has_session(session.id)) {
        parts::each(store, session.id, 0, |tables, (key, bytes)| {
            // Few have any of these, and decoding all messages of a long chat takes long.
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

/// The message without what it has of what goes; `None` if it has nothing.
fn without_trace(
    mut message: Message,
    gone: &BTreeSet<MessageId>,
    since: Option<DateTime<Utc>>,
) -> Option<Message> {
    let has_quoted = message.quotes.take_if(|quoted| is_of(quoted, gone)).is_some();
    let has_read = since.is_some_and(|since| forget_read(&mut message, since));
    (has_quoted || has_read).then_some(message)
}

/// Clears the result of a tool that may have read something of this time or later, with its arguments; `true` if it is one.
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

/// Clears the record of the call that this is the cleared result of.
fn forget_call(tables: &Tables<'_>, changes: &mut Changes<'_>, read: &Message) -> Result<(), Fault> {
    let Some(tool) = read.tool.as_ref().filter(|_| read.text == FORGOTTEN) else { return Ok(()) };
    let before = Keys::before(key::message(read.session, read.index), &key::id(read.session));
    let mut earlier = tables.messages.scan_range(&before)?.rev().map(|item| item.map(|(_, message)| message));
    let question =
        earlier.find(|message| message.as_ref().map_or(true, |message| message.role == Role::User));
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

/// Quotes of what goes in messages beside the bot.
fn in_background(tables: &Tables<'_>, changes: &mut Changes<'_>, to_erase: &ToErase) -> Result<(), Fault> {
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
