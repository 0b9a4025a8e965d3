//! View of a pin for `kept.md`.

use serde::Serialize;

/// A pinned text to show.
#[derive(Debug, Clone, Serialize)]
pub struct PinView {
    /// Name of the writer in a group; `None` in a private chat.
    pub from: Option<String>,
    /// Text of the pin.
    pub text: String,
    /// `true` for code, which keeps its lines.
    pub is_code: bool,
}
