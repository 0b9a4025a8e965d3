//! Turns from their question to their end: loads what the turn rules need, and writes their results.

use std::slice::from_mut;

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::{calls, facts, parked, people, sessions, summaries, tasks, write};
use figaro_base::ids::{BotId, EntryId, RunId, SessionId};
use figaro_domain::conversation::{ConversationId, EntryKey, Message};
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_domain::origin::Origin;
use figaro_domain::record::ImportanceRules;
use figaro_domain::task::Task;
use figaro_domain::turn::{
    self, ActiveTurn, AskedAgain, Attempt, AttemptChoice, BegunTurn, ConversationState, EndsWith, GoneOn,
    LastAttempts, LastExchange, LeftTurn, Step, StoredParked, StoredTurn, TurnEnd,
};

/// A conversation in which a turn is about to begin.
#[derive(Clone, Copy)]
pub(crate) struct Beginning {
    pub(crate) bot: BotId,
    pub(crate) conversation: ConversationId,
    pub(crate) now: DateTime<Utc>,
}

/// A request to answer the last question of a conversation again.
#[derive(Debug, Clone)]
pub struct Repetition {
    /// Origin of the command, button press or edit.
    pub origin: Origin,
    /// Model for the new attempt; `None` for the chat's.
    pub model: Option<ModelName>,
    /// The edited message of the question; `None` for a retry. The new answer then takes the place of the earlier one.
    pub edited: Option<Box<Inbound>>,
}

/// Begins a turn with a question, in a chat with these rules of packs.
pub(crate) fn begin(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    at: Beginning,
    question: &[Inbound],
    rules: &ImportanceRules,
) -> Result<BegunTurn, StoreFault> {
    let standing = ConversationState { rules: rules.clone(), ..standing(tables, at.conversation)? };
    let begun = write::transition(tables, changes, at.bot, turn::begin(standing, question, at.now))?;
    people::note(tables, changes, question)?;
    log_gave_way(&begun);
    Ok(begun)
}

/// Begins a turn that answers the last question again, in a chat with these rules of packs; `None` if nothing was asked yet,
/// or the edited message is not part of it.
pub(crate) fn begin_again(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    at: Beginning,
    request: Repetition,
    rules: &ImportanceRules,
) -> Result<Option<BegunTurn>, StoreFault> {
    let Repetition { origin, model, edited } = request;
    let standing = ConversationState { rules: rules.clone(), ..standing(tables, at.conversation)? };
    let exchange = match &standing.current {
        Some(tail) => last_exchange(tables, tail.session)?,
        None => Vec::new(),
    };
    let covered: Vec<EntryKey> = exchange.iter().map(Message::key).collect();
    let reworded = edited.clone();
    let parked = parked::of_conversation(tables, at.conversation)?;
    let asked = AskedAgain { origin, model, edited, exchange, parked };
    let begun = write::transition(tables, changes, at.bot, turn::begin_again(standing, asked, at.now))?;
    begun.iter().for_each(log_gave_way);
    for place in covered.into_iter().filter(|_| begun.is_some()) {
        summaries::make_stale(tables, changes, place.session, place.index)?;
    }
    if let (Some(begun), Some(edited)) = (&begun, reworded) {
        facts::skip_earlier(tables, changes, &edited, &begun.question)?;
    }
    Ok(begun)
}

/// Begins the turn of a leased task; `None` if it does not begin.
pub(crate) fn begin_task(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    at: Beginning,
    task: &Task,
    run: RunId,
) -> Result<Option<BegunTurn>, StoreFault> {
    let standing = standing(tables, at.conversation)?;
    let begun = write::transition(tables, changes, at.bot, turn::begin_task(standing, task, run, at.now))?;
    begun.iter().for_each(log_gave_way);
    Ok(begun)
}

/// Resumes a turn that waited for a person; `None` if it no longer waits or has no answer.
pub(crate) fn go_on(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    run: RunId,
    now: DateTime<Utc>,
) -> Result<Option<GoneOn>, StoreFault> {
    let Some(parked) = tables.parked.find(&key::id(run))? else { return Ok(None) };
    let standing = standing(tables, parked.turn.conversation)?;
    let stored = StoredParked {
        called_at: parked::called_at(tables, &parked)?,
        messages: parked::messages(tables, &parked)?,
        tail: sessions::tail(tables, parked.turn.session)?,
        parked,
    };
    let gone_on = write::transition(tables, changes, bot, turn::go_on(standing, stored, now))?;
    gone_on.iter().for_each(|gone_on| log_gave_way(&gone_on.begun));
    Ok(gone_on)
}

/// Ends a turn, unless it has ended.
pub(crate) fn end(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    turn: &ActiveTurn,
    end: TurnEnd,
) -> Result<(), StoreFault> {
    let stored = stored(tables, turn)?;
    let answer = end.earlier_answer().map(|entry| place_of(tables, turn, entry)).transpose()?.flatten();
    let with = EndsWith { answer, task: tasks::find(tables, turn.task)? };
    calls::leave_results(tables, changes, turn.id)?;
    write::write(tables, changes, bot, turn::end(turn, stored, with, end))
}

