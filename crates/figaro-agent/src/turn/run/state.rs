//! What a turn's machine keeps between two steps, as it is stored with the turn on record. Its format may change from version
//! to version; a turn whose state a version cannot read counts its passes from the beginning.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::repeats::without;
use figaro_base::ids::{MemoryId, NoteId, RecordId, TaskId};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::model::ModelName;
use figaro_domain::observation::Observation;
use figaro_domain::said::Said;
use figaro_domain::source::Source;
use figaro_domain::tool::{Call, SideEffects, ToolSpent};
use figaro_domain::turn::PersonQuestion;
use figaro_domain::usage::Usage;
use figaro_policy::address::Addresses;
use figaro_provider::fold::Pass;
use figaro_provider::{Image, Item};

/// What a turn's machine keeps between two steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// How many passes of the model have ended.
    pub(super) passes: u32,
    /// How often each call was asked for, by its fingerprint.
    pub(super) made: HashMap<u64, u32>,
    /// The tokens of all passes so far.
    pub(super) usage: Usage,
    /// What they cost; `None` once a price was not known.
    pub(super) nano_usd: Option<u64>,
    /// What the machine does next.
    pub(super) phase: Phase,
    /// The memories that the turn has named so far.
    #[serde(default)]
    pub(super) memories: Vec<MemoryId>,
    /// A bound was reached: it makes no more calls and hands back what it has.
    #[serde(default)]
    pub(super) hands_back: bool,
    /// What children have said and the person was told with a question: the answer does not begin with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<u32>,
    /// The answer that is to be written anew: it promised what nothing was stored for, or it did not fit the form.
    pub(super) taken_back: Option<TakenBack>,
    /// The last model that has ended without a word, and that another was asked in place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mute: Option<ModelName>,
}

impl State {
    /// Whether this call is one of those that come next.
    #[must_use]
    pub(crate) fn is_calling(&self, id: &str) -> bool {
        match &self.phase {
            Phase::Calling { planned, .. } => planned.iter().any(|planned| planned.call.id == id),
            Phase::Asking | Phase::Waiting { .. } | Phase::Done(_) => false,
        }
    }

    /// Whether calls come next.
    #[must_use]
    pub(crate) const fn has_calls(&self) -> bool {
        matches!(self.phase, Phase::Calling { .. })
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            passes: 0,
            made: HashMap::new(),
            usage: Usage::default(),
            nano_usd: Some(0),
            phase: Phase::Asking,
            memories: Vec::new(),
            hands_back: false,
            told: Vec::new(),
            taken_back: None,
            mute: None,
        }
    }
}

/// What the machine of a turn does next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// The model is called.
    #[default]
    Asking,
    /// The calls of a pass are made.
    Calling {
        /// All calls of the pass, in the model's order.
        planned: Vec<Planned>,
        /// Those that were there when the turn was taken up again. They are stored as messages.
        #[serde(skip)]
        results: Vec<CallResult>,
    },
    /// A person is waited for, whose answer is the result of this call.
    Waiting {
        /// The call that asks.
        call: Call,
        /// The question to the person.
        question: PersonQuestion,
    },
    /// The turn has its answer; this is never stored.
    #[serde(skip)]
    Done(Box<Answer>),
}

/// An answer that is to be written anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TakenBack {
    pub(super) pass: Box<Pass>,
    /// So many items of the turn came before it.
    pub(super) at: usize,
    /// How it did not fit the form, a line for each mistake; `None` where it made a promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mistakes: Option<String>,
}

/// A call and what is to become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// The call as the model asked for it.
    pub(crate) call: Call,
    /// Why it is not to be made.
    pub(crate) refusal: Option<String>,
}

/// The result of a call, for the machine of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallResult {
    /// The call that this is the result of.
    pub(crate) call: Call,
    /// The result as JSON text, as the model gets it.
    pub(crate) output: String,
    /// The side effects of the call.
    pub(crate) side_effects: SideEffects,
    /// The pictures that go with the result. They are not stored.
    pub(crate) images: Vec<Image>,
    /// It has no result yet: this is asked, and the answer is its result.
    pub(crate) asks: Option<PersonQuestion>,
}

/// The answer of a turn, and what it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    /// The last pass of the model, which is the answer.
    pub(crate) pass: Pass,
    /// A tool has sent the words that answer: the text is kept, not sent.
    pub(crate) spoke: bool,
    /// Pages that the whole turn rests on.
    pub(crate) sources: Vec<Source>,
    /// Addresses that people wrote or that the turn has found.
    pub(crate) addresses: Addresses,
    /// Tasks that the turn made or changed.
    pub(crate) tasks: Vec<TaskId>,
    /// Records that the turn saved and that offer reminders.
    pub(crate) remindable: Vec<RecordId>,
    /// A note of the list that the turn changed or looked at last.
    pub(crate) noted: Option<NoteId>,
    /// Notes that the turn added.
    pub(crate) added: Vec<NoteId>,
    /// What children have said to the person before the words of the last pass.
    pub(crate) said: Vec<Said>,
    /// The last pass had no tools because a bound was reached: it may be less than what was asked for.
    pub(crate) is_cut: bool,
    /// The memories that it rests on, as the model says.
    pub(crate) memories: Vec<MemoryId>,
    /// What the model has noted about it.
    pub(crate) observation: Option<Box<Observation>>,
    /// The value of an answer that is to have a form and has it.
    pub(crate) structured: Option<Value>,
    /// It is to have a form and has not.
    pub(crate) is_misfit: bool,
    /// The words promise something for later, and nothing was stored for it.
    pub(crate) unkept: bool,
    /// What it leaves to whoever asks, in place of an answer.
    pub(crate) handed: Option<Box<Handed>>,
    /// The tokens of all passes.
    pub(crate) usage: Usage,
    /// What they cost in nano-dollars, where the price is known.
    pub(crate) nano_usd: Option<u64>,
}

impl Answer {
    /// The same with these words of children, too.
    #[must_use]
    pub(crate) fn saying(mut self, said: Vec<Said>) -> Self {
        self.said.extend(said);
        self.said.sort_by_key(|said| said.order);
        self
    }

    /// The same with what children have said in front of its own words, which do not repeat it.
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

    /// Adds what else it took.
    pub(crate) fn add_spent(&mut self, spent: ToolSpent) {
        self.usage += spent.usage;
        self.nano_usd = self.nano_usd.zip(spent.nano_usd).map(|(all, one)| all.saturating_add(one));
    }
}

/// Calls that a turn leaves to whoever asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Handed {
    /// The calls that they make.
    pub calls: Vec<Call>,
    /// What the turn has said and done since its question, the results of all its other calls with it. It goes on from there
    /// once these calls have results.
    pub items: Vec<Item>,
}

/// The models of a turn. They are not stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Asked {
    /// The order in which they are asked.
    pub(super) order: Vec<ModelName>,
    /// Nobody has to be answered.
    pub(super) may_be_silent: bool,
}

/// What was stored of the pass whose calls were being made.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InHand {
    /// The text that the model wrote.
    pub(crate) text: String,
    /// Opaque parts of the provider, such as encrypted reasoning.
    pub(crate) private: Vec<PrivatePart>,
    /// The results of its calls, as far as they were there.
    pub(crate) results: Vec<CallResult>,
}
