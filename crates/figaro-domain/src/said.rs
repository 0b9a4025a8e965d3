//! Texts that the children of a turn sent to the person. The answer of the turn begins with them.

use serde::{Deserialize, Serialize};

/// A text that a child sent to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentText {
    /// Position among all texts of the turn.
    pub order: u32,
    /// Text in Markdown.
    pub text: String,
}
