//! Documents of chats: files that people sent, as the text that was read from them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use figaro_base::ids::{ChatId, DocumentId, MessageId, RunId, SessionId, UserId};
use figaro_base::text::{estimate_tokens, one_line};

/// Argument that makes `figaro` the process that reads one file: `figaro extract NAME [CHARSET]`, with the file on standard
/// input and an [`Extraction`] as JSON on standard output. `CHARSET` is given for a web page, of which only the main text is
/// read: the name of its encoding, or an empty text.
pub const READER: &str = "extract";
/// Maximum length of the name and of the title of a document, in characters.
const MAX_NAME: usize = 120;
/// Maximum number of documents of a chat; the oldest gives way.
pub const MAX_DOCUMENTS: usize = 200;
/// Maximum number of sources of a document.
pub const MAX_SOURCES: usize = 50;
/// Maximum text of all documents of a chat, in estimated tokens, some 30 MB; the oldest documents give way.
pub const MAX_CHAT_TOKENS: usize = 8_000_000;
/// Maximum size of a file that is read, in bytes: what Telegram lets bots download.
pub const MAX_FILE_BYTES: usize = 20 * 1024 * 1024;
/// Maximum text of a document, in bytes; the rest is left out.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// A file that somebody sent, and what is known about its text. The text itself is stored as [`Passage`]s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Unique id of the document.
    pub id: DocumentId,
    /// Chat of the document.
    pub chat: ChatId,
    /// Name of the file, as its sender gave it.
    pub name: String,
    /// Title that the file itself states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Language of the text as an ISO 639-3 code such as `eng`; `None` if unclear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Format of the file.
    pub format: DocumentFormat,
    /// Number of pages, slides, sheets, chapters or files; 0 for a text without such parts.
    pub parts: u32,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Number of passages that the text was split into.
    pub passages: u32,
    /// Estimated tokens of all passages.
    pub tokens: usize,
    /// `true` if the end of the text is missing, because there was too much of it.
    pub is_cut: bool,
    /// Telegram's handle of the file, to send it back; `None` for one that came over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// Id of the content: Telegram's, which is the same in every message with it, or a hash of an upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_id: Option<String>,
    /// Everything that brought it, oldest first. The document is forgotten with the last of them.
    pub sources: Vec<DocumentSource>,
    /// Time when it was read, UTC.
    pub added_at: DateTime<Utc>,
}

/// One way in which a file came into a chat. Several people may send the same file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSource {
    /// Message that brought it; `None` for one that came over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telegram: Option<MessageId>,
    /// Session that it was brought to; `None` for an upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Turn that fetched it from the web; `None` for a file that somebody sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<RunId>,
    /// Person who sent it, or who asked for it.
    pub sender: UserId,
}

impl DocumentSource {
    /// Returns `true` if both are the same message, or the same person in the same session. A reply to a message brings its
    /// file to further sessions, which is no other source.
    #[must_use]
    fn is(&self, other: &Self) -> bool {
        match (self.telegram, other.telegram) {
            (None, None) => self == other,
            (one, other) => one == other,
        }
    }
}

impl Document {
    /// Creates the document of a file whose text was read. Its size and its ids at Telegram are not set.
    #[must_use]
    pub fn new(
        chat: ChatId,
        name: &str,
        extracted: &Extracted,
        source: DocumentSource,
        added_at: DateTime<Utc>,
    ) -> Self {
        Self {
            id: DocumentId::new(),
            chat,
            name: one_line(name, MAX_NAME),
            title: extracted.title.as_deref().map(|title| one_line(title, MAX_NAME)),
            language: extracted.language.clone(),
            format: extracted.format,
            parts: extracted.parts,
            bytes: 0,
            passages: u32::try_from(extracted.passages.len()).unwrap_or(u32::MAX),
            tokens: extracted.passages.iter().map(|passage| estimate_tokens(&passage.text)).sum(),
            is_cut: extracted.is_cut,
            file_id: None,
            unique_id: None,
            sources: vec![source],
            added_at,
        }
    }

