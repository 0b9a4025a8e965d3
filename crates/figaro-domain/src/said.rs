//! What children of a turn have said to the person: the answer of the turn begins with it.

use serde::{Deserialize, Serialize};

/// Words that a child has said to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Their place among all that was said in the turn.
    pub order: u32,
    /// The words, as Markdown.
    pub text: String,
}
