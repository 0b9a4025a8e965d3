//! A whole pass as the fold over its stream.

use serde::{Deserialize, Serialize};

use super::{Event, Finish};
use crate::domain::conversation::PrivatePart;
use crate::domain::model::ModelName;
use crate::domain::source::{Source, add_sources};
use crate::domain::tool::Call;
use crate::domain::usage::Usage;

/// So many calls of one pass are made at most. One more is kept, to be answered with what became of the rest.
pub const MAX_CALLS: usize = 32;

/// One pass of the model, once it is whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The model that answered, if it was told.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// The text.
    pub text: String,
    /// The calls, in order: at most one more than [`MAX_CALLS`].
    pub calls: Vec<Call>,
    /// How many calls came beyond these.
    #[serde(default)]
    pub calls_left_out: usize,
    /// Pages it rests on, each once.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// How often the provider searched the web for it.
    #[serde(default)]
    pub searches: u64,
    /// Opaque parts.
    pub private: Vec<PrivatePart>,
    /// Tokens, if the provider said.
    pub usage: Option<Usage>,
    /// What it cost in nano-dollars, once somebody who knows the price has said.
    #[serde(default)]
    pub nano_usd: Option<u64>,
    /// The answer ended at the bound on its length.
    pub cut_short: bool,
    /// The provider withheld the answer, for this reason.
    pub filtered: Option<String>,
}

impl Pass {
    /// Takes in the next event.
    pub fn absorb(&mut self, event: Event) {
        match event {
            Event::Answering(model) => self.model = Some(model),
            Event::TextDelta(text) => self.text.push_str(&text),
            Event::ToolCall(call) if self.calls.len() <= MAX_CALLS => self.calls.push(call),
            Event::ToolCall(_) => self.calls_left_out += 1,
            Event::Hosted(_) => self.searches += 1,
            Event::Source(source) => add_sources(&mut self.sources, [source]),
            Event::Private(part) => self.private.push(part),
            Event::Completed { finish, usage } => {
                self.usage = usage;
                match finish {
                    Finish::Stop => {}
                    Finish::Length => self.cut_short = true,
                    Finish::Filtered(reason) => self.filtered = Some(reason),
                }
            }
        }
    }
}