/// Takes back a turn with all messages since its question, unless it has ended.
pub(crate) fn retract(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    turn: &ActiveTurn,
) -> Result<(), StoreFault> {
    let stored = stored(tables, turn)?;
    write::write(tables, changes, bot, turn::retract(turn, &stored))
}

/// Records a step of a turn.
pub(crate) fn step(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    turn: &ActiveTurn,
    step: Step,
) -> Result<(), StoreFault> {
    let stored = stored(tables, turn)?;
    write::write(tables, changes, bot, turn::step(turn, stored, step))
}

/// Appends a message to its session and returns its index. Call it once per operation: it counts from the stored
/// messages, not from those the same operation is about to store.
pub(crate) fn append(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    bot: BotId,
    mut message: Message,
) -> Result<u32, StoreFault> {
    let tail = sessions::tail(tables, message.session)?;
    let index = tail.next_index;
    write::write(tables, changes, bot, tail.append(from_mut(&mut message)))?;
    Ok(index)
}

/// Returns the messages of a turn's question, oldest first.
pub(crate) fn question(tables: &Tables<'_>, turn: &ActiveTurn) -> Result<Vec<Message>, StoreFault> {
    let mut question = Vec::new();
    for item in tables.messages.scan(&key::id(turn.session))?.rev() {
        let (_, message) = item?;
        if message.index < turn.first_index {
            break;
        }
        if turn.is_asked_by(&message) {
            question.push(message);
        }
    }
    question.reverse();
    Ok(question)
}

/// Returns the state of a conversation in which a turn is about to begin.
fn standing(tables: &Tables<'_>, conversation: ConversationId) -> Result<ConversationState, StoreFault> {
    let on_record = tables.turns.find(&key::conversation(conversation))?;
    let left = on_record.map(|turn| left(tables, turn)).transpose()?;
    let current = sessions::current_tail(tables, conversation)?;
    Ok(ConversationState { conversation, left, current, rules: ImportanceRules::default() })
}

fn left(tables: &Tables<'_>, turn: ActiveTurn) -> Result<LeftTurn, StoreFault> {
    let question = question(tables, &turn)?;
    let acted = tables.calls.next_index(&key::id(turn.id))? > 0;
    let task = tasks::find(tables, turn.task)?;
    Ok(LeftTurn { turn, question, acted, task })
}

fn stored(tables: &Tables<'_>, turn: &ActiveTurn) -> Result<StoredTurn, StoreFault> {
    let on_record = tables.turns.get(&key::conversation(turn.conversation))?;
    Ok(StoredTurn { on_record, tail: sessions::tail(tables, turn.session)? })
}

fn last_exchange(tables: &Tables<'_>, session: SessionId) -> Result<Vec<Message>, StoreFault> {
    let mut exchange = LastExchange::default();
    for item in tables.messages.scan(&key::id(session))?.rev() {
        let (_, message) = item?;
        if exchange.add(message).is_break() {
            break;
        }
    }
    Ok(exchange.into_messages())
}

/// Returns the last question of a conversation's session, and the messages after it.
pub(crate) fn exchange_of(
    tables: &Tables<'_>,
    conversation: ConversationId,
) -> Result<Vec<Message>, StoreFault> {
    match sessions::stored(tables, conversation)? {
        Some(session) => last_exchange(tables, session.id),
        None => Ok(Vec::new()),
    }
}

/// Returns the attempts at the last question of a conversation, oldest first.
pub(crate) fn attempts(
    tables: &Tables<'_>,
    conversation: ConversationId,
) -> Result<Vec<Attempt>, StoreFault> {
    let mut attempts = LastAttempts::default();
    let Some(session) = sessions::stored(tables, conversation)? else { return Ok(Vec::new()) };
    for item in tables.messages.scan(&key::id(session.id))?.rev() {
        let (_, message) = item?;
        if attempts.add(message).is_break() {
            break;
        }
    }
    Ok(attempts.into_attempts())
}

/// Shows another attempt at the last question in place of the shown one; `None` if it cannot be shown.
pub(crate) fn show_attempt(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    at: Beginning,
    choice: AttemptChoice,
) -> Result<Option<PendingDelivery>, StoreFault> {
    // The next question has begun.
    if tables.turns.contains(&key::conversation(at.conversation))? {
        return Ok(None);
    }
    let attempts = attempts(tables, at.conversation)?;
    write::transition(tables, changes, at.bot, turn::show_attempt(attempts, choice, at.now))
}

/// Returns the place of a turn's message; `None` if it is not stored.
fn place_of(tables: &Tables<'_>, turn: &ActiveTurn, entry: EntryId) -> Result<Option<EntryKey>, StoreFault> {
    for item in tables.messages.scan(&key::id(turn.session))?.rev() {
        let (_, message) = item?;
        if message.id == entry {
            return Ok(Some(message.key()));
        }
        if message.index <= turn.first_index {
            break;
        }
    }
    Ok(None)
}

fn log_gave_way(begun: &BegunTurn) {
    if let Some(left) = &begun.gave_way {
        let LeftTurn { turn, acted, .. } = left;
        tracing::warn!(run = %turn.id, acted, "a turn that never ended gives way to the next one");
    }
}
