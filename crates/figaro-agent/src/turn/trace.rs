//! Records the setup and the ending of turns, so that the requester can query them. Called by the pipeline.

use super::outcome::Outcome;
use super::question::Question;
use super::report::Reporter;
use figaro_base::ids::{MessageId, RunId};
use figaro_domain::reception::{Ending, ReceivedMessage, Reception, TurnTrace};
use figaro_store::ReceptionStore;

/// Records the turns of questions and how they ended.
#[derive(Debug, Clone)]
pub struct Tracer {
    /// The store of the outcomes of messages.
    pub receptions: ReceptionStore,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

impl Tracer {
    /// Records that a turn works on a question, or how it ended. Task prompts are skipped: no person sent them.
    pub(super) fn note(&self, question: &Question, turn: TurnTrace) {
        let Some(first) = question.parts.first().filter(|_| question.task.is_none()) else { return };
        let messages: Vec<MessageId> =
            question.parts.iter().filter_map(|part| part.origin.message()).collect();
        let (user, at) = (first.speaker.user.clone(), self.reporter.now());
        let received = ReceivedMessage { at, user, what: Reception::Asked, turn: Some(turn) };
        if let Err(error) = self.receptions.note(first.place.chat, &messages, received) {
            self.reporter.report(&error, "what became of a question could not be noted");
        }
    }

    /// Records how a turn ended; nothing for one that continues later. `error` describes the failure of its model.
    pub(super) fn ended(&self, run: RunId, question: &Question, outcome: &Outcome, error: Option<String>) {
        if let Some(ending) = ending(outcome, error) {
            self.note(question, TurnTrace::ended(run, ending));
        }
    }
}

/// Returns how a turn ended; `None` for one that continues later.
fn ending(outcome: &Outcome, described: Option<String>) -> Option<Ending> {
    match outcome {
        Outcome::Answered(_) => Some(Ending::Answered),
        Outcome::Silent(_) => Some(Ending::Silent),
        Outcome::Told(_) => Some(Ending::Told),
        Outcome::Stopped(_) => Some(Ending::Stopped),
        Outcome::Parked(_) => Some(Ending::Waits),
        Outcome::Failed(error, _) => {
            let (reason, label) = (error.reason(), error.label().to_owned());
            Some(Ending::Failed { reason, label, error: described })
        }
        Outcome::Abandoned | Outcome::Restarted(_) => None,
    }
}
