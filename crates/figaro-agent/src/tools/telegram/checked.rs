//! A call whose arguments fit its method.

use figaro_mcp::check::FileArgument;
use figaro_mcp::table::Method;
use serde_json::{Map, Value};

pub(super) struct CheckedCall {
    pub(super) method: &'static Method,
    pub(super) args: Map<String, Value>,
    /// Places of files in the arguments.
    pub(super) files: Vec<FileArgument>,
    /// Rule that decided about the call.
    pub(super) rule: String,
}
