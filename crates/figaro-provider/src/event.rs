//! Events of an answer in progress.

use figaro_domain::conversation::PrivatePart;
use figaro_domain::model::ModelName;
use figaro_domain::source::Source;
use figaro_domain::tool::Call;
use figaro_domain::usage::Usage;

/// Piece of an answer, in the order in which the provider sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// This model accepted the request but gave no answer. It, or the next model, is asked again.
    Lost(ModelName),
    /// This model answers; the following events are its own. Comes before all of them.
    Answering(ModelName),
    /// Further text of the answer.
    TextDelta(String),
    /// All text so far was reasoning of the model, and no part of the answer.
    Reasoned,
    /// Complete call of a function tool.
    ToolCall(Call),
    /// The provider searches the web by itself. Sent once for each billed search.
    Searched,
    /// A search by the provider has ended, with these queries and results.
    Found(HostedSearch),
    /// Page that the answer cites from the provider's own search.
    Source(Source),
    /// Opaque part to be kept and sent back.
    Private(PrivatePart),
    /// Number of bytes that were written but are not shown, such as reasoning. Comes before the end of an answer
    /// without a token count.
    Unseen(usize),
    /// The answer is complete.
    Completed {
        /// Reason why the model stopped writing.
        finish: Finish,
        /// Token usage, if the provider reports it.
        usage: Option<Usage>,
    },
}

/// Queries and results of a search by the provider, as far as it reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostedSearch {
    /// Text of each query.
    pub queries: Vec<String>,
    /// Pages that the search found.
    pub sources: Vec<Source>,
}

impl HostedSearch {
    /// Returns the size of its texts, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let pages = self.sources.iter().map(|page| page.title.len() + page.url.len()).sum::<usize>();
        self.queries.iter().map(String::len).sum::<usize>() + pages
    }
}

/// Reason why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model finished by itself.
    Stop,
    /// The limit on the length was reached.
    Length,
    /// The provider withheld the answer, for this reason.
    Filtered(String),
}
