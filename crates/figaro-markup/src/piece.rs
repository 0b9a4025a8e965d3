//! What is sent one after the other, and the marks that stand for it in a text.

use super::formatted::Formatted;

/// Stands where a file is cut out; no text has it, see [`super::out::Out::push`].
pub(super) const CUT: char = '\u{10ffff}';
/// Before the name of a file.
pub(super) const CLIP: &str = "📎 ";

/// Something that is sent by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The text of one message.
    Text(Formatted),
    /// A document; the message before it says where it belongs, unless it follows nothing.
    File(File),
    /// The whole answer as a document, and the message that would have stood in its place.
    Whole(File, Formatted),
}

/// Code that goes out as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What it is called: letters, digits and `.`, `_`, `-`, `+`.
    pub name: String,
    /// The language the code is marked with.
    pub language: Option<String>,
    /// The code, never empty.
    pub content: String,
}
