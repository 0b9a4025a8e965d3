//! How a turn begins, and what a turn on record that has not ended leaves to it.

use chrono::{DateTime, Utc};

use super::active::{ActiveTurn, LeftTurn, Standing};
use super::changes::{Change, ChangeSet, Transition};
use super::parked::ParkedTurn;
use super::tail::SessionTail;
use crate::conversation::{EntryKey, Message, Role, Session};
use crate::facts::Unread;
use crate::importance::{self, By};
use crate::message::Inbound;
use crate::model::ModelName;
use crate::origin::Origin;
use crate::pinning;
use crate::task::{Cost, Ended, Lease, Reason, State, Task, TaskChange};
use figaro_base::ids::{EntryId, RunId};

/// A turn that has begun, now or before.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// The record of the new turn.
    pub turn: ActiveTurn,
    /// The stored messages of its question, oldest first.
    pub question: Vec<Message>,
    /// The turn that gave way to it: it counts as ended.
    pub gave_way: Option<LeftTurn>,
}

/// A request to ask the last question of a session again (`/retry`).
#[derive(Debug, Clone, PartialEq)]
pub struct AskedAgain {
    /// The origin of the command, press or request that asks for it.
    pub origin: Origin,
    /// The model that is to try it; `None` for the chat's.
    pub model: Option<ModelName>,
    /// The last question of the session and what followed it, oldest first; empty if nothing was asked yet.
    pub exchange: Vec<Message>,
    /// Turns of the conversation that wait for a person.
    pub parked: Vec<ParkedTurn>,
}

/// Begins a turn with a question. If the turn on record answers the first part of the question, it is that turn and
/// nothing changes; any other turn on record gives way.
pub fn begin(mut standing: Standing, parts: &[Inbound], now: DateTime<Utc>) -> Transition<Begun> {
    let origins: Vec<Origin> = parts.iter().map(|part| part.origin).collect();
    let first = origins.first();
    let is_same = |left: &mut LeftTurn| first.is_some_and(|first| left.turn.origins.contains(first));
    if let Some(left) = standing.left.take_if(is_same) {
        return Transition::unchanged(known(left));
    }
    let Transition { output: tail, changes } = current(&standing, now);
    let turn = ActiveTurn { origins, ..ActiveTurn::new(standing.conversation, &tail, now) };
    let rules = std::mem::take(&mut standing.rules);
    let said = |part: &Inbound| {
        let message = Message::from_inbound(tail.session, part);
        Message { importance: importance::of_with(By::Person, &message.text, &rules), ..message }
    };
    let question = parts.iter().map(said).collect();
    let mut begun = record(Begun { turn, question, gave_way: standing.left }, tail, changes);
    for (part, message) in parts.iter().zip(&begun.output.question).filter(|(part, _)| part.may_hold_facts())
    {
        begun.changes.add(Change::PutUnread(Box::new(Unread::of(part, message))));
    }
    let chat = standing.conversation.chat;
    let said = parts.iter().zip(&begun.output.question);
    let pins: Vec<_> =
        said.filter_map(|(part, message)| pinning::vital(chat, message, &part.foreign, &rules)).collect();
    if !pins.is_empty() {
        begun.changes.add(Change::PinVital(pins));
    }
    begun
}

/// Begins a turn that tries the last question again: the question and what followed it count as replaced, and the
/// question is appended anew. The turn on record is given if it was begun by the same message; another one gives way.
/// With nothing to try again, no turn begins, none gives way, and the update is settled.
pub fn begin_again(
    mut standing: Standing,
    asked: AskedAgain,
    now: DateTime<Utc>,
) -> Transition<Option<Begun>> {
    let AskedAgain { origin, model, exchange, parked } = asked;
    if let Some(left) = standing.left.take_if(|left| left.turn.origins.contains(&origin)) {
        return Transition::unchanged(Some(known(left)));
    }
    let Transition { output: tail, mut changes } = current(&standing, now);
    if exchange.is_empty() {
        changes.settle(&[origin]);
        return Transition { output: None, changes };
    }
    changes.append(exchange.first().map(|first| give_up_from(&parked, first.key())).unwrap_or_default());
    let asked = exchange.iter().filter(|message| message.role == Role::User);
    let question = asked.map(|message| Message { id: EntryId::new(), ..message.clone() }).collect();
    for message in exchange {
        changes.add_message(Message { replaced: true, ..message });
    }
    let plain = ActiveTurn::new(standing.conversation, &tail, now);
    let turn = ActiveTurn { origins: vec![origin], again: true, model, ..plain };
    record(Begun { turn, question, gave_way: standing.left }, tail, changes).map(Some)
}

