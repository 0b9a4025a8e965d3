//! What is kept of before, as prompts show it: pins, memories and summaries.

use serde::Serialize;

use super::pins::PinView;

/// What `kept.md` is rendered from: pins, memories and summaries.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KeptView {
    /// The pins.
    pub pins: Vec<PinView>,
    /// The name of the person whom the memories are about.
    pub about: String,
    /// The memories.
    pub memories: Vec<LabelledMemory>,
    /// The summaries, oldest first.
    pub summaries: Vec<DatedSummary>,
}

/// A memory, and how the model names it.
#[derive(Debug, Clone, Serialize)]
pub struct LabelledMemory {
    /// `M1`, `M2`, …
    pub label: String,
    /// The fact.
    pub text: String,
}

/// A summary, and of when it is.
#[derive(Debug, Clone, Serialize)]
pub struct DatedSummary {
    /// The dates of the first and last message, in the chat's zone.
    pub date: String,
    /// The words.
    pub text: String,
}