    /// Adds the sources that are new, and returns `true` if there are any. Beyond [`MAX_SOURCES`] the oldest are dropped.
    pub fn add_sources(&mut self, sources: Vec<DocumentSource>) -> bool {
        let before = self.sources.len();
        for source in sources {
            if !self.sources.iter().any(|known| known.is(&source)) {
                self.sources.push(source);
            }
        }
        let is_any = self.sources.len() > before;
        self.sources.drain(..self.sources.len().saturating_sub(MAX_SOURCES));
        is_any
    }

    /// Returns `true` if this person sent it.
    #[must_use]
    pub fn is_of(&self, user: &UserId) -> bool {
        self.sources.iter().any(|source| source.sender == *user)
    }

    /// Returns the size in words, such as `12 pages`; empty if the format has no such parts.
    #[must_use]
    pub fn size(&self) -> String {
        let Some(unit) = self.format.unit() else { return String::new() };
        format!("{} {unit}{}", self.parts, if self.parts == 1 { "" } else { "s" })
    }
}

/// A piece of a document's text, short enough to be shown by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Place in the document, such as `page 3` or `Sales!A2:F30`; empty if the format has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Number of the page, slide, sheet, chapter or file, from 1; 0 if the format has none.
    #[serde(default)]
    pub part: u32,
    /// The text, as paragraphs.
    pub text: String,
}

/// Formats of files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentFormat {
    /// PDF files with text; scans have none.
    Pdf,
    /// Text documents of Word, LibreOffice and others.
    Text,
    /// Presentations of PowerPoint and LibreOffice.
    Slides,
    /// Spreadsheets of Excel and LibreOffice, and CSV.
    Sheet,
    /// Books of chapters.
    Book,
    /// HTML pages, as a browser saves them.
    Page,
    /// Mails.
    Mail,
    /// Archives, of which the names of the files are read.
    Archive,
}

impl DocumentFormat {
    /// Returns the word for one part; `None` if the format has no parts.
    #[must_use]
    pub const fn unit(self) -> Option<&'static str> {
        match self {
            Self::Pdf => Some("page"),
            Self::Slides => Some("slide"),
            Self::Sheet => Some("sheet"),
            Self::Book => Some("chapter"),
            Self::Archive => Some("file"),
            Self::Text | Self::Page | Self::Mail => None,
        }
    }
}

/// Text read from a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// Title that the file states.
    pub title: Option<String>,
    /// Language of the text as an ISO 639-3 code; `None` if unclear.
    pub language: Option<String>,
    /// Time of publication as a web page states it, most often in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Format of the file, by its content.
    pub format: DocumentFormat,
    /// Number of pages, slides, sheets, chapters or files; 0 if the format has none.
    pub parts: u32,
    /// Text in the order of the file.
    pub passages: Vec<Passage>,
    /// `true` if text was left out at the end, beyond [`MAX_TEXT_BYTES`].
    pub is_cut: bool,
}

/// Reason why a file could not be read. The words complete "The file ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// The format is not known.
    #[error("is in a format that cannot be read")]
    Unknown,
    /// A password protects the file.
    #[error("is protected by a password")]
    Encrypted,
    /// The file does not follow its format.
    #[error("is damaged")]
    Damaged,
    /// The file has no text: it is empty, or a scan.
    #[error("has no text: it is empty, or has only pictures")]
    Empty,
    /// The file is larger than [`MAX_FILE_BYTES`], or unpacks to more than the reader may use.
    #[error("is too large to be read: 20 MB at most, and less if it unpacks to very much")]
    TooLarge,
    /// Reading took too long.
    #[error("took too long to be read: send a part of it")]
    TooLong,
    /// Too many other files are being read.
    #[error("could not be read now, because others are being read: send it again later")]
    Busy,
    /// The file cannot be downloaded.
    #[error("could not be fetched")]
    Gone,
    /// The reader of files does not start.
    #[error("could not be read, because the reader of files does not start: the log says why")]
    NoReader,
}

/// Result of reading a file.
pub type Extraction = Result<Extracted, Unreadable>;
