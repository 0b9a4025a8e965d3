//! How a turn ended, in one type: execution makes it, [`super::finish`] decides from it what is written and said.

use serde_json::Value;

use super::error::TurnError;
use super::question::Question;
use super::reply::Reply;
use super::run::Answer;
use crate::delivery::{TurnClosing, TurnEnding};
use figaro_domain::said::Said;
use figaro_domain::tool::{Call, ToolSpent};
use figaro_domain::turn::PersonQuestion;

/// The answer of a task that has nothing to say, as `prompts/agents/scheduled.yaml` has it.
const SILENT: &str = "[silent]";

/// What a turn that waits for a person goes on with.
#[derive(Debug)]
pub(crate) struct Parking {
    /// The state of its machine, serialised: [`crate::turn::run`] goes on from it.
    pub(crate) state: Value,
    /// The call that the answer is the result of.
    pub(crate) call: Call,
    /// The question to the person.
    pub(crate) question: PersonQuestion,
    /// What children have said to the person in this turn, and stands before the question.
    pub(crate) said: Vec<Said>,
}

/// How a turn ended, or why it stopped. `turn::finish` makes of it what is written.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With words that are stored and sent.
    Answered(Answer),
    /// Without words to send: a tool sent them already, or there was nothing to say. Its words are stored.
    Silent(Answer),
    /// With words of Figaro's own, which are no part of the conversation; nothing is sent where they are empty.
    Told(Reply),
    /// A person stopped it; what was written until then is stored and sent.
    Stopped(Answer),
    /// It failed; what was written until then is stored.
    Failed(TurnError, Answer),
    /// It waits for the answer of a person.
    Parked(Box<Parking>),
    /// The bot stops: its record stays, and the next start goes on with it.
    Abandoned,
    /// It begins again with this question, as nothing was shown or done yet.
    Restarted(Question),
}

impl Outcome {
    /// How a turn ended whose model has written its last pass.
    pub(super) fn of(mut answer: Answer, question: &Question) -> Self {
        let is_task = question.task.is_some();
        let has_said = !answer.said.is_empty();
        if has_said && (answer.spoke || (is_task && is_silent(&answer.pass.text))) {
            // Only what it writes itself is not sent.
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
        // Whoever asked goes on with it.
        if answer.handed.is_some() {
            return Self::Silent(answer);
        }
        match answer.pass.text.trim().is_empty() {
            false => Self::Answered(answer),
            // In a group nobody has to say something.
            true if question.is_in_group() && !is_task => Self::Silent(answer),
            true if answer.pass.cut_short => Self::Failed(TurnError::Spent, answer),
            true if answer.pass.reasoned => Self::Failed(TurnError::Unspoken, answer),
            true => Self::Failed(TurnError::Empty, answer),
        }
    }

    /// The same, with what else the turn took.
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

    /// What was written, where that counts.
    pub(super) const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered(answer)
            | Self::Silent(answer)
            | Self::Stopped(answer)
            | Self::Failed(_, answer) => Some(answer),
            Self::Told(_) | Self::Parked(_) | Self::Abandoned | Self::Restarted(_) => None,
        }
    }

    /// What it has come to; `None` where it goes on later.
    pub(super) fn closing(&self) -> Option<TurnClosing> {
        let ending = match self {
            Self::Answered(_) | Self::Silent(_) | Self::Told(_) => TurnEnding::Answered,
            Self::Stopped(_) => TurnEnding::Stopped,
            Self::Failed(error, _) => {
                let (label, reason) = (error.label(), error.to_string());
                TurnEnding::Failed { label, reason, param: error.param() }
            }
            Self::Parked(_) | Self::Abandoned | Self::Restarted(_) => return None,
        };
        let nothing = Answer::default();
        let answer = self.answer().unwrap_or(&nothing);
        let text = match answer.pass.cut_short {
            // It ends wherever the bound was.
            true => answer.pass.text.clone(),
            false => answer.pass.text.trim().to_owned(),
        };
        let (model, usage, is_cut) = (answer.pass.model.clone(), answer.usage, answer.pass.cut_short);
        Some(TurnClosing { ending, text, model, usage, is_cut })
    }

    /// What went wrong, if something did.
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

/// A task that has nothing to say says so; an answer without words is a failure.
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
