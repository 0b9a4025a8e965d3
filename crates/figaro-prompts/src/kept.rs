//! Memory of earlier conversations in prompts: pins, memories and summaries.

use serde::Serialize;

use super::pins::PinView;

/// View for `kept.md`: pins, memories and summaries.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KeptView {
    /// Pins to show, in order.
    pub pins: Vec<PinView>,
    /// Name of the person whom the memories are about.
    pub about: String,
    /// Memories to show, each with a label.
    pub memories: Vec<LabelledMemory>,
    /// Summaries to show, oldest first.
    pub summaries: Vec<DatedSummary>,
}

/// A memory with its label for the model.
#[derive(Debug, Clone, Serialize)]
pub struct LabelledMemory {
    /// Label `M1`, `M2`, … by which the model refers to it.
    pub label: String,
    /// Text of the fact.
    pub text: String,
}

/// A summary with its date.
#[derive(Debug, Clone, Serialize)]
pub struct DatedSummary {
    /// Dates of its first and last message, in the chat's zone.
    pub date: String,
    /// Text of the summary.
    pub text: String,
}
