//! Documents of chats: reads the files that people send, stores their text, and searches it. Used when a turn is prepared, by
//! the tools `search_documents` and `read_document`, and by the gateway for uploads.

mod file;
mod reader;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

pub use self::file::NewFile;
pub use self::reader::FileReader;
use crate::channel::{Channel, FileStream};
use figaro_base::ids::ChatId;
use figaro_domain::document::{Document, DocumentSource, Extracted, MAX_FILE_BYTES, Passage, Unreadable};
use figaro_domain::message::Attachment;
use figaro_memory::DocumentSearch;
use figaro_store::{DocumentStore, StoreError};

/// Maximum number of files beside the questions that are remembered as tried.
const MAX_TRIED: usize = 1_000;

/// Reads, stores and searches documents. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Documents {
    /// The store of documents.
    pub store: DocumentStore,
    /// Index that finds passages by their words.
    pub search: DocumentSearch,
    /// Reads files in a process of its own.
    pub reader: FileReader,
    /// Fetches files that people sent.
    pub channel: Arc<dyn Channel>,
    /// Files beside the questions that were tried, oldest first.
    tried: Arc<Mutex<VecDeque<String>>>,
}

impl Documents {
    /// Makes the documents of this store.
    #[must_use]
    pub fn new(store: DocumentStore, reader: FileReader, channel: Arc<dyn Channel>) -> Self {
        Self { search: DocumentSearch::new(store.clone()), store, reader, channel, tried: Arc::default() }
    }

    /// Returns the same documents, with files from another channel.
    #[must_use]
    pub fn elsewhere(&self, channel: Arc<dyn Channel>) -> Self {
        Self { channel, ..self.clone() }
    }

    /// Returns the documents of another store.
    #[must_use]
    pub fn over(&self, store: DocumentStore) -> Self {
        Self::new(store, self.reader.clone(), self.channel.clone())
    }

    /// Returns the document of a file that was sent, which is read unless it is stored already.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn of(&self, file: NewFile) -> Result<Result<Document, Unreadable>, StoreError> {
        if let Some(known) = self.known(&file).await? {
            return Ok(Ok(known));
        }
        let Some(file_id) = &file.file_id else { return Ok(Err(Unreadable::Gone)) };
        match self.channel.open(file_id, MAX_FILE_BYTES).await {
            Ok(content) => self.add(file, content).await,
            Err(error) => Ok(Err(error.into())),
        }
    }

    /// Returns the document of a file that was read before, which has one more source then.
    async fn known(&self, file: &NewFile) -> Result<Option<Document>, StoreError> {
        match self.store.of_chat(file.chat)?.iter().find(|known| file.is(known)) {
            Some(known) => self.store.brought_again(known, file.source.clone()).await,
            None => Ok(None),
        }
    }

    /// Returns the document of an upload, which is read unless it is stored already.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn of_upload(
        &self,
        file: NewFile,
        content: Vec<u8>,
    ) -> Result<Result<Document, Unreadable>, StoreError> {
        match self.known(&file).await? {
            Some(known) => Ok(Ok(known)),
            None => self.add(file, stream::once(async { Ok(content) }).boxed()).await,
        }
    }

    /// Returns a stored document in this chat, to which one of another chat is copied.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn here(
        &self,
        chat: ChatId,
        source: DocumentSource,
        document: &Document,
        passages: &[Passage],
    ) -> Result<Result<Document, Unreadable>, StoreError> {
        let known = self.store.of_chat(chat)?.into_iter().find(|known| known.id == document.id);
        match known {
            Some(known) if document.chat == chat => Ok(Ok(known)),
            Some(known) => Ok(self.store.brought_again(&known, source).await?.ok_or(Unreadable::Gone)),
            // It was removed while the question waited.
            None if document.chat == chat => Ok(Err(Unreadable::Gone)),
            None => {
                let here = Document { chat, sources: vec![source], ..document.clone() };
                self.store.add(here, passages).await.map(Ok)
            }
        }
    }

    /// Returns `true` if a file of a message beside the questions was not tried before, and remembers it.
    pub(crate) fn is_first(&self, attachment: &Attachment) -> bool {
        let Some(id) = attachment.unique_id.as_ref().or(attachment.file_id.as_ref()) else { return false };
        let mut tried = self.tried.lock();
        if tried.contains(id) {
            return false;
        }
        if tried.len() == MAX_TRIED {
            tried.pop_front();
        }
        tried.push_back(id.clone());
        true
    }

    /// Reads a file and stores it as a document.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn add(
        &self,
        file: NewFile,
        content: FileStream,
    ) -> Result<Result<Document, Unreadable>, StoreError> {
        match self.extract(&file, None, content).await {
            Ok((extracted, bytes)) => self.keep(file, &extracted, bytes).await.map(Ok),
            Err(reason) => Ok(Err(reason)),
        }
    }

    /// Reads the text of a file and counts its bytes. `page` is the stated encoding of a web page; `None` for other files.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) async fn extract(
        &self,
        file: &NewFile,
        page: Option<&str>,
        content: FileStream,
    ) -> Result<(Extracted, u64), Unreadable> {
        let read = Arc::new(AtomicU64::new(0));
        let count = read.clone();
        let content = content.inspect_ok(move |piece| {
            count.fetch_add(piece.len() as u64, Ordering::Relaxed);
        });
        let extracted = self.reader.read(file, page, content.boxed()).await?;
        Ok((extracted, read.load(Ordering::Relaxed)))
    }

    /// Stores a file that was read as a document.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn keep(
        &self,
        file: NewFile,
        extracted: &Extracted,
        bytes: u64,
    ) -> Result<Document, StoreError> {
        self.store.add(file.document(extracted, bytes), &extracted.passages).await
    }
}
