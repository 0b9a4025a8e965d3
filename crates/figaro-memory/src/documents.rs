//! Search in the documents of a chat. Their passages are indexed in memory when a chat first asks about them, by the terms
//! that messages are found by.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use super::index::{Index, IndexEntry, IndexQuery, Remembered, TermCount};
use super::words::{self, StemmerLanguage, Term, Weighted};
use figaro_base::ids::{ChatId, DocumentId, SessionId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::estimate_tokens;
use figaro_domain::document::{Document, Passage};
use figaro_store::{DocumentStore, StoreError};

/// Maximum number of passages of a chat that are searched, those of the newest documents.
const MAX_PASSAGES: u32 = 20_000;
/// Approximate limit of all indexes together, in bytes, unless one alone is larger.
const MAX_BYTES: usize = 24 << 20;
/// Interval of the search for indexes that nobody uses, and the number of intervals after which one is dropped.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
const QUIET_INTERVALS: u32 = 10;
/// Number of passages read at once.
const READ: usize = 512;

/// Search for passages in the documents of a chat.
#[derive(Debug, Clone, Copy)]
pub struct PassageQuery<'a> {
    /// Chat of the documents.
    pub chat: ChatId,
    /// Only this document; `None` for all documents of the chat.
    pub document: Option<DocumentId>,
    /// Words to search for: a question, or what it is about.
    pub text: &'a str,
    /// Date of the question in the chat's zone.
    pub today: NaiveDate,
    /// Maximum number of passages.
    pub limit: usize,
}

/// A passage that bears on a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    /// Document of the passage.
    pub document: Arc<Document>,
    /// Index of the passage in the document.
    pub index: u32,
    /// Text of the passage and its place in the document.
    pub passage: Passage,
    /// Relevance above 0; comparable within one search.
    pub score: f32,
    /// Number of different words of the search that the passage has.
    pub words: usize,
}

/// Searches documents. Cheap to clone; clones share the indexes.
#[derive(Debug, Clone)]
pub struct DocumentSearch {
    store: DocumentStore,
    chats: Arc<Mutex<HashMap<ChatId, CachedPassages>>>,
}

#[derive(Debug, Default)]
struct CachedPassages {
    index: SharedIndex,
    bytes: usize,
    /// Number of intervals without a search.
    quiet: u32,
}

type SharedIndex = Arc<AsyncMutex<PassageIndex>>;

/// Index of the passages of a chat.
#[derive(Debug, Default)]
struct PassageIndex {
    index: Index,
    documents: Vec<Arc<Document>>,
}

impl DocumentSearch {
    /// Creates the search over the documents in this store.
    #[must_use]
    pub fn new(store: DocumentStore) -> Self {
        Self { store, chats: Arc::default() }
    }

    /// Returns the passages that bear on the words most, best first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn search(&self, query: PassageQuery<'_>) -> Result<Vec<FoundPassage>, StoreError> {
        let documents = self.store.of_chat(query.chat)?;
        if documents.is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }
        let place = self.of(query.chat);
        let mut held = place.lock().await;
        self.catch_up(&mut held, documents).await?;
        self.measured(query.chat, held.index.bytes());
        let terms = words::of_question(query.text, &held.index.languages(), query.today);
        let asked = IndexQuery { terms, ..IndexQuery::default() };
        let ranked = held.index.rank(&asked, query.document.map(session), query.limit);
        let mut found = Vec::new();
        for one in ranked {
            let Some((of, entry)) = held.index.message(one.at) else { continue };
            let Some(document) = held.documents.iter().find(|document| session(document.id) == of) else {
                continue;
            };
            let passages = self.store.passages(document, entry.index, 1)?;
            let passages = passages.into_iter().filter(|(index, _)| *index == entry.index);
            found.extend(passages.map(|(index, passage)| FoundPassage {
                document: document.clone(),
                index,
                words: shared(&asked.terms, &passage, entry.language),
                passage,
                score: one.score,
            }));
        }
        Ok(found)
    }

    /// Returns the memory that the indexes take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.chats.lock().values().map(|cached| cached.bytes).sum()
    }

    fn of(&self, chat: ChatId) -> SharedIndex {
        let mut chats = self.chats.lock();
        let cached = chats.entry(chat).or_default();
        cached.quiet = 0;
        cached.index.clone()
    }

    /// Records the memory use of an index, and drops others if all together take too much.
    fn measured(&self, chat: ChatId, bytes: usize) {
        let mut chats = self.chats.lock();
        if let Some(cached) = chats.get_mut(&chat) {
            cached.bytes = bytes;
        }
        if chats.values().map(|cached| cached.bytes).sum::<usize>() > MAX_BYTES {
            chats.retain(|other, _| *other == chat);
        }
    }

    /// Drops indexes that nobody uses, until `background` stops.
    pub async fn tend(self, background: TaskTracker) {
        loop {
            tokio::select! {
                () = background.stopping() => return,
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            self.chats.lock().retain(|_, cached| {
                cached.quiet += 1;
                cached.quiet <= QUIET_INTERVALS
            });
        }
    }

    /// Indexes the documents that are not in the index yet, and drops those that are gone. If it is cancelled, the next search
    /// goes on where it stopped.
    async fn catch_up(&self, held: &mut PassageIndex, documents: Vec<Document>) -> Result<(), StoreError> {
        let mut left = MAX_PASSAGES;
        // One that is too long for the room does not hide the older ones.
        let fits = |document: &Document| match left.checked_sub(document.passages) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let mut documents: Vec<Document> = documents.into_iter().rev().filter(fits).collect();
        documents.reverse();
        let is_indexed = |one: &Arc<Document>| documents.iter().any(|document| document.id == one.id);
        if !held.documents.iter().all(is_indexed) {
            *held = PassageIndex::default();
        }
        for document in documents {
            if !held.documents.iter().any(|one| one.id == document.id) {
                self.add(&mut held.index, &document).await?;
                held.documents.push(Arc::new(document));
            }
        }
        Ok(())
    }

    async fn add(&self, index: &mut Index, document: &Document) -> Result<(), StoreError> {
        let mut from = 0;
        loop {
            let passages = self.store.passages(document, from, READ)?;
            let Some((last, _)) = passages.last() else { return Ok(()) };
            from = last + 1;
            for (number, passage) in passages {
                index.add(&remembered(document, number, &passage));
            }
            // A long document does not keep other questions waiting.
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the number of different words that a passage shares with a question.
fn shared(asked: &[Weighted], passage: &Passage, language: Option<StemmerLanguage>) -> usize {
    let terms: HashSet<Term> = words::of_words(&passage.text, language).into_iter().collect();
    asked.iter().filter(|one| terms.contains(&one.term)).count()
}

/// Returns the session of a document in the index: messages of a session are neighbours, and so are its passages.
const fn session(document: DocumentId) -> SessionId {
    SessionId::from_bytes(document.to_bytes())
}

fn remembered(document: &Document, index: u32, passage: &Passage) -> Remembered {
    let language = words::detect(&passage.text);
    let text = format!("{} {} {}", document.name, passage.place, passage.text);
    let terms = words::of_message(&text, language, "", document.added_at.date_naive());
    let cost = u16::try_from(estimate_tokens(&passage.text)).unwrap_or(u16::MAX);
    let at = document.added_at.timestamp();
    let entry = IndexEntry { index, check: 0, at, cost, importance: 0, wish: None, language };
    Remembered { session: session(document.id), entry, terms: TermCount::of(&terms) }
}
