//! What else holds something of erased messages: calls, answers on their way, quotes in other messages, what tools have read of
//! them, the index, and what could not be read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::super::super::changes::Changes;
use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::snapshot::QUARANTINE;
use super::super::super::table::Table;
use super::super::super::tables::Tables;
use super::super::{children, index, write};
use super::found::{Found, Trace};
use super::needles::Needles;
use super::parts::{self, Looks};
use super::to_erase::ToErase;
use super::tried::Tried;
use crate::engine::Keys;
use figaro_base::ids::{MessageId, RecordId, RunId};
use figaro_domain::conversation::{Message, Role, Session};
use figaro_domain::message::Quoted;
use figaro_domain::observation::Observation;
use figaro_domain::tool::ToolCall;

/// Parts of a text with fewer bytes are not looked for in results of tools.
const MIN_PART: usize = 12;
/// Stands in the record of each result of a tool.
const RESULT: &str = "\"tool_call_id\":";
/// Stands in the record of each message with a quote.
const QUOTES: &str = "\"quotes\":{\"message\":";
/// Stands in the record of each message about which something was noted.
const NOTED: &str = "\"observation\":";
/// What stands in the place of such a result.
const FORGOTTEN: &str = r#"{"success":false,"error":"what was read here was forgotten since"}"#;

