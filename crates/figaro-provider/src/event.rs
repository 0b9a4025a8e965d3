//! What a model says while it answers.

use figaro_domain::conversation::PrivatePart;
use figaro_domain::model::ModelName;
use figaro_domain::source::Source;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// One piece of an answer, in the order the provider sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// This model was asked and has taken the request up, and nothing came of it: it, or the next, is asked again.
    Lost(ModelName),
    /// This model answers: what follows is its own. Told before all of that.
    Answering(ModelName),
    /// More text of the answer.
    TextDelta(String),
    /// All text that was told so far was the model's reasoning, and no part of the answer.
    Reasoned,
    /// A complete call of a function tool.
    ToolCall(Call),
    /// The provider searches the web by itself; once for each search that is billed.
    Searched,
    /// What a search of the provider's own has looked for and found, once it has ended.
    Found(Search),
    /// A page the answer rests on, as the provider's own search names it.
    Source(Source),
    /// An opaque part to be kept and sent back.
    Private(PrivatePart),
    /// So many bytes were written that are not told, such as reasoning. Told before the end of an answer that is not counted.
    Unseen(usize),
    /// The answer is whole.
    Completed {
        /// Why the model stopped writing.
        finish: Finish,
        /// What it cost, if the provider said.
        usage: Option<Usage>,
    },
}

/// What a search of the provider's own has looked for and found, as far as it says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// The words that it searched for.
    pub queries: Vec<String>,
    /// The pages that it found.
    pub sources: Vec<Source>,
}

impl Search {
    /// The bytes of its words.
    #[must_use]
    pub fn size(&self) -> usize {
        let pages = self.sources.iter().map(|page| page.title.len() + page.url.len()).sum::<usize>();
        self.queries.iter().map(String::len).sum::<usize>() + pages
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The bound on its length was reached.
    Length,
    /// The provider withheld it, with its reason.
    Filtered(String),
}
