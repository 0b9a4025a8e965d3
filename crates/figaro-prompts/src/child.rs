//! What an agent is told that another asks.

use serde::Serialize;

/// What `child.md` is rendered from: what an agent is asked by another.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChildView {
    /// What it is to do.
    pub input: String,
    /// What goes with that, as JSON; `None` for nothing.
    pub data: Option<String>,
    /// Whether the person reads what it writes.
    pub speaks: bool,
}
