//! Attempts at the last question of a session: its first answer, and those after an edit or a retry. One of them counts; the
//! others are marked as replaced, and are kept until somebody erases them.

use std::ops::ControlFlow;

use chrono::{DateTime, Utc};

use super::changes::{ChangeSet, Transition};
use crate::chat::Place;
use crate::conversation::{Message, MessageRole};
use crate::delivery::{Action, LiveMessage, PendingDelivery};
use figaro_base::ids::{MessageId, RunId};

/// Maximum number of attempts that can be shown again; older ones are only kept.
const MAX_ATTEMPTS: usize = 20;

/// A request to show another attempt at the last question.
#[derive(Debug, Clone)]
pub struct AttemptChoice {
    /// Turn of the attempt that is shown.
    pub shown: RunId,
    /// Number of the other attempt, from 1.
    pub to: u8,
    /// Chat and topic of the answer.
    pub place: Place,
    /// `true` if the answer may go out as rich messages.
    pub rich: bool,
}

/// An attempt at a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Turn of the attempt.
    pub turn: RunId,
    /// Messages of the attempt, the question first.
    pub messages: Vec<Message>,
}

impl Attempt {
    /// Returns `true` if this is the attempt that counts.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.messages.iter().any(|message| !message.replaced)
    }

    /// Returns `true` if its answer stands or stood in the chat.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.answer().is_some()
    }

    fn asked_in(&self) -> impl Iterator<Item = MessageId> {
        let asked = self.messages.iter().filter(|message| message.role == MessageRole::User);
        asked.flat_map(|message| message.telegram.iter().copied())
    }

    fn answer(&self) -> Option<&Message> {
        self.messages.iter().rev().find(|message| message.is_shown_answer())
    }
}

/// Collects the attempts at the last question of a session from its messages, newest first.
#[derive(Debug, Default)]
pub struct LastAttempts {
    /// Attempts so far, the newest first, with their messages from the newest on.
    picked: Vec<Attempt>,
    /// Messages behind a question that is still to come.
    behind: Vec<Message>,
}

impl LastAttempts {
    /// Takes the next older message. Breaks if no further message is needed.
    pub fn add(&mut self, message: Message) -> ControlFlow<()> {
        // Only the messages of a question name its turn.
        let Some(turn) = message.turn else {
            self.behind.push(message);
            return ControlFlow::Continue(());
        };
        let is_next_part = |attempt: &&mut Attempt| self.behind.is_empty() && attempt.turn == turn;
        if let Some(attempt) = self.picked.last_mut().filter(is_next_part) {
            attempt.messages.push(message);
            return ControlFlow::Continue(());
        }
        // A task ran between two attempts: neither its prompt nor its answer is one. A turn that waited for a person has its
        // messages twice, the former ones replaced.
        if message.task.is_some() || self.picked.iter().any(|attempt| attempt.turn == turn) {
            self.behind.clear();
            return ControlFlow::Continue(());
        }
        if !self.is_of_question() || self.picked.len() >= MAX_ATTEMPTS {
            return ControlFlow::Break(());
        }
        let mut messages = std::mem::take(&mut self.behind);
        messages.push(message);
        self.picked.push(Attempt { turn, messages });
        ControlFlow::Continue(())
    }

    /// Returns `true` if the oldest attempt so far is one at the same question as the newest.
    fn is_of_question(&self) -> bool {
        let ([newest, ..], [.., oldest]) = (&self.picked[..], &self.picked[..]) else { return true };
        newest.asked_in().next().is_some() && newest.asked_in().eq(oldest.asked_in())
    }

    /// Returns the attempts, oldest first; empty if the last question came from elsewhere than Telegram.
    #[must_use]
    pub fn into_attempts(mut self) -> Vec<Attempt> {
        if !self.is_of_question() {
            self.picked.pop();
        }
        self.picked.iter_mut().for_each(|attempt| attempt.messages.reverse());
        self.picked.reverse();
        self.picked
    }
}