/// Clears what holds something of erased messages.
pub(super) fn clear(tables: &Tables<'_>, changes: &mut Changes<'_>, found: &Found) -> Result<(), Fault> {
    let Found { to_erase, texts, parts, tried, traces, .. } = found;
    let words = Words { parts, tried };
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
    copies(tables, changes, to_erase, texts)?;
    unreadable(tables, changes, to_erase, texts)?;
    for Trace { message, has_read } in traces {
        changes.put(&tables.messages, key::message(message.session, message.index), message)?;
        if *has_read {
            forget_read(tables, changes, message, words)?;
        }
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

/// What other turns of the chat that wait, changed settings, or did what can be taken back, say with the same words.
fn copies(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    texts: &Needles,
) -> Result<(), Fault> {
    for (key, parked) in tables.parked.scan(&[])?.collect::<Result<Vec<_>, _>>()? {
        if parked.turn.conversation.chat == to_erase.chat {
            remove_if_copy(changes, &tables.parked, key, texts)?;
        }
    }
    for (key, change) in tables.config_changes.scan(&[])?.collect::<Result<Vec<_>, _>>()? {
        if change.chat == to_erase.chat {
            remove_if_copy(changes, &tables.config_changes, key, texts)?;
        }
    }
    children::forget_words(tables, changes, to_erase.chat, |bytes| texts.stand_in(bytes))?;
    for undo in tables.undos.list(&[])? {
        if undo.asked_in == to_erase.chat {
            remove_if_copy(changes, &tables.undos, key::id(undo.run), texts)?;
        }
    }
    Ok(())
}

fn remove_if_copy<T: serde::de::DeserializeOwned>(
    changes: &mut Changes<'_>,
    table: &Table<'_, T>,
    key: Vec<u8>,
    texts: &Needles,
) -> Result<(), Fault> {
    if table.raw(&key)?.is_some_and(|bytes| texts.stand_in(&bytes)) {
        changes.remove(table, key);
    }
    Ok(())
}

/// Updates of the chat that could not be read, and records that cannot be: nobody knows what is in them.
fn unreadable(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    to_erase: &ToErase,
    texts: &Needles,
) -> Result<(), Fault> {
    let chat = to_erase.chat.to_string();
    for item in tables.unreadable.scan(&[])? {
        let (key, aside) = item?;
        if aside.text.contains(&chat) {
            changes.remove(&tables.unreadable, key);
        }
    }
    let of_chat = key::chat(to_erase.chat);
    let ids: Vec<Vec<u8>> =
        to_erase.whole_sessions().map(key::id).chain(to_erase.turns.iter().map(key::id)).collect();
    let quarantine: Table<'_, serde_json::Value> = Table::new(QUARANTINE, tables.snapshot);
    for entry in quarantine.entries(&[])? {
        let (key, bytes) = entry?;
        let place = key.iter().position(|byte| *byte == 0).map_or(&key[..], |zero| &key[zero + 1..]);
        let is_of_chat = to_erase.is_all && place.starts_with(&of_chat);
        if is_of_chat || ids.iter().any(|id| place.starts_with(id)) || texts.stand_in(&bytes) {
            changes.remove(&quarantine, key);
        }
    }
    Ok(())
}

/// Finds quotes of what goes, and what tools have read, in the messages of these sessions that stay.
pub(super) fn find(
    store: &impl Looks,
    to_erase: &ToErase,
    words: Words<'_>,
    sessions: &[Session],
) -> Result<Vec<Trace>, Fault> {
    let gone = to_erase.telegram();
    let marks = Needles::of([RESULT, QUOTES, NOTED].map(str::to_owned));
    let mut traces = Vec::new();
    for session in sessions.iter().filter(|session| !to_erase.has_session(session.id)) {
        parts::each(store, session.id, 0, |tables, (key, bytes)| {
            // Few have any of these, and decoding all messages of a long chat takes long.
            let message = marks.stand_in(&bytes).then(|| tables.messages.decode(&key, bytes)).flatten();
            let message = message.filter(|message| !to_erase.has(message.key()));
            traces.extend(message.and_then(|message| trace_in(message, &gone, words)));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(traces)
}

fn trace_in(mut message: Message, gone: &BTreeSet<MessageId>, words: Words<'_>) -> Option<Trace> {
    let has_quoted = message.quotes.take_if(|quoted| is_of(quoted, gone)).is_some();
    let has_read = message
        .tool
        .as_ref()
        .is_some_and(|tool| words.are_read(&tool.tool_name, &tool.tool_arguments, &message.text));
    if has_read {
        FORGOTTEN.clone_into(&mut message.text);
        if let Some(tool) = &mut message.tool {
            "{}".clone_into(&mut tool.tool_arguments);
            tool.side_effects.said.clear();
            tool.side_effects.observation = None;
        }
    }
    let repeats = |noted: &mut Box<Observation>| {
        serde_json::to_string(noted).is_ok_and(|noted| words.parts.stand_in(noted.as_bytes()))
    };
    let has_noted = message.observation.take_if(repeats).is_some();
    (has_quoted || has_read || has_noted).then_some(Trace { message, has_read })
}

fn is_of(quoted: &Quoted, gone: &BTreeSet<MessageId>) -> bool {
    quoted.message.is_some_and(|message| gone.contains(&message))
}

/// The sentences and lines of texts as they stand in JSON, and as they are: tools give whole messages, or some sentences of them.
/// With them the ids of records that lose something: tools tell what stood in their fields in other words than were said.
pub(super) fn sentences(texts: &[String], records: &BTreeSet<RecordId>) -> Needles {
    let ends = |c: char| ['.', '!', '?', '。', '\n'].contains(&c);
    let cut = texts.iter().flat_map(|text| text.split("\\n").flat_map(move |line| line.split(ends)));
    let long = cut.map(|part| part.trim().trim_end_matches('\\')).filter(|part| part.len() >= MIN_PART);
    let parts: Vec<String> = texts.iter().map(String::as_str).chain(long).map(str::to_owned).collect();
    let plain = parts.iter().filter_map(|part| serde_json::from_str(&format!("\"{part}\"")).ok());
    let plain: Vec<String> = plain.collect();
    let ids = records.iter().map(RecordId::to_string);
    Needles::of(parts.into_iter().chain(plain).chain(ids))
}

/// By what a call is known to have read or repeated what goes.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    /// What was said, and its sentences.
    pub(super) parts: &'a Needles,
    /// What calls that named no record may repeat.
    pub(super) tried: &'a Tried,
}

impl Words<'_> {
    /// Whether a call of this tool has something of what goes.
    fn are_read(self, tool: &str, arguments: &str, result: &str) -> bool {
        [arguments, result].iter().any(|words| self.parts.stand_in(words.as_bytes()))
            || self.tried.repeats(tool, arguments, result)
    }
}

/// The records of the calls of the turn that a message belongs to, as far as they read what was said.
fn forget_read(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    read: &Message,
    words: Words<'_>,
) -> Result<(), Fault> {
    let place = read.key();
    let has_read = |call: &ToolCall| read.tool.as_ref().is_some_and(|tool| tool.tool_call_id == call.call.id);
    let before = Keys::before(key::message(place.session, place.index), &key::id(place.session));
    for item in tables.messages.scan_range(&before)?.rev() {
        let (_, message) = item?;
        if message.role != Role::User {
            continue;
        }
        let Some(turn) = message.turn else { return Ok(()) };
        for item in tables.calls.scan(&key::id(turn))? {
            let (key, mut call) = item?;
            let result = call.result.clone().unwrap_or_default();
            if has_read(&call) || words.are_read(&call.call.name, &call.call.arguments, &result) {
                "{}".clone_into(&mut call.call.arguments);
                call.result = call.result.map(|_| FORGOTTEN.to_owned());
                changes.put(&tables.calls, key, &call)?;
            }
        }
        return Ok(());
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
