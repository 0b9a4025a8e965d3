//! Decides what is written and said at the end of a turn, from the question and the outcome. Pure: the data that must
//! be loaded for it is in [`TurnEndFacts`].

mod approval;
mod facts;
mod words;

use chrono::{DateTime, TimeDelta, Utc};

pub use self::approval::details as approval_details;
pub(crate) use self::facts::TurnEndFacts;
use super::outcome::{Outcome, Parking};
use super::reply::Reply;
use super::run::Answer;
use figaro_base::ids::MessageId;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::delivery::{Action, CardKind, PendingDelivery};
use figaro_domain::facts::UsedMemories;
use figaro_domain::pinning;
use figaro_domain::session::SessionName;
use figaro_domain::task::{Cost, Task, TaskChange, TaskRunResult};
use figaro_domain::tool::{ToolCall, ToolStatus};
use figaro_domain::turn::{ActiveTurn, Checkpoint, ParkedTurn, PersonQuestion, TurnEnd, versions};

/// Decision on the end of a turn.
#[derive(Debug, Default)]
pub(crate) struct EndDecision {
    /// Changes that are written in one commit.
    pub(crate) end: TurnEnd,
    /// `true` if the question could not be answered and no delivery says so: the question itself is then marked.
    pub(crate) is_declined: bool,
}

/// Decides what a turn with this outcome writes and says.
#[must_use]
pub(crate) fn finish(facts: &TurnEndFacts<'_>, outcome: &Outcome) -> EndDecision {
    if let Outcome::Parked(parking) = outcome {
        return park(facts, parking);
    }
    let nothing = Answer::default();
    let answer = outcome.answer().unwrap_or(&nothing);
    let has_failed = outcome.error().is_some();
    let is_early = has_failed || matches!(outcome, Outcome::Stopped(_));
    // The partial text of a failed task is no answer, and the task may be retried.
    let is_void = facts.question.task.is_some() && has_failed;
    let message = if is_void { None } else { stored(facts, answer) };
    let reply = words::reply(facts, outcome);
    let delivery = delivery(facts, reply, message.as_ref(), answer);
    let delivery = delivery.map(|delivery| PendingDelivery { early: is_early, ..delivery });
    let is_answered = matches!(outcome, Outcome::Answered(_));
    let (attached, mut cards) = attached(facts, delivery.is_some() && is_answered);
    let delivery = delivery.map(|delivery| PendingDelivery { attached, ..delivery });
    let delivery = match &facts.question.task {
        Some(task) if is_answered => {
            let actions = reminder_actions(task);
            delivery.map(|delivery| PendingDelivery { actions, ..delivery })
        }
        None if is_answered => {
            let delivery = delivery.map(|delivery| offering_reminder(delivery, answer));
            let delivery = delivery.map(|delivery| offering_list(facts, delivery, answer));
            let delivery = delivery.map(|delivery| offering_pin(facts, delivery, answer));
            delivery.map(|delivery| offering_versions(facts, delivery))
        }
        _ => delivery,
    };
    let delivery = delivery.map(|delivery| offering_undo(facts, delivery));
    if facts.can_undo && delivery.is_none() {
        cards.push(CardKind::Undo);
    }
    let change = task_change(facts, outcome, answer, delivery.is_some());
    let used = message.is_some().then(|| used(facts, answer)).flatten();
    let observed = answer.observation.as_ref().filter(|_| !is_early);
    let name =
        observed.and_then(|observed| SessionName::by_agent(observed.session_name.as_deref()?, facts.turn.id));
    let is_declined = has_failed && (delivery.is_none() || facts.question.is_in_group());
    let text = delivery.as_ref().filter(|_| facts.speaks && is_answered);
    let spoken = text.map(|text| spoken(facts, text, answer.pass.text.trim()));
    let cards = deliveries(facts, cards).into_iter().chain(called_off(facts)).chain(spoken).collect();
    let end = TurnEnd {
        messages: message.into_iter().collect(),
        delivery,
        cards,
        task: change.map(|change| (change, facts.now)),
        used,
        name,
        parked: None,
    };
    EndDecision { end, is_declined }
}

