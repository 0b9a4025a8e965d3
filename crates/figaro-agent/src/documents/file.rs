//! A file on its way to a document.

use chrono::{DateTime, Utc};

use figaro_base::ids::ChatId;
use figaro_domain::document::{Document, DocumentSource, Extracted};
use figaro_domain::message::Attachment;

/// A file before it is read.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// Chat of the document.
    pub chat: ChatId,
    /// Name that its sender gave it.
    pub name: String,
    /// Telegram's handle of the file, and its id in every message.
    pub file_id: Option<String>,
    /// Id of the content.
    pub unique_id: Option<String>,
    /// Message, session and person that bring it.
    pub source: DocumentSource,
    /// Time of reading, UTC.
    pub now: DateTime<Utc>,
}

impl NewFile {
    /// Makes the file of an attachment; `None` for one without a file, or that is no document.
    #[must_use]
    pub(crate) fn of(
        attachment: &Attachment,
        chat: ChatId,
        source: DocumentSource,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let file_id = attachment.file_id.clone().filter(|_| attachment.is_document())?;
        Some(Self {
            chat,
            name: attachment.label.clone().unwrap_or_else(|| "file".to_owned()),
            file_id: Some(file_id),
            unique_id: attachment.unique_id.clone(),
            source,
            now,
        })
    }

    /// Returns `true` if a document was read from this file.
    pub(super) fn is(&self, document: &Document) -> bool {
        let is_same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        is_same(&self.unique_id, &document.unique_id) || is_same(&self.file_id, &document.file_id)
    }

    pub(super) fn document(self, extracted: &Extracted, bytes: u64) -> Document {
        let Self { chat, name, file_id, unique_id, source, now } = self;
        Document { bytes, file_id, unique_id, ..Document::new(chat, &name, extracted, source, now) }
    }
}
