//! Pieces of an answer, and the marks that stand for them in a text.

use super::formatted::Formatted;
use super::rich_block::RichMessage;

/// Mark for a file that was cut out. No text has it, see [`super::out::Out::push`].
pub(super) const CUT: char = '\u{10ffff}';
/// Mark before the name of a file.
pub(super) const CLIP: &str = "📎 ";

/// Part of an answer that is sent by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text of one message.
    Text(Formatted),
    /// Document. The message before it refers to it, unless there is none.
    File(CodeFile),
    /// Whole answer as a document, and the message that would have been in its place.
    Whole(CodeFile, Formatted),
    /// Rich message, for answers with tables, headings, formulas or sections to open.
    Rich(RichPart),
}

/// A rich message, and what is sent if Telegram does not take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RichPart {
    /// Blocks in the order of the answer.
    pub message: RichMessage,
    /// The same content as messages of text.
    pub instead: Vec<Formatted>,
}

/// Code that goes out as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFile {
    /// File name: letters, digits and `.`, `_`, `-`, `+`.
    pub name: String,
    /// Language in the fence of the code; `None` if it has none.
    pub language: Option<String>,
    /// Code, never empty.
    pub content: String,
}
