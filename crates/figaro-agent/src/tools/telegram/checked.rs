//! A call that fits its method.

use figaro_mcp::check::Place;
use figaro_mcp::table::Method;
use serde_json::{Map, Value};

/// A call whose arguments fit its method.
pub(super) struct Checked {
    pub(super) method: &'static Method,
    pub(super) args: Map<String, Value>,
    /// Where it has files.
    pub(super) files: Vec<Place>,
    /// The rule that has decided about it.
    pub(super) rule: String,
}