/// Parks a turn that waits for a person. Its question is a message of the conversation, and is sent with its buttons.
fn park(facts: &TurnEndFacts<'_>, parking: &Parking) -> EndDecision {
    let Parking { state, call, question, said } = parking;
    let Some(first) = facts.question.parts.first() else { return EndDecision::default() };
    let now = facts.now.with_timezone(&facts.zone);
    let expires_at = facts.now + TimeDelta::minutes(question.expires_after_min.into());
    let expires_at = question
        .approval
        .as_deref()
        .map_or(expires_at, |approval| approval::end(approval, facts.now, expires_at));
    let by = expires_at.with_timezone(&facts.zone);
    let text = question.approval.as_deref().map(|approval| approval::card(facts.texts, approval, &now, &by));
    let question = PersonQuestion { text: text.unwrap_or_else(|| question.text.clone()), ..question.clone() };
    let said = said.iter().map(|said| said.text.clone());
    let shown = said.chain([question.text.clone()]).collect::<Vec<_>>().join("\n\n");
    let mut words = vec![shown.clone()];
    words.extend(question.options.iter().map(|option| format!("[{option}]")));
    let message = Message::new(facts.turn.session, MessageRole::Assistant, words.join("\n"), facts.now);
    let reply = Reply { markdown: shown, actions: Vec::new() };
    let delivery = delivery(facts, reply, Some(&message), &Answer::default());
    let parked = ParkedTurn {
        turn: ActiveTurn {
            // No stored message belongs to the current pass: all its calls were made.
            checkpoint: Some(Checkpoint { state: state.clone(), from: u32::MAX }),
            ..facts.turn.clone()
        },
        asked_at: 0,
        call: call.clone(),
        question: question.clone(),
        ruling: None,
        asked: facts.question.asker().unwrap_or(&first.speaker).user.clone(),
        place: first.place.clone(),
        language: first.language.clone(),
        parked_at: facts.now,
        expires_at,
        answer: None,
    };
    let (options, approval) = (question.options, question.approval);
    let actions = approval.as_deref().map(approval::actions).unwrap_or_default();
    let is_card = approval.is_some();
    let delivery = delivery.map(|delivery| PendingDelivery { options, actions, is_card, ..delivery });
    let end =
        TurnEnd { messages: vec![message], delivery, parked: Some(Box::new(parked)), ..TurnEnd::default() };
    EndDecision { end, is_declined: false }
}

/// Returns the answer as a message of the conversation; `None` if it has no text.
fn stored(facts: &TurnEndFacts<'_>, answer: &Answer) -> Option<Message> {
    let text = answer.pass.text.trim();
    (!text.is_empty()).then(|| Message {
        model_id: answer.pass.model.as_ref().map(ToString::to_string),
        token_usage: Some(answer.usage),
        nano_usd: answer.nano_usd,
        private: answer.pass.private.clone(),
        sources: answer.pass.sources.clone(),
        referenced_memories: answer.memories.clone(),
        observation: answer.observation.clone(),
        ..Message::new(facts.turn.session, MessageRole::Assistant, text.to_owned(), facts.now)
    })
}

/// Returns the memories that the answer used. Only memories of the asker were shown to the model.
fn used(facts: &TurnEndFacts<'_>, answer: &Answer) -> Option<UsedMemories> {
    let user = facts.question.asker().filter(|_| !answer.memories.is_empty())?.user.clone();
    Some(UsedMemories { user, ids: answer.memories.clone(), at: facts.now })
}

/// Returns the message that an answer may quote: the first part of the question in a group, the last in a private chat.
fn answered(facts: &TurnEndFacts<'_>) -> Option<MessageId> {
    let parts = &facts.question.parts;
    let part = if facts.question.is_in_group() { parts.first() } else { parts.last() };
    part.and_then(|part| part.origin.message())
}

fn delivery(
    facts: &TurnEndFacts<'_>,
    reply: Reply,
    message: Option<&Message>,
    answer: &Answer,
) -> Option<PendingDelivery> {
    let first = facts.question.parts.first().filter(|_| !reply.markdown.is_empty())?;
    let task = facts.question.task.as_ref().map(|task| task.id);
    Some(PendingDelivery {
        entry: message.map(|message| message.id),
        reply_to: answered(facts).filter(|_| task.is_none()),
        language: first.language.clone(),
        preview: answer.addresses.first_in(&reply.markdown),
        rich: facts.is_rich && message.is_some(),
        actions: match &facts.question.task {
            None => reply.actions,
            // A task has no such buttons: nobody has just asked for it.
            Some(_) => Vec::new(),
        },
        task,
        ..PendingDelivery::new(facts.turn.id, first.place.clone(), reply.markdown, facts.now)
    })
}

/// Adds a reminder button for the record that the turn saved last, unless the turn created a task itself.
fn offering_reminder(mut delivery: PendingDelivery, answer: &Answer) -> PendingDelivery {
    let record = answer.remindable.last().filter(|_| answer.tasks.is_empty());
    delivery.actions.extend(record.map(|record| Action::Remind(*record)));
    delivery
}

/// Adds a button that shows the list of notes mentioned in the answer, where items can be removed, and a button that
/// removes the notes that the turn added.
fn offering_list(
    facts: &TurnEndFacts<'_>,
    mut delivery: PendingDelivery,
    answer: &Answer,
) -> PendingDelivery {
    // The undo button already covers the added notes.
    match answer.added.as_slice() {
        [] => {}
        _ if facts.can_undo => {}
        [added] => delivery.actions.push(Action::DropNote(*added)),
        [_, _, ..] => delivery.actions.push(Action::DropNotes),
    }
    delivery.actions.extend(answer.noted.map(Action::ShowNotes));
    delivery
}

/// Adds a pin button if the answer is worth keeping and has no other buttons or cards.
fn offering_pin(facts: &TurnEndFacts<'_>, delivery: PendingDelivery, answer: &Answer) -> PendingDelivery {
    let asked = facts.question.parts.iter().map(|part| part.text.as_str());
    let is_plain = delivery.actions.is_empty() && delivery.attached.is_empty() && !answer.unkept;
    if !is_plain || !pinning::is_offered(asked, answer.pass.text.trim()) {
        return delivery;
    }
    PendingDelivery { actions: vec![Action::Pin], ..delivery }
}

