//! State of a turn's state machine between two steps, as stored with the turn. Its format may change between versions.
//! If a version cannot read the state, the turn counts its passes from the beginning.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::repeats::without;
use figaro_base::ids::{MemoryId, NoteId, RecordId, TaskId};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::model::ModelName;
use figaro_domain::observation::Observation;
use figaro_domain::said::SentText;
use figaro_domain::source::Source;
use figaro_domain::tool::{Call, SideEffects, ToolSpent};
use figaro_domain::turn::PersonQuestion;
use figaro_domain::usage::Usage;
use figaro_policy::address::Addresses;
use figaro_provider::fold::Pass;
use figaro_provider::{Item, MediaPart};

/// State of a turn's state machine between two steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState {
    /// Number of finished passes of the model.
    pub(super) passes: u32,
    /// Number of times each call was requested, by its fingerprint.
    pub(super) made: HashMap<u64, u32>,
    /// Tokens of all passes so far.
    pub(super) usage: Usage,
    /// Their cost in nano-dollars; `None` once a price was unknown.
    pub(super) nano_usd: Option<u64>,
    pub(super) phase: RunPhase,
    /// Memories that the turn has named so far.
    #[serde(default)]
    pub(super) memories: Vec<MemoryId>,
    /// `true` if a limit was reached: the run makes no more calls and hands back its results.
    #[serde(default)]
    pub(super) hands_back: bool,
    /// Order numbers of children's texts that were already shown with a question. The answer does not repeat them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<u32>,
    /// Rejected answer that must be rewritten: it made an unkept promise, or did not fit the form.
    pub(super) taken_back: Option<TakenBack>,
    /// Last model that ended without text and was replaced by the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mute: Option<ModelName>,
}

impl RunState {
    /// Returns `true` if this call is one of the next calls.
    #[must_use]
    pub(crate) fn is_calling(&self, id: &str) -> bool {
        match &self.phase {
            RunPhase::Calling { planned, .. } => planned.iter().any(|planned| planned.call.id == id),
            RunPhase::Asking | RunPhase::Waiting { .. } | RunPhase::Done(_) => false,
        }
    }

    #[must_use]
    pub(crate) const fn has_calls(&self) -> bool {
        matches!(self.phase, RunPhase::Calling { .. })
    }
}

impl Default for RunState {
    fn default() -> Self {
        Self {
            passes: 0,
            made: HashMap::new(),
            usage: Usage::default(),
            nano_usd: Some(0),
            phase: RunPhase::Asking,
            memories: Vec::new(),
            hands_back: false,
            told: Vec::new(),
            taken_back: None,
            mute: None,
        }
    }
}

/// Next step of the state machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum RunPhase {
    #[default]
    Asking,
    /// The calls of a pass are made next.
    Calling {
        /// All calls of the pass, in the order of the model.
        planned: Vec<PlannedCall>,
        /// Results that existed when the turn was resumed. They are stored as messages.
        #[serde(skip)]
        results: Vec<CallResult>,
    },
    /// The turn waits for a person, whose answer is the result of this call.
    Waiting {
        /// Tool call that a person's answer is the result of.
        call: Call,
        question: PersonQuestion,
    },
    /// The turn has its answer. Never stored.
    #[serde(skip)]
    Done(Box<Answer>),
}

/// A rejected answer that must be rewritten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TakenBack {
    pub(super) pass: Box<Pass>,
    /// Number of the turn's items before it.
    pub(super) at: usize,
    /// Mistakes in the form, one line each; `None` if it made an unkept promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mistakes: Option<String>,
}

/// A call, and the decision on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedCall {
    /// Call as the model requested it.
    pub(crate) call: Call,
    /// Reason to refuse the call; `None` if it is made.
    pub(crate) refusal: Option<String>,
}

/// Result of a call, for the state machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallResult {
    /// Call that this is the result of.
    pub(crate) call: Call,
    /// Result as JSON text, as the model gets it.
    pub(crate) output: String,
    pub(crate) side_effects: SideEffects,
    /// Pictures of the result. They are not stored.
    pub(crate) images: Vec<MediaPart>,
    /// Question to a person whose answer becomes the result; `None` if there is a result.
    pub(crate) asks: Option<PersonQuestion>,
}

