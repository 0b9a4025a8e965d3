//! A pin as `kept.md` shows it.

use serde::Serialize;

/// Something pinned.
#[derive(Debug, Clone, Serialize)]
pub struct PinView {
    /// Whose words they are, in a group.
    pub from: Option<String>,
    /// The words.
    pub text: String,
    /// Whether they are code, which keeps its lines.
    pub is_code: bool,
}
