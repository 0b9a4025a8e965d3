//! What a child is run with.

use crate::tools::{Asked, ToolContext};
use crate::turn::prepare::Found;
use figaro_domain::child::ChildRun;

/// A child, and what it is asked.
pub(super) struct Life {
    pub(super) child: ChildRun,
    pub(super) found: Found,
    pub(super) asked: Asked,
    /// For whom whoever asked it calls tools.
    pub(super) context: ToolContext,
    /// The person hears what it writes.
    pub(super) speaks: bool,
}