/// Answer of a turn, with its usage.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    /// Last pass of the model, which is the answer.
    pub(crate) pass: Pass,
    /// `true` if a tool has already sent the answer. The text is stored, not sent.
    pub(crate) spoke: bool,
    /// `true` if a tool showed something that can be all of the answer.
    pub(crate) shown: bool,
    /// Web pages that the turn used.
    pub(crate) sources: Vec<Source>,
    /// Addresses that people wrote or that the turn has found.
    pub(crate) addresses: Addresses,
    /// Text by others that the turn has read, by its name.
    pub(crate) read: Option<String>,
    /// Tasks that the turn made or changed.
    pub(crate) tasks: Vec<TaskId>,
    /// Records that the turn saved and that offer reminders.
    pub(crate) remindable: Vec<RecordId>,
    /// A note of the list that the turn changed or looked at last.
    pub(crate) noted: Option<NoteId>,
    pub(crate) added: Vec<NoteId>,
    /// Texts of children for the person, before the text of the last pass.
    pub(crate) said: Vec<SentText>,
    /// `true` if the last pass had no tools because a limit was reached; the answer may be incomplete.
    pub(crate) is_cut: bool,
    /// `true` if the run had to hand back what it had: it had used its tokens or its time.
    pub(crate) hands_back: bool,
    /// Memories that the answer uses, according to the model.
    pub(crate) memories: Vec<MemoryId>,
    /// Observation of the model about the turn.
    pub(crate) observation: Option<Box<Observation>>,
    /// Parsed value of an answer that has the required form.
    pub(crate) structured: Option<Value>,
    /// `true` if the answer does not have its required form.
    pub(crate) is_misfit: bool,
    /// `true` if the text promises something for later that was not stored.
    pub(crate) unkept: bool,
    /// Calls handed over to the requester, in place of an answer.
    pub(crate) handed: Option<Box<Handed>>,
    /// Tokens of all passes, including children.
    pub(crate) usage: Usage,
    /// Their cost in nano-dollars; `None` if a price is unknown.
    pub(crate) nano_usd: Option<u64>,
}

impl Answer {
    /// Adds texts of children, and sorts all by their order.
    #[must_use]
    pub(crate) fn saying(mut self, said: Vec<SentText>) -> Self {
        self.said.extend(said);
        self.said.sort_by_key(|said| said.order);
        self
    }

    /// Puts the texts of children before its own text, and drops paragraphs of its own text that repeat them.
    #[must_use]
    pub(crate) fn whole(mut self) -> Self {
        if self.said.is_empty() {
            return self;
        }
        let said: Vec<String> = self.said.drain(..).map(|said| said.text).collect();
        let said = said.join("\n\n");
        let own = without(&self.pass.text, &said);
        self.pass.text = if own.is_empty() { said } else { format!("{said}\n\n{own}") };
        self
    }

    pub(crate) fn add_spent(&mut self, spent: ToolSpent) {
        self.usage += spent.usage;
        self.nano_usd = self.nano_usd.zip(spent.nano_usd).map(|(all, one)| all.saturating_add(one));
    }
}

/// Calls that a turn hands over to the requester.
#[derive(Debug, Clone, PartialEq)]
pub struct Handed {
    /// Calls that the requester makes with its own tools.
    pub calls: Vec<Call>,
    /// Items of the turn since its question, with the results of all its other calls. The turn continues from there
    /// once these calls have results.
    pub items: Vec<Item>,
}

/// Models of a turn. They are not stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TurnModels {
    /// Models in the order in which they are called.
    pub(super) order: Vec<ModelName>,
    /// `true` if the turn may end without text.
    pub(super) may_be_silent: bool,
}

/// Stored part of the pass whose calls were in progress.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InHand {
    pub(crate) text: String,
    /// Opaque parts of the provider, such as encrypted reasoning.
    pub(crate) private: Vec<PrivatePart>,
    pub(crate) results: Vec<CallResult>,
}
