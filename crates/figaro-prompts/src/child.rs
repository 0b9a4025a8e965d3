//! Prompt of an agent that another agent asks.

use serde::Serialize;

/// View for `child.md`: the request of one agent to another.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChildView {
    /// Task of the asked agent.
    pub input: String,
    /// Additional data as JSON; `None` for none.
    pub data: Option<String>,
    /// `true` if the person sees its messages.
    pub speaks: bool,
}
