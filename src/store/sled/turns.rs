//! Turns from their question to their end, and the tool calls they make.

use chrono::{DateTime, Utc};

use super::changes::Changes;
use super::fault::Fault;
use super::tables::{Outgoing, Tables};
use super::{inbox, key, sessions, tasks};
use crate::domain::conversation::{Conversation, Message, Role};
use crate::domain::message::Inbound;
use crate::domain::model::ModelName;
use crate::domain::task::{Cost, Ended, Reason, TaskChange};
use crate::domain::tool::ToolCall;
use crate::domain::turn::ActiveTurn;
use crate::ids::{BotId, EntryId, RunId, SessionId, UpdateId};
use crate::store::TurnEnd;

/// Appends the question and records the turn; a turn that has begun with this question already is returned as it is.
pub(super) fn begin(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    conversation: Conversation,
    (question, now): (&[Inbound], DateTime<Utc>),
) -> Result<ActiveTurn, Fault> {
    let key = key::conversation(conversation);
    let updates: Vec<UpdateId> = question.iter().map(|part| part.update).collect();
    if let Some(run) = tables.runs.find(&key)? {
        if updates.first().is_some_and(|first| run.updates.contains(first)) {
            return Ok(run);
        }
        give_way(tables, changes, bot, (&run, &updates), now)?;
    }
    let session = sessions::current(tables, changes, conversation, now)?.id;
    let mut messages: Vec<_> = question.iter().map(|part| Message::from_inbound(session, part)).collect();
    let run = ActiveTurn { updates, ..new_run(tables, conversation, session, now)? };
    put_question(tables, changes, &run, &mut messages)?;
    Ok(run)
}

/// Begins a turn with the last question once more; `None` where nothing was asked yet.
pub(super) fn begin_again(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    (conversation, update, model): (Conversation, UpdateId, Option<ModelName>),
    now: DateTime<Utc>,
) -> Result<Option<(ActiveTurn, Vec<Message>)>, Fault> {
    if let Some(run) = tables.runs.find(&key::conversation(conversation))? {
        if run.updates.contains(&update) {
            let question = question(tables, &run)?;
            return Ok(Some((run, question)));
        }
        give_way(tables, changes, bot, (&run, &[update]), now)?;
    }
    let session = sessions::current(tables, changes, conversation, now)?.id;
    let replaced = last_exchange(tables, session)?;
    if replaced.is_empty() {
        inbox::settle(tables, changes, bot, &[update])?;
        return Ok(None);
    }
    let mut question: Vec<Message> = replaced.iter().filter(|m| m.role == Role::User).cloned().collect();
    for old in replaced {
        let key = key::message(session, old.index);
        changes.put(&tables.messages, key, &Message { replaced: true, ..old })?;
    }
    question.iter_mut().for_each(|message| message.id = EntryId::new());
    let plain = new_run(tables, conversation, session, now)?;
    let run = ActiveTurn { updates: vec![update], again: true, model, ..plain };
    put_question(tables, changes, &run, &mut question)?;
    Ok(Some((run, question)))
}

/// The question of a turn.
pub(super) fn question(tables: &Tables, run: &ActiveTurn) -> Result<Vec<Message>, Fault> {
    let mut question = Vec::new();
    for item in tables.messages.scan(&key::id(run.session)).rev() {
        let (_, message) = item?;
        if message.index < run.first_index {
            break;
        }
        if message.role == Role::User {
            question.push(message);
        }
    }
    question.reverse();
    Ok(question)
}

/// The last question of a session that a person asked and what followed it, oldest first, without prompts of tasks and
/// their answers. Its parts are those of one turn, or, where that was not kept yet, what people said without an answer
/// in between.
fn last_exchange(tables: &Tables, session: SessionId) -> Result<Vec<Message>, Fault> {
    let mut exchange: Vec<Message> = Vec::new();
    let mut turn = None;
    for item in tables.messages.scan(&key::id(session)).rev() {
        let (_, message) = item?;
        let is_before = exchange.last().is_some_and(|later| {
            later.role == Role::User && (message.role != Role::User || message.turn != turn)
        });
        if is_before || message.replaced {
            break;
        }
        if message.task.is_some() {
            // What was collected answers a task: it stands.
            exchange.clear();
            continue;
        }
        turn = message.turn;
        exchange.push(message);
    }
    exchange.reverse();
    // Without a question at its beginning it is no exchange.
    Ok(if exchange.first().is_some_and(|first| first.role == Role::User) { exchange } else { Vec::new() })
}