/// Returns the buttons under the newest of several attempts; none for the first attempt.
#[must_use]
pub fn versions(of: usize) -> Option<Action> {
    let of = u8::try_from(of).ok().filter(|of| *of > 1)?;
    Some(Action::Versions(of, of))
}

/// Puts another attempt in the place of the one that counts: its messages count from now on, and its answer is delivered in
/// place of the other. Returns no delivery if `shown` is not the attempt that counts, or if
/// the other has no answer.
pub fn show_attempt(
    attempts: Vec<Attempt>,
    choice: AttemptChoice,
    now: DateTime<Utc>,
) -> Transition<Option<PendingDelivery>> {
    let AttemptChoice { shown, to, place, rich } = choice;
    let shown_ones: Vec<&Attempt> = attempts.iter().filter(|attempt| attempt.is_shown()).collect();
    let of = u8::try_from(shown_ones.len()).unwrap_or(u8::MAX);
    let other = usize::from(to).checked_sub(1).and_then(|at| shown_ones.get(at));
    let counting = attempts.iter().find(|attempt| attempt.turn == shown && attempt.counts());
    let (Some(other), Some(counting)) = (other, counting) else { return Transition::unchanged(None) };
    let (Some(answer), false) = (other.answer(), other.turn == shown) else {
        return Transition::unchanged(None);
    };
    let delivery = PendingDelivery {
        entry: Some(answer.id),
        reply_to: other.asked_in().next(),
        actions: vec![Action::Versions(to, of)],
        rich,
        ..PendingDelivery::new(other.turn, place, answer.text.clone(), now)
    };
    let mut changes = ChangeSet::default();
    let messages = counting.answer().map_or(&[][..], |answer| &answer.telegram);
    changes.add_live(LiveMessage::taken_over(other.turn, delivery.place.chat, messages));
    changes.add_delivery(delivery.clone(), Some(answer.key()));
    let other = other.turn;
    for attempt in attempts {
        let replaced = attempt.turn != other;
        for message in attempt.messages {
            changes.add_message(Message { replaced, ..message });
        }
    }
    Transition { output: Some(delivery), changes }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use figaro_base::ids::{SessionId, TaskId};

    /// Collects the attempts among messages, each given by its role, its turn if it is a question, and whether a task asked it.
    fn collected(messages: &[(MessageRole, Option<RunId>, bool)]) -> Vec<(RunId, usize)> {
        let session = SessionId::new();
        let message = |(role, turn, is_task): &(MessageRole, Option<RunId>, bool)| Message {
            turn: *turn,
            task: is_task.then(TaskId::new),
            telegram: vec![MessageId(if *is_task { 9 } else { 1 })],
            ..Message::new(session, *role, "words".to_owned(), DateTime::UNIX_EPOCH)
        };
        let mut attempts = LastAttempts::default();
        for message in messages.iter().rev().map(message) {
            if attempts.add(message).is_break() {
                break;
            }
        }
        attempts.into_attempts().into_iter().map(|attempt| (attempt.turn, attempt.messages.len())).collect()
    }

    #[test]
    fn a_task_between_two_attempts_hides_neither() {
        use MessageRole::{Assistant, User};
        let [first, task, second] = [RunId::new(), RunId::new(), RunId::new()];
        let found = collected(&[
            (User, Some(first), false),
            (Assistant, None, false),
            (User, Some(task), true),
            (Assistant, None, false),
            (User, Some(second), false),
            (Assistant, None, false),
        ]);
        assert_eq!(found, [(first, 2), (second, 2)]);
    }

    #[test]
    fn a_turn_that_waited_for_a_person_is_one_attempt() {
        use MessageRole::{Assistant, User};
        let [first, second] = [RunId::new(), RunId::new()];
        let found = collected(&[
            (User, Some(first), false),
            (Assistant, None, false),
            (User, Some(first), false),
            (Assistant, None, false),
            (Assistant, None, false),
            (User, Some(second), false),
            (Assistant, None, false),
        ]);
        assert_eq!(found, [(first, 3), (second, 2)]);
    }
}
