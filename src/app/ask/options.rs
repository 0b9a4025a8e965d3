//! Options of `figaro ask`.

use figaro_domain::model::ModelName;

/// Options of `figaro ask`.
#[derive(Debug)]
pub struct AskOptions {
    /// Question; `-` or `None` reads it from standard input.
    pub question: Option<String>,
    /// Name of the agent that answers; `None` for Figaro itself.
    pub agent: Option<String>,
    /// Model that answers; `None` for the model of the agent or of the settings.
    pub model: Option<ModelName>,
    /// Name of the conversation that the question belongs to; `None` for a new conversation that is not kept.
    pub session: Option<String>,
    /// `true` to only test an agent: the question has no history, and later questions do not see it.
    pub is_eval: bool,
    /// `true` to print events as JSON lines.
    pub json: bool,
}
