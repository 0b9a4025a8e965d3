//! Documents of chats, and their passages.

use super::changes::Changes;
use super::engine::Keys;
use super::fault::StoreFault;
use super::key;
use super::tables::Tables;
use crate::{DocumentStore, Result};
use figaro_base::ids::{ChatId, DocumentId};
use figaro_domain::document::{Document, DocumentSource, MAX_CHAT_TOKENS, MAX_DOCUMENTS, Passage};

impl DocumentStore {
    /// Adds a document with its passages, durably, and returns it. If the chat has the same file already, that one is
    /// returned, with the new sources. The oldest documents of a full chat give way.
    pub async fn add(&self, document: Document, passages: &[Passage]) -> Result<Document> {
        let passages = passages.to_vec();
        self.0
            .change_durably("store a document", move |tables, changes| {
                let kept = oldest_first(tables, document.chat)?;
                let is_same =
                    |one: &&Document| one.unique_id.is_some() && one.unique_id == document.unique_id;
                if let Some(known) = kept.iter().find(is_same) {
                    return with_sources(tables, changes, known.clone(), document.sources);
                }
                let mut left = kept.len();
                let mut tokens = document.tokens + kept.iter().map(|one| one.tokens).sum::<usize>();
                for oldest in &kept {
                    if left < MAX_DOCUMENTS && tokens <= MAX_CHAT_TOKENS {
                        break;
                    }
                    (left, tokens) = (left - 1, tokens - oldest.tokens);
                    remove(tables, changes, oldest)?;
                }
                put(tables, changes, &document, &passages)?;
                Ok(document)
            })
            .await
    }

    /// Adds a source to a document, durably, and returns the document; `None` if it was removed meanwhile.
    pub async fn brought_again(
        &self,
        document: &Document,
        source: DocumentSource,
    ) -> Result<Option<Document>> {
        // Most questions about a file come from the session that brought it.
        if !document.clone().add_sources(vec![source.clone()]) {
            return Ok(Some(document.clone()));
        }
        let at = key::document(document.chat, document.id);
        self.0
            .change_durably("store a document", move |tables, changes| {
                let Some(document) = tables.documents.get(&at)? else { return Ok(None) };
                with_sources(tables, changes, document, vec![source]).map(Some)
            })
            .await
    }

    /// Returns the documents of a chat, oldest first.
    pub fn of_chat(&self, chat: ChatId) -> Result<Vec<Document>> {
        self.0.read("read the documents", move |tables| oldest_first(tables, chat))
    }

    /// Returns `count` passages of a document from index `from` on, with their indexes.
    pub fn passages(&self, document: &Document, from: u32, count: usize) -> Result<Vec<(u32, Passage)>> {
        let (chat, id) = (document.chat, document.id);
        self.0.read("read a document", move |tables| {
            let all = key::document(chat, id);
            let range = Keys::from(key::passage(chat, id, from), &all);
            let found = tables.passages.scan_range(&range)?.take(count);
            found
                .map(|item| item.map(|(key, passage)| (key::index_of(&key).unwrap_or_default(), passage)))
                .collect()
        })
    }

    /// Removes a document, durably, and returns it with its passages; `None` if the chat has none with this id.
    pub async fn remove(&self, chat: ChatId, id: DocumentId) -> Result<Option<(Document, Vec<Passage>)>> {
        self.0
            .change_durably("remove a document", move |tables, changes| {
                let Some(document) = tables.documents.get(&key::document(chat, id))? else { return Ok(None) };
                let passages = tables.passages.list(&key::document(chat, id))?;
                remove(tables, changes, &document)?;
                Ok(Some((document, passages)))
            })
            .await
    }
}

fn with_sources(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    mut document: Document,
    sources: Vec<DocumentSource>,
) -> Result<Document, StoreFault> {
    if document.add_sources(sources) {
        changes.put(&tables.documents, key::document(document.chat, document.id), &document)?;
    }
    Ok(document)
}

fn put(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    document: &Document,
    passages: &[Passage],
) -> Result<(), StoreFault> {
    changes.put(&tables.documents, key::document(document.chat, document.id), document)?;
    for (index, passage) in (0..).zip(passages) {
        changes.put(&tables.passages, key::passage(document.chat, document.id, index), passage)?;
    }
    Ok(())
}

/// Removes a document with its passages, readable or not.
pub(super) fn remove(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    document: &Document,
) -> Result<(), StoreFault> {
    let all = key::document(document.chat, document.id);
    for key in tables.passages.keys_of(&all)? {
        changes.remove(&tables.passages, key?);
    }
    changes.remove(&tables.documents, all);
    Ok(())
}

fn oldest_first(tables: &Tables<'_>, chat: ChatId) -> Result<Vec<Document>, StoreFault> {
    let mut documents = tables.documents.list(&key::chat(chat))?;
    documents.sort_by_key(|document| (document.added_at, document.id));
    Ok(documents)
}
