//! Start of a turn, and replacement of a turn that has not ended.

use chrono::{DateTime, Utc};

use super::active::{ActiveTurn, ConversationState, LeftTurn};
use super::changes::{ChangeSet, Transition, TurnChange};
use super::parked::ParkedTurn;
use super::tail::SessionTail;
use crate::conversation::{EntryKey, Message, MessageRole, Session};
use crate::delivery::LiveMessage;
use crate::facts::Unread;
use crate::importance::{self, By};
use crate::message::Inbound;
use crate::model::ModelName;
use crate::origin::Origin;
use crate::pinning;
use crate::record::ImportanceRules;
use crate::task::{Cost, Lease, Reason, Task, TaskChange, TaskRunResult, TaskState};
use figaro_base::ids::{ChatId, EntryId, RunId};

/// A turn that has begun, now or before.
#[derive(Debug, Clone, PartialEq)]
pub struct BegunTurn {
    /// Record of the new turn.
    pub turn: ActiveTurn,
    /// Stored messages of its question, oldest first.
    pub question: Vec<Message>,
    /// Turn that it replaced; it counts as ended.
    pub gave_way: Option<LeftTurn>,
}

/// A request to answer the last question of a session again: by `/retry`, or by an edit of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedAgain {
    /// Origin of the command, button press or HTTP request.
    pub origin: Origin,
    /// Model for the new attempt; `None` for the chat's.
    pub model: Option<ModelName>,
    /// The message of the question that its writer has edited; `None` for a retry. The new answer then takes the place of
    /// the earlier one.
    pub edited: Option<Box<Inbound>>,
    /// Last question of the session and the messages after it, oldest first; empty if nothing was asked yet.
    pub exchange: Vec<Message>,
    /// Turns of the conversation that wait for a person.
    pub parked: Vec<ParkedTurn>,
}

/// Begins a turn with a question. If the turn on record answers the first part of the question, it is returned unchanged.
/// Any other turn on record is replaced.
pub fn begin(
    mut standing: ConversationState,
    parts: &[Inbound],
    now: DateTime<Utc>,
) -> Transition<BegunTurn> {
    let origins: Vec<Origin> = parts.iter().map(|part| part.origin).collect();
    let first = origins.first();
    let is_same = |left: &mut LeftTurn| first.is_some_and(|first| left.turn.origins.contains(first));
    if let Some(left) = standing.left.take_if(is_same) {
        return Transition::unchanged(known(left));
    }
    let Transition { output: tail, changes } = current(&standing, now);
    let turn = ActiveTurn { origins, ..ActiveTurn::new(standing.conversation, &tail, now) };
    let rules = std::mem::take(&mut standing.rules);
    let said = |part: &Inbound| weighed(Message::from_inbound(tail.session, part), &rules);
    let question = parts.iter().map(said).collect();
    let mut begun = record(BegunTurn { turn, question, gave_way: standing.left }, tail, changes);
    let said: Vec<_> = parts.iter().zip(&begun.output.question).collect();
    begun.changes.append(keep_words(standing.conversation.chat, &said, &rules));
    begun
}

/// Sets how much a message of a person matters.
fn weighed(message: Message, rules: &ImportanceRules) -> Message {
    Message { importance: importance::of_with(By::Person, &message.text, rules), ..message }
}

/// Has these new messages read for facts, and pins what is vital in them.
fn keep_words(chat: ChatId, said: &[(&Inbound, &Message)], rules: &ImportanceRules) -> ChangeSet {
    let mut changes = ChangeSet::default();
    for (part, message) in said.iter().filter(|(part, _)| part.may_hold_facts()) {
        changes.add(TurnChange::PutUnread(Box::new(Unread::of(part, message))));
    }
    let vital = |(part, message): &(&Inbound, &Message)| pinning::vital(chat, message, &part.foreign, rules);
    let pins: Vec<_> = said.iter().filter_map(vital).collect();
    if !pins.is_empty() {
        changes.add(TurnChange::PinVital(pins));
    }
    changes
}

/// Begins a turn that repeats the last question. The question and the messages after it are marked as replaced, and the
/// question is appended again, with its edit. If the turn on record was begun by the same message, it is returned; any other
/// is replaced. Without a question to repeat, or if the edited message is not part of it or its turn waits for a person, no
/// turn begins or is replaced, and the update is settled.
pub fn begin_again(
    mut standing: ConversationState,
    asked: AskedAgain,
    now: DateTime<Utc>,
) -> Transition<Option<BegunTurn>> {
    let AskedAgain { origin, model, edited, exchange, parked } = asked;
    if let Some(left) = standing.left.take_if(|left| left.turn.origins.contains(&origin)) {
        return Transition::unchanged(Some(known(left)));
    }
    let Transition { output: tail, mut changes } = current(&standing, now);
    let edited = edited.as_deref();
    let given_up = exchange.first().map(|first| give_up_from(&parked, first.key())).unwrap_or_default();
    let is_meant = edited.is_none_or(|edited| {
        given_up.is_empty() && exchange.iter().any(|message| message.is_written_in(edited))
    });
    if exchange.is_empty() || !is_meant {
        changes.settle(&[origin]);
        return Transition { output: None, changes };
    }
    let question = exchange.iter().filter(|message| message.role == MessageRole::User);
    let rules = std::mem::take(&mut standing.rules);
    let question = question.map(|message| asked_again(message, edited, &rules)).collect();
    let plain = ActiveTurn::new(standing.conversation, &tail, now);
    let turn = ActiveTurn { origins: vec![origin], again: true, edited: edited.is_some(), model, ..plain };
    if edited.is_some() {
        let shown = exchange.iter().rev().find(|message| message.is_shown_answer());
        let shown = shown.map_or(&[][..], |answer| &answer.telegram);
        changes.add_live(LiveMessage::taken_over(turn.id, standing.conversation.chat, shown));
    }
    changes.append(given_up);
    for message in exchange {
        changes.add_message(Message { replaced: true, ..message });
    }
    let mut begun = record(BegunTurn { turn, question, gave_way: standing.left }, tail, changes);
    let question = begun.output.question.iter();
    let written = question
        .filter_map(|message| Some((edited.filter(|edited| message.is_written_in(edited))?, message)));
    let written: Vec<_> = written.collect();
    begun.changes.append(keep_words(standing.conversation.chat, &written, &rules));
    begun.map(Some)
}

