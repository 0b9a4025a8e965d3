//! What is asked, and how.

use figaro_domain::model::ModelName;

/// What is asked, and how.
#[derive(Debug)]
pub struct AskOptions {
    /// The question; `-` or `None` reads it from standard input.
    pub question: Option<String>,
    /// The name of the agent that answers; `None` for Figaro itself.
    pub agent: Option<String>,
    /// The model that answers; `None` for that of the agent or of the settings.
    pub model: Option<ModelName>,
    /// The name of the conversation that the question belongs to; `None` for one of its own that is not kept.
    pub session: Option<String>,
    /// Only test an agent: the question stands alone, and no later one sees it.
    pub is_eval: bool,
    /// Print events as lines of JSON.
    pub json: bool,
}
