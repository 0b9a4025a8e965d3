//! Input of the run of a child.

use crate::tools::{AgentRequest, ToolContext};
use crate::turn::prepare::LoadedAgent;
use figaro_domain::child::ChildRun;

/// A child, its agent and the request to it.
pub(super) struct Life {
    pub(super) child: ChildRun,
    pub(super) found: LoadedAgent,
    pub(super) asked: AgentRequest,
    /// Context of the tool calls of the parent run.
    pub(super) context: ToolContext,
    /// `true` if the person sees the text of the child.
    pub(super) speaks: bool,
}