/// Adds buttons that show earlier attempts at the question.
fn offering_versions(facts: &TurnEndFacts<'_>, mut delivery: PendingDelivery) -> PendingDelivery {
    delivery.actions.extend(versions(facts.attempts).filter(|_| delivery.entry.is_some()));
    delivery
}

/// Adds an undo button if the turn made reversible changes.
fn offering_undo(facts: &TurnEndFacts<'_>, mut delivery: PendingDelivery) -> PendingDelivery {
    delivery.actions.extend(facts.can_undo.then_some(Action::Undo));
    delivery
}

/// Returns the buttons of a reminder, which is the answer of a one-time task; none for a recurring task.
fn reminder_actions(task: &Task) -> Vec<Action> {
    match task.schedule.is_recurring() {
        true => Vec::new(),
        false => vec![Action::TaskDone(task.id), Action::TaskLater(task.id), Action::TaskTomorrow(task.id)],
    }
}

/// Splits the cards of a turn into those attached to the reply, if it has text, and those that follow. The first task
/// card is attached, together with the question for the time zone.
fn attached(facts: &TurnEndFacts<'_>, has_words: bool) -> (Vec<CardKind>, Vec<CardKind>) {
    let is_task = |card: &&CardKind| matches!(card, CardKind::Task(_));
    let first = facts.cards.iter().find(is_task).filter(|_| has_words && facts.question.task.is_none());
    let Some(first) = first else { return (Vec::new(), facts.cards.clone()) };
    let zone = facts.cards.iter().find(|card| **card == CardKind::Zone);
    let attached: Vec<CardKind> = [first].into_iter().chain(zone).copied().collect();
    let others = facts.cards.iter().filter(|card| !attached.contains(card)).copied().collect();
    (attached, others)
}

/// Returns the change of the task whose prompt the turn ran; `None` for any other turn.
fn task_change(
    facts: &TurnEndFacts<'_>,
    outcome: &Outcome,
    answer: &Answer,
    is_delivered: bool,
) -> Option<TaskChange> {
    let run = facts.question.lease()?.run;
    let cost = Cost { usage: answer.usage, nano_usd: answer.nano_usd };
    let ended = match outcome {
        Outcome::Failed(error, _) => {
            let error = error.reason();
            let again = error.may_pass() && !facts.has_acted;
            TaskRunResult::Failed { error, again, cost }
        }
        // The partial answer is sent, but the task was not carried out.
        Outcome::Stopped(_) => TaskRunResult::Stopped(cost),
        _ if is_delivered => return Some(TaskChange::Answered(run, cost)),
        _ if answer.spoke => TaskRunResult::Spoke(cost),
        _ => TaskRunResult::Silent(cost),
    };
    Some(TaskChange::Settle(run, ended))
}

/// Returns messages under approved calls that were not made. The card only says that the call was approved, and the
/// model may report it wrongly.
fn called_off(facts: &TurnEndFacts<'_>) -> Vec<PendingDelivery> {
    let Some(first) = facts.question.parts.first() else { return Vec::new() };
    let words = |call: &ToolCall| match call.status {
        ToolStatus::Failed => facts.texts.approval_failed(),
        ToolStatus::Denied => facts.texts.approval_called_off(),
        ToolStatus::Running | ToolStatus::Unknown | ToolStatus::Complete => facts.texts.approval_unknown(),
    };
    let said = |call: &ToolCall| PendingDelivery {
        reply_to: call.approved_on,
        language: first.language.clone(),
        ..PendingDelivery::new(facts.turn.id, first.place.clone(), words(call).to_owned(), facts.now)
    };
    facts.called_off.iter().map(said).collect()
}

/// Returns the delivery of the model's own words as a voice message, after everything else of the turn.
fn spoken(facts: &TurnEndFacts<'_>, text: &PendingDelivery, words: &str) -> PendingDelivery {
    let at = facts.now + TimeDelta::milliseconds(100);
    PendingDelivery {
        entry: text.entry,
        markdown: words.to_owned(),
        spoken_for: facts.question.asker().map(|asker| asker.user.clone()),
        ..PendingDelivery::of_card(facts.turn.id, text.place.clone(), CardKind::Spoken, at)
    }
}

/// Returns deliveries for separate cards, one millisecond apart: deliveries are sent in the order of their times.
fn deliveries(facts: &TurnEndFacts<'_>, cards: Vec<CardKind>) -> Vec<PendingDelivery> {
    let Some(first) = facts.question.parts.first() else { return Vec::new() };
    let times = (1..).map(|at| facts.now + TimeDelta::milliseconds(at));
    let delivery = |(card, at): (CardKind, DateTime<Utc>)| PendingDelivery {
        language: first.language.clone(),
        ..PendingDelivery::of_card(facts.turn.id, first.place.clone(), card, at)
    };
    cards.into_iter().zip(times).map(delivery).collect()
}