/// Begins the turn of a leased task with its prompt as the question. `None` if the task is not leased to this run, if
/// the run has its answer, or if nobody wants it any more: then the run ends as withdrawn. If the turn on record is this
/// run, nothing changes; any other turn on record gives way.
pub fn begin_task(
    mut standing: Standing,
    task: &Task,
    run: RunId,
    now: DateTime<Utc>,
) -> Transition<Option<Begun>> {
    let Some(lease) = task.lease.filter(|lease| lease.run == run && lease.answered.is_none()) else {
        return Transition::unchanged(None);
    };
    if let Some(left) = standing.left.take_if(|left| left.turn.id == run) {
        return Transition::unchanged(Some(known(left)));
    }
    if !is_wanted(task, &lease) {
        let mut changes = ChangeSet::default();
        changes.add_step(task.step(TaskChange::Settle(run, Ended::Withdrawn), now));
        return Transition { output: None, changes };
    }
    let Transition { output: tail, changes } = current(&standing, now);
    let plain = ActiveTurn::new(standing.conversation, &tail, now);
    let turn = ActiveTurn { id: run, task: Some(task.id), ..plain };
    let question = vec![Message::from_inbound(tail.session, &Inbound::of_task(task, now))];
    record(Begun { turn, question, gave_way: standing.left }, tail, changes).map(Some)
}

/// Whether a leased run is still to be made: a run that a person asked for also while the task is paused or over.
const fn is_wanted(task: &Task, lease: &Lease) -> bool {
    match task.state {
        State::Active => true,
        State::Paused(_) | State::Done(_) => lease.by_hand,
        State::Cancelled(_) => false,
    }
}

fn known(left: LeftTurn) -> Begun {
    Begun { turn: left.turn, question: left.question, gave_way: None }
}

/// The end of the current session, which begins if there is none.
fn current(standing: &Standing, now: DateTime<Utc>) -> Transition<SessionTail> {
    if let Some(tail) = &standing.current {
        return Transition::unchanged(tail.clone());
    }
    let session = Session::new(standing.conversation, now);
    let mut changes = ChangeSet::default();
    changes.add(Change::BeginSession(session.clone()));
    Transition { output: SessionTail::empty(session), changes }
}

/// Appends the question and records the turn.
fn record(mut begun: Begun, tail: SessionTail, mut changes: ChangeSet) -> Transition<Begun> {
    let Begun { turn, question, gave_way } = &mut begun;
    if let Some(left) = gave_way {
        changes.append(give_way(left, turn));
    }
    for message in question.iter_mut() {
        message.turn = Some(turn.id);
    }
    changes.append(tail.append(question));
    changes.add(Change::PutTurn(Box::new(turn.clone())));
    Transition { output: begun, changes }
}

/// Has a turn that never ended count as ended when the next one takes its place on record. If it acted, what it did is
/// not to be done again: its task's run has failed, and its updates are settled but for those that the next turn
/// answers. If it did not, both stay open for another try.
pub(super) fn give_way(left: &LeftTurn, next: &ActiveTurn) -> ChangeSet {
    let mut changes = ChangeSet::default();
    changes.add(Change::EndChildren(left.turn.id));
    if !left.acted {
        return changes;
    }
    let ended = Ended::Failed { error: Reason::Interrupted, again: false, cost: Cost::default() };
    let settle = TaskChange::Settle(left.turn.id, ended);
    changes.add_step(left.task.as_ref().and_then(|task| task.step(settle, next.started_at)));
    let done = left.turn.origins.iter().copied().filter(|origin| !next.origins.contains(origin));
    changes.settle(&done.collect::<Vec<_>>());
    changes
}

/// What becomes of parked turns whose question is tried again from its beginning, or whose session ends: they are given up.
fn give_up_from(parked: &[ParkedTurn], from: EntryKey) -> ChangeSet {
    let mut changes = ChangeSet::default();
    let is_gone =
        |parked: &&ParkedTurn| parked.turn.session == from.session && parked.turn.first_index >= from.index;
    for parked in parked.iter().filter(is_gone) {
        changes.add(Change::RemoveParked(parked.turn.id));
        changes.add(Change::EndChildren(parked.turn.id));
    }
    changes
}
