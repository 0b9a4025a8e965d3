//! Which calls are the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::domain::approval::canonical;
use crate::domain::tool::Call;

/// The same for calls that differ only in how their JSON is written. A hash: what a model writes may be long, and it is
/// stored with every step.
pub(super) fn fingerprint(call: &Call) -> u64 {
    let arguments = serde_json::from_str(&call.arguments)
        .map_or_else(|_| call.arguments.clone(), |value: Value| canonical(&value));
    let mut hasher = DefaultHasher::new();
    (&call.name, arguments).hash(&mut hasher);
    hasher.finish()
}
