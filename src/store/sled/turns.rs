//! Turns from their question to their end, and the tool calls they make.

use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::tables::{Outgoing, Tables};
use super::{inbox, key, sessions};
use crate::domain::conversation::{Conversation, Message};
use crate::domain::message::Inbound;
use crate::domain::run::ActiveRun;
use crate::domain::tool::ToolCall;
use crate::ids::{BotId, EntryId, RunId, SessionId, UpdateId};
use crate::store::TurnEnd;

/// Appends the question and records the turn; a turn that has begun with this question already is returned as it is.
pub(super) fn begin(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    conversation: Conversation,
    (question, now): (&[Inbound], DateTime<Utc>),
) -> Result<ActiveRun, Fault> {
    let key = key::conversation(conversation);
    if let Some(run) = tables.runs.find(&key)? {
        if question.first().is_some_and(|first| run.updates.contains(&first.update)) {
            return Ok(run);
        }
        give_way(tables, changes, bot, (&run, question))?;
    }
    let session = sessions::current(tables, changes, conversation, now)?.id;
    let first_index = tables.messages.next_index(&key::id(session))?;
    let mut messages: Vec<_> = question.iter().map(|part| Message::from_inbound(session, part)).collect();
    sessions::append(tables, changes, &mut messages)?;
    let updates = question.iter().map(|part| part.update).collect();
    let run = ActiveRun { id: RunId::new(), conversation, session, updates, first_index, started_at: now };
    changes.put(&tables.runs, key, &run)?;
    Ok(run)
}

/// Lets a turn that never ended count as ended. Its record is about to be overwritten.
fn give_way(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    (left, question): (&ActiveRun, &[Inbound]),
) -> Result<(), Fault> {
    let acted = tables.calls.next_index(&key::id(left.id))? > 0;
    tracing::warn!(run = %left.id, acted, "a turn that never ended gives way to the next one");
    if !acted {
        return Ok(());
    }
    let is_asked = |id: &UpdateId| question.iter().any(|part| part.update == *id);
    let done: Vec<_> = left.updates.iter().copied().filter(|id| !is_asked(id)).collect();
    inbox::settle(tables, changes, bot, &done)
}

/// Ends a turn, unless it has ended.
pub(super) fn end(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    (run, mut end): (&ActiveRun, TurnEnd),
) -> Result<(), Fault> {
    if !is_active(tables, run)? {
        return Ok(());
    }
    sessions::append(tables, changes, &mut end.messages)?;
    if let Some(delivery) = end.delivery {
        let answer = match delivery.entry {
            Some(entry) => place_of(tables, entry, (run, &end.messages))?,
            None => None,
        };
        changes.put(&tables.deliveries, key::id(delivery.id), &Outgoing { delivery, answer })?;
    }
    changes.remove(&tables.runs, key::conversation(run.conversation));
    inbox::settle(tables, changes, bot, &run.updates)
}

/// Takes a turn back with all the messages since its question, unless it has ended.
pub(super) fn retract(tables: &Tables, changes: &mut Changes, run: &ActiveRun) -> Result<(), Fault> {
    if !is_active(tables, run)? {
        return Ok(());
    }
    changes.remove(&tables.runs, key::conversation(run.conversation));
    let session = tables.sessions.find(&key::id(run.session))?;
    if session.is_some_and(|session| session.conversation != run.conversation) {
        // It moved with its chat, and the next turn there may have written to it since.
        return Ok(());
    }
    for key in tables.messages.tree().scan_prefix(key::id(run.session)).keys().rev() {
        let key = key?;
        if key::index_of(&key).is_none_or(|index| index < run.first_index) {
            break;
        }
        changes.remove(&tables.messages, key);
    }
    Ok(())
}

/// Records a call, in the place it has if it is known.
pub(super) fn put_call(tables: &Tables, changes: &mut Changes, call: &ToolCall) -> Result<(), Fault> {
    let calls = key::id(call.run);
    for item in tables.calls.scan(&calls) {
        let (key, known) = item?;
        if known.call.id == call.call.id {
            return changes.put(&tables.calls, key.to_vec(), call);
        }
    }
    let index = tables.calls.next_index(&calls)?;
    changes.put(&tables.calls, key::call(call.run, index), call)
}

fn is_active(tables: &Tables, run: &ActiveRun) -> Result<bool, Fault> {
    let active = tables.runs.get(&key::conversation(run.conversation))?;
    Ok(active.is_some_and(|active| active.id == run.id))
}

/// Where a message of a turn is stored: among those about to be appended, else among those appended before.
fn place_of(
    tables: &Tables,
    entry: EntryId,
    (run, appended): (&ActiveRun, &[Message]),
) -> Result<Option<(SessionId, u32)>, Fault> {
    if let Some(message) = appended.iter().find(|message| message.id == entry) {
        return Ok(Some((message.session, message.index)));
    }
    for item in tables.messages.scan(&key::id(run.session)).rev() {
        let (_, message) = item?;
        if message.id == entry {
            return Ok(Some((message.session, message.index)));
        }
        if message.index <= run.first_index {
            break;
        }
    }
    Ok(None)
}
