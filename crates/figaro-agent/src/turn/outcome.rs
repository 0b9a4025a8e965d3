//! Outcome of a turn: execution creates it, [`super::finish`] decides from it what is written and said.

use serde_json::Value;

use super::error::TurnError;
use super::question::Question;
use super::reply::Reply;
use super::run::Answer;
use crate::delivery::{TurnClosing, TurnEnding};
use figaro_domain::said::SentText;
use figaro_domain::tool::{Call, ToolSpent};
use figaro_domain::turn::PersonQuestion;

/// Answer of a task that has nothing to say, as defined in `prompts/agents/scheduled.yaml`.
const SILENT: &str = "[silent]";

/// Data that a waiting turn needs to continue.
#[derive(Debug)]
pub(crate) struct Parking {
    /// Serialised state of the state machine; [`crate::turn::run`] continues from it.
    pub(crate) state: Value,
    /// The call whose result is the person's answer.
    pub(crate) call: Call,
    pub(crate) question: PersonQuestion,
    /// Texts of children for the person in this turn, shown before the question.
    pub(crate) said: Vec<SentText>,
}

/// Outcome of a turn. `turn::finish` decides from it what is written.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The turn has an answer, which is stored and sent.
    Answered(Answer),
    /// The turn sends nothing: a tool has sent the text already, or there was nothing to say. The answer is stored.
    Silent(Answer),
    /// The turn ends with a reply of Figaro itself, outside the conversation. An empty reply is not sent.
    Told(Reply),
    /// A person stopped the turn. The partial answer is stored and sent.
    Stopped(Answer),
    /// The turn failed. The partial answer is stored.
    Failed(TurnError, Answer),
    /// The turn waits for the answer of a person.
    Parked(Box<Parking>),
    /// The bot shuts down. The record of the turn stays, and the next start continues it.
    Abandoned,
    /// The turn begins again with this question; nothing was shown or done yet.
    Restarted(Question),
}

impl Outcome {
    /// Returns the outcome of a turn after the last pass of its model.
    pub(super) fn of(mut answer: Answer, question: &Question) -> Self {
        let is_task = question.task.is_some();
        let has_said = !answer.said.is_empty();
        if has_said && (answer.spoke || (is_task && is_silent(&answer.pass.text))) {
            // Only the turn's own text is not sent.
            answer.pass.text.clear();
        }
        let mut answer = answer.whole();
        if answer.pass.filtered.is_some() {
            return Self::Failed(TurnError::Withheld, answer);
        }
        if answer.is_misfit {
            return Self::Failed(TurnError::Misfit, answer);
        }
        if is_task && is_silent(&answer.pass.text) {
            answer.pass.text.clear();
            return Self::Silent(answer);
        }
        if answer.spoke && !has_said {
            return Self::Silent(answer);
        }
        // The requester continues with the handed-over calls.
        if answer.handed.is_some() {
            return Self::Silent(answer);
        }
        match answer.pass.text.trim().is_empty() {
            false => Self::Answered(answer),
            true if answer.shown => Self::Silent(answer),
            // In a group the bot may stay silent.
            true if question.is_in_group() && !is_task => Self::Silent(answer),
            true if answer.pass.cut_short => Self::Failed(TurnError::Spent, answer),
            true if answer.pass.reasoned => Self::Failed(TurnError::Unspoken, answer),
            true => Self::Failed(TurnError::Empty, answer),
        }
    }

    /// Adds further usage and cost of the turn.
    #[must_use]
    pub(super) fn with_spent(mut self, spent: ToolSpent) -> Self {
        match &mut self {
            Self::Answered(answer)
            | Self::Silent(answer)
            | Self::Stopped(answer)
            | Self::Failed(_, answer) => answer.add_spent(spent),
            Self::Told(_) | Self::Parked(_) | Self::Abandoned | Self::Restarted(_) => {}
        }
        self
    }

    /// Returns the answer, also a partial one; `None` for outcomes without an answer.
    pub(super) const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered(answer)
            | Self::Silent(answer)
            | Self::Stopped(answer)
            | Self::Failed(_, answer) => Some(answer),
            Self::Told(_) | Self::Parked(_) | Self::Abandoned | Self::Restarted(_) => None,
        }
    }

    /// Returns the closing of the turn; `None` if it continues later.
    pub(super) fn closing(&self) -> Option<TurnClosing> {
        let ending = match self {
            Self::Answered(_) | Self::Silent(_) | Self::Told(_) => TurnEnding::Answered,
            Self::Stopped(_) => TurnEnding::Stopped,
            Self::Failed(error, _) => {
                let (label, reason) = (error.label(), error.to_string());
                TurnEnding::Failed { label, reason, param: error.param(), until: error.until() }
            }
            Self::Parked(_) | Self::Abandoned | Self::Restarted(_) => return None,
        };
        let nothing = Answer::default();
        let answer = self.answer().unwrap_or(&nothing);
        let text = match answer.pass.cut_short {
            // A truncated text ends where the limit was; keep it unchanged.
            true => answer.pass.text.clone(),
            false => answer.pass.text.trim().to_owned(),
        };
        let (model, usage, is_cut) = (answer.pass.model.clone(), answer.usage, answer.pass.cut_short);
        Some(TurnClosing { ending, text, model, usage, is_cut })
    }

    /// Returns the error of a failed turn.
    pub(super) const fn error(&self) -> Option<&TurnError> {
        match self {
            Self::Failed(error, _) => Some(error),
            Self::Answered(_)
            | Self::Silent(_)
            | Self::Told(_)
            | Self::Stopped(_)
            | Self::Parked(_)
            | Self::Abandoned
            | Self::Restarted(_) => None,
        }
    }
}

/// Returns `true` for the marker of a task that has nothing to say. An empty answer is a failure instead.
fn is_silent(text: &str) -> bool {
    text.trim_matches(|c: char| c.is_whitespace() || "`*_.\"'".contains(c)).eq_ignore_ascii_case(SILENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_has_nothing_to_say_says_so() {
        for silent in ["[silent]", " `[Silent]`. ", "**[SILENT]**"] {
            assert!(is_silent(silent), "{silent}");
        }
        for words in ["", "silent", "[silent] and more"] {
            assert!(!is_silent(words), "{words}");
        }
    }
}