/// Returns a message of the question for the next attempt.
fn asked_again(message: &Message, edited: Option<&Inbound>, rules: &ImportanceRules) -> Message {
    let message = Message { id: EntryId::new(), ..message.clone() };
    match edited.filter(|edited| message.is_written_in(edited)) {
        Some(edited) => weighed(message.edited(edited), rules),
        None => message,
    }
}

/// Begins the turn of a leased task with its prompt as the question. Returns `None` if the task is not leased to this run,
/// if the run has its answer, or if nobody wants it any longer: then the run ends as withdrawn. If the turn on record is
/// this run, nothing changes. Any other turn on record is replaced.
pub fn begin_task(
    mut standing: ConversationState,
    task: &Task,
    run: RunId,
    now: DateTime<Utc>,
) -> Transition<Option<BegunTurn>> {
    let Some(lease) = task.lease.filter(|lease| lease.run == run && lease.answered.is_none()) else {
        return Transition::unchanged(None);
    };
    if let Some(left) = standing.left.take_if(|left| left.turn.id == run) {
        return Transition::unchanged(Some(known(left)));
    }
    if !is_wanted(task, &lease) {
        let mut changes = ChangeSet::default();
        changes.add_step(task.step(TaskChange::Settle(run, TaskRunResult::Withdrawn), now));
        return Transition { output: None, changes };
    }
    let Transition { output: tail, changes } = current(&standing, now);
    let plain = ActiveTurn::new(standing.conversation, &tail, now);
    let turn = ActiveTurn { id: run, task: Some(task.id), ..plain };
    let question = vec![Message::from_inbound(tail.session, &Inbound::of_task(task, now))];
    record(BegunTurn { turn, question, gave_way: standing.left }, tail, changes).map(Some)
}

/// Returns `true` if a leased run should still be made. A run started by a person is made even if the task is paused or
/// done.
const fn is_wanted(task: &Task, lease: &Lease) -> bool {
    match task.state {
        TaskState::Active => true,
        TaskState::Paused(_) | TaskState::Done(_) => lease.by_hand,
        TaskState::Cancelled(_) => false,
    }
}

fn known(left: LeftTurn) -> BegunTurn {
    BegunTurn { turn: left.turn, question: left.question, gave_way: None }
}

/// Returns the end of the current session, or of a new one if there is none.
fn current(standing: &ConversationState, now: DateTime<Utc>) -> Transition<SessionTail> {
    if let Some(tail) = &standing.current {
        return Transition::unchanged(tail.clone());
    }
    let session = Session::new(standing.conversation, now);
    let mut changes = ChangeSet::default();
    changes.add(TurnChange::BeginSession(session.clone()));
    Transition { output: SessionTail::empty(session), changes }
}

/// Appends the question and records the turn.
fn record(mut begun: BegunTurn, tail: SessionTail, mut changes: ChangeSet) -> Transition<BegunTurn> {
    let BegunTurn { turn, question, gave_way } = &mut begun;
    if let Some(left) = gave_way {
        changes.append(give_way(left, turn));
    }
    for message in question.iter_mut() {
        message.turn = Some(turn.id);
    }
    changes.append(tail.append(question));
    changes.add(TurnChange::PutTurn(Box::new(turn.clone())));
    Transition { output: begun, changes }
}

/// Ends an unfinished turn when the next one replaces it. If it acted, its actions must not be repeated: the run of its task
/// has failed, and its updates are settled, except those that the next turn answers. If it did not act, both stay open for
/// another attempt.
pub(super) fn give_way(left: &LeftTurn, next: &ActiveTurn) -> ChangeSet {
    let mut changes = ChangeSet::default();
    changes.add(TurnChange::EndChildren(left.turn.id));
    if !left.acted {
        return changes;
    }
    let ended = TaskRunResult::Failed { error: Reason::Interrupted, again: false, cost: Cost::default() };
    let settle = TaskChange::Settle(left.turn.id, ended);
    changes.add_step(left.task.as_ref().and_then(|task| task.step(settle, next.started_at)));
    let done = left.turn.origins.iter().copied().filter(|origin| !next.origins.contains(origin));
    changes.settle(&done.collect::<Vec<_>>());
    changes
}

/// Gives up parked turns whose question is repeated from its beginning.
fn give_up_from(parked: &[ParkedTurn], from: EntryKey) -> ChangeSet {
    let mut changes = ChangeSet::default();
    let is_gone =
        |parked: &&ParkedTurn| parked.turn.session == from.session && parked.turn.first_index >= from.index;
    for parked in parked.iter().filter(is_gone) {
        changes.add(TurnChange::RemoveParked(parked.turn.id));
        changes.add(TurnChange::EndChildren(parked.turn.id));
    }
    changes
}
