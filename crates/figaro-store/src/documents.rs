//! Documents of chats, and their passages.

use super::changes::Changes;
use super::engine::Keys;
use super::fault::StoreFault;
use super::key;
use super::tables::Tables;
use crate::{DocumentStore, Result};
use figaro_base::ids::{ChatId, DocumentId};
use figaro_domain::document::{Document, MAX_DOCUMENTS, Passage};

impl DocumentStore {
    /// Adds a document with its passages, durably. The oldest documents of a full chat give way.
    pub async fn add(&self, document: &Document, passages: &[Passage]) -> Result<()> {
        let (document, passages) = (document.clone(), passages.to_vec());
        self.0
            .change_durably("store a document", move |tables, changes| {
                let kept = oldest_first(tables, document.chat)?;
                let over = (kept.len() + 1).saturating_sub(MAX_DOCUMENTS);
                kept.iter().take(over).try_for_each(|oldest| remove(tables, changes, oldest))?;
                put(tables, changes, &document, &passages)
            })
            .await
    }

    /// Returns the documents of a chat, oldest first.
    pub async fn of_chat(&self, chat: ChatId) -> Result<Vec<Document>> {
        self.0.read("read the documents", move |tables| oldest_first(tables, chat)).await
    }

    /// Returns `count` passages of a document from index `from` on, with their indexes.
    pub async fn passages(
        &self,
        document: &Document,
        from: u32,
        count: usize,
    ) -> Result<Vec<(u32, Passage)>> {
        let (chat, id) = (document.chat, document.id);
        self.0
            .read("read a document", move |tables| {
                let all = key::document(chat, id);
                let range = Keys::from(key::passage(chat, id, from), &all);
                let found = tables.passages.scan_range(&range)?.take(count);
                found
                    .map(|item| item.map(|(key, passage)| (key::index_of(&key).unwrap_or_default(), passage)))
                    .collect()
            })
            .await
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