pub(super) fn new_run(
    tables: &Tables,
    conversation: Conversation,
    session: SessionId,
    now: DateTime<Utc>,
) -> Result<ActiveTurn, Fault> {
    let first_index = tables.messages.next_index(&key::id(session))?;
    let (updates, again, model, task) = (Vec::new(), false, None, None);
    Ok(ActiveTurn {
        id: RunId::new(),
        conversation,
        session,
        updates,
        first_index,
        started_at: now,
        again,
        model,
        task,
    })
}

pub(super) fn put_question(
    tables: &Tables,
    changes: &mut Changes,
    run: &ActiveTurn,
    question: &mut [Message],
) -> Result<(), Fault> {
    question.iter_mut().for_each(|message| message.turn = Some(run.id));
    sessions::append(tables, changes, question)?;
    changes.put(&tables.runs, key::conversation(run.conversation), run)
}

/// Lets a turn that never ended count as ended. Its record is about to be overwritten.
pub(super) fn give_way(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    (left, asked): (&ActiveTurn, &[UpdateId]),
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let acted = tables.calls.next_index(&key::id(left.id))? > 0;
    tracing::warn!(run = %left.id, acted, "a turn that never ended gives way to the next one");
    if !acted {
        return Ok(());
    }
    if let Some(task) = left.task {
        // What it did is not to be done again, and without its record nobody knows.
        let ended = Ended::Failed { error: Reason::Interrupted, again: false, cost: Cost::default() };
        tasks::change(tables, changes, (task, TaskChange::Settle(left.id, ended)), now)?;
    }
    let done: Vec<_> = left.updates.iter().copied().filter(|id| !asked.contains(id)).collect();
    inbox::settle(tables, changes, bot, &done)
}

/// Ends a turn, unless it has ended.
pub(super) fn end(
    tables: &Tables,
    changes: &mut Changes,
    bot: BotId,
    (run, mut end): (&ActiveTurn, TurnEnd),
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
    for card in end.cards {
        changes.put(&tables.deliveries, key::id(card.id), &Outgoing { delivery: card, answer: None })?;
    }
    if let Some((task, (change, now))) = run.task.zip(end.task) {
        if matches!(change, TaskChange::Settle(_, Ended::Failed { again: true, .. })) {
            take_back(tables, changes, run)?;
        }
        tasks::change(tables, changes, (task, change), now)?;
    }
    changes.remove(&tables.runs, key::conversation(run.conversation));
    inbox::settle(tables, changes, bot, &run.updates)
}

/// Takes a turn back with all the messages since its question, unless it has ended.
pub(super) fn retract(tables: &Tables, changes: &mut Changes, run: &ActiveTurn) -> Result<(), Fault> {
    if !is_active(tables, run)? {
        return Ok(());
    }
    changes.remove(&tables.runs, key::conversation(run.conversation));
    take_back(tables, changes, run)
}

/// Removes the messages of a turn, its question included.
fn take_back(tables: &Tables, changes: &mut Changes, run: &ActiveTurn) -> Result<(), Fault> {
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

/// Records a call that starts: it gets the next place of its turn.
pub(super) fn start_call(tables: &Tables, changes: &mut Changes, call: &ToolCall) -> Result<(), Fault> {
    let index = tables.calls.next_index(&key::id(call.run))?;
    changes.put(&tables.calls, key::call(call.run, index), call)
}

/// Records how a call ended, in the place it has; one that never started gets the next. Looked for from the end, where
/// the calls under way are: a turn may have made very many before.
pub(super) fn end_call(tables: &Tables, changes: &mut Changes, call: &ToolCall) -> Result<(), Fault> {
    for item in tables.calls.scan(&key::id(call.run)).rev() {
        let (key, known) = item?;
        if known.call.id == call.call.id {
            return changes.put(&tables.calls, key.to_vec(), call);
        }
    }
    start_call(tables, changes, call)
}

fn is_active(tables: &Tables, run: &ActiveTurn) -> Result<bool, Fault> {
    let active = tables.runs.get(&key::conversation(run.conversation))?;
    Ok(active.is_some_and(|active| active.id == run.id))
}

/// Where a message of a turn is stored: among those about to be appended, else among those appended before.
fn place_of(
    tables: &Tables,
    entry: EntryId,
    (run, appended): (&ActiveTurn, &[Message]),
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
