//! Documents for the model: those of the question and of the message it replies to, and passages of others that bear on it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chrono::NaiveDate;
use tokio::time::{Instant, timeout_at};

use super::super::question::Question;
use super::super::report::Reporter;
use super::super::requested::RequestedFile;
use crate::documents::{Documents, NewFile};
use crate::pages::{Pages, WebPage};
use figaro_base::ids::{ChatId, DocumentId, SessionId, UserId};
use figaro_base::text::{estimate_tokens, one_line};
use figaro_domain::document::{Document, DocumentSource, Passage, Unreadable};
use figaro_domain::message::{Attachment, Inbound};
use figaro_memory::PassageQuery;
use figaro_policy::address::is_web;
use figaro_prompts::{DocumentView, PassageView};
use figaro_store::StoreError;

/// Maximum number of documents that a question brings.
const MAX_ASKED: usize = 5;
/// Maximum number of documents of background messages, the newest.
const MAX_BACKGROUND: usize = 2;
/// Tokens of the documents that a question brings, all together, and of others that bear on it.
const ASKED_TOKENS: usize = 3_000;
const OTHER_TOKENS: usize = 700;
/// Part of a long document's room for its beginning.
const PARTS_OF_BEGINNING: usize = 3;
/// Minimum number of words that a passage of another document shares with the question.
const SHARED_WORDS: usize = 2;
/// Time for the search in other documents; the question does not wait longer.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of passages that are searched for one document.
const MAX_FOUND: usize = 24;
/// Maximum length of the name of a file that could not be read, in characters.
const MAX_NAME: usize = 120;
const TOO_MANY: &str = "there are too many files: send the others with another question";
const NOT_STORED: &str = "could not be stored";

/// Documents of a turn.
#[derive(Debug, Default)]
pub(super) struct TurnDocuments {
    /// Documents with text for the prompt.
    pub(super) views: Vec<DocumentView>,
    /// Reasons why files could not be read, by the file id in their message.
    pub(super) unread: HashMap<String, String>,
    /// `true` if the chat has documents that the model may search.
    pub(super) is_any: bool,
}

/// Context of a search for documents.
#[derive(Clone, Copy)]
pub(super) struct DocumentContext<'a> {
    pub(super) documents: &'a Documents,
    /// Reads the page of a message that is only a link; `None` if the agent reads no pages.
    pub(super) pages: Option<&'a Pages>,
    pub(super) reporter: &'a Reporter,
    pub(super) chat: ChatId,
    /// Session of the turn.
    pub(super) session: SessionId,
    /// Date in the chat's zone.
    pub(super) today: NaiveDate,
    /// `true` if documents of earlier messages may be shown.
    pub(super) looks_back: bool,
    /// Time until which files are read; the question does not wait longer.
    pub(super) deadline: Instant,
}

impl DocumentContext<'_> {
    /// Reads the files of the question and of background messages, and selects the text to show.
    pub(super) async fn load(self, question: &Question, background: &[Inbound]) -> TurnDocuments {
        let mut found = TurnDocuments::default();
        let asked = question.parts.iter().flat_map(files_of).filter(BroughtFile::is_document);
        let mut asked: Vec<BroughtFile<'_>> = asked.collect();
        let others =
            asked.drain(MAX_ASKED.min(asked.len())..).filter_map(|one| one.attachment.file_id.clone());
        found.unread.extend(others.map(|id| (id, TOO_MANY.to_owned())));
        let mut asked = self.read(asked, &mut found).await;
        let failed = self.requested(question, &mut asked).await;
        found.views.extend(failed);
        found.views.extend(self.linked(question).await);
        if self.looks_back {
            let around = background.iter().rev().flat_map(own_files).filter(BroughtFile::is_document);
            // Each is tried once: people may have removed it, or it cannot be read.
            let is_new = |one: &BroughtFile<'_>| self.documents.is_first(one.attachment);
            let around = around.take(MAX_BACKGROUND).filter(is_new).collect();
            self.read(around, &mut found).await;
        }
        let text = question.words();
        let share = ASKED_TOKENS / asked.len().max(1);
        for document in &asked {
            let shown = self.shown(document, &text, share).await;
            found.views.extend(self.reporter.or_without(shown.map(Some), "documents"));
        }
        if self.looks_back {
            let known = self.reporter.or_without(self.documents.store.of_chat(self.chat), "documents");
            // The tools search all documents of the chat, which a guest of a group may not.
            found.is_any = !known.is_empty();
            if known.len() > asked.len() {
                // After a start the index of many documents takes longer: a later question finds it complete.
                let others = tokio::time::timeout(SEARCH_TIMEOUT, self.bearing(&asked, &text)).await;
                let others = others.unwrap_or_else(|_elapsed| Ok(Vec::new()));
                found.views.extend(self.reporter.or_without(others, "documents"));
            }
        }
        found
    }

    async fn read(&self, files: Vec<BroughtFile<'_>>, found: &mut TurnDocuments) -> Vec<Document> {
        let mut read: Vec<Document> = Vec::new();
        for brought in files {
            let Some(file) = brought.file(*self) else { continue };
            let file_id = file.file_id.clone();
            match self.in_time(self.documents.of(file)).await {
                Ok(Ok(document)) if read.iter().any(|known| known.id == document.id) => {}
                Ok(Ok(document)) => read.push(document),
                Ok(Err(reason)) => {
                    found.unread.extend(file_id.map(|id| (id, format!("the file {reason}"))));
                }
                Err(error) => {
                    self.reporter.report(&error, "a document could not be stored");
                    found.unread.extend(file_id.map(|id| (id, format!("the file {NOT_STORED}"))));
                }
            }
        }
        read
    }

    /// Adds the files of a request to the documents of the question. Returns a view with the reason for each that could not
    /// be read.
    async fn requested(&self, question: &Question, asked: &mut Vec<Document>) -> Vec<DocumentView> {
        let mut failed = Vec::new();
        let Some(first) = question.parts.first() else { return failed };
        let sender = first.speaker.user.clone();
        let source = DocumentSource { telegram: None, session: Some(self.session), turn: None, sender };
        for requested in question.requested.iter().flat_map(|requested| &requested.files) {
            let (name, read) = match requested {
                RequestedFile::Content { name, unique_id, bytes } => {
                    let file = NewFile {
                        chat: self.chat,
                        name: name.clone(),
                        file_id: None,
                        unique_id: Some(unique_id.clone()),
                        source: source.clone(),
                        now: self.reporter.now(),
                    };
                    (name, self.in_time(self.documents.of_upload(file, bytes.clone())).await)
                }
                RequestedFile::Stored(document, passages) => {
                    (&document.name, self.documents.here(self.chat, source.clone(), document, passages).await)
                }
            };
            match read {
                Ok(Ok(document)) if asked.iter().any(|known| known.id == document.id) => {}
                Ok(Ok(document)) => asked.push(document),
                Ok(Err(reason)) => failed.push(unread(name, &reason.to_string())),
                Err(error) => {
                    self.reporter.report(&error, "a document could not be stored");
                    failed.push(unread(name, NOT_STORED));
                }
            }
        }
        failed
    }

    /// Returns the page or file behind a message that is only a link.
    async fn linked(&self, question: &Question) -> Option<DocumentView> {
        let pages = self.pages?;
        let [part] = question.parts.as_slice() else { return None };
        let url = only_address(part)?;
        let sender = part.speaker.user.clone();
        let source = DocumentSource {
            telegram: part.origin.message(),
            session: Some(self.session),
            turn: None,
            sender,
        };
        let file = NewFile {
            chat: self.chat,
            name: String::new(),
            file_id: None,
            unique_id: None,
            source,
            now: self.reporter.now(),
        };
        let reading = pages.read(url, self.documents, file);
        let read = timeout_at(self.deadline, reading).await.unwrap_or(Ok(Err(Unreadable::TooLong.into())));
        Some(match self.reporter.or_without(read.map(Some), "documents")? {
            Ok(page) => page_view(page),
            Err(reason) => {
                let text = format!("[This page {reason}.]");
                let passages = vec![PassageView { place: String::new(), text }];
                DocumentView { name: url.to_owned(), passages, ..DocumentView::default() }
            }
        })
    }

    /// Waits for a document until the deadline.
    async fn in_time(
        &self,
        reading: impl Future<Output = Result<Result<Document, Unreadable>, StoreError>>,
    ) -> Result<Result<Document, Unreadable>, StoreError> {
        timeout_at(self.deadline, reading).await.unwrap_or(Ok(Err(Unreadable::TooLong)))
    }

    /// Returns a document of the question: whole if it fits, otherwise its beginning and what bears on the question.
    async fn shown(&self, document: &Document, text: &str, room: usize) -> Result<DocumentView, StoreError> {
        if document.tokens <= room {
            let all = self.documents.store.passages(document, 0, usize::MAX)?;
            return Ok(view(document, all.into_iter().map(|(_, passage)| passage), true));
        }
        let mut left = room;
        let mut chosen = BTreeMap::new();
        let begin = self.documents.store.passages(document, 0, MAX_FOUND)?;
        let beginning = room / PARTS_OF_BEGINNING;
        for (index, passage) in begin {
            if room - left >= beginning || !take(&mut left, &passage) {
                break;
            }
            chosen.insert(index, passage);
        }
        let query = PassageQuery {
            chat: self.chat,
            document: Some(document.id),
            text,
            today: self.today,
            limit: MAX_FOUND,
        };
        for one in self.documents.search.search(query).await? {
            if !chosen.contains_key(&one.index) && take(&mut left, &one.passage) {
                chosen.insert(one.index, one.passage);
            }
        }
        Ok(view(document, chosen.into_values(), false))
    }

    /// Returns the passages of other documents of the chat that bear on the question.
    async fn bearing(&self, asked: &[Document], text: &str) -> Result<Vec<DocumentView>, StoreError> {
        let query =
            PassageQuery { chat: self.chat, document: None, text, today: self.today, limit: MAX_FOUND };
        let mut left = OTHER_TOKENS;
        let mut chosen: BTreeMap<DocumentId, (Document, BTreeMap<u32, Passage>)> = BTreeMap::new();
        for one in self.documents.search.search(query).await? {
            let is_asked = asked.iter().any(|document| document.id == one.document.id);
            if is_asked || one.words < SHARED_WORDS || !take(&mut left, &one.passage) {
                continue;
            }
            let of =
                chosen.entry(one.document.id).or_insert_with(|| ((*one.document).clone(), BTreeMap::new()));
            of.1.insert(one.index, one.passage);
        }
        Ok(chosen
            .into_values()
            .map(|(document, parts)| view(&document, parts.into_values(), false))
            .collect())
    }
}

/// A file of a message, with the message.
struct BroughtFile<'a> {
    attachment: &'a Attachment,
    part: &'a Inbound,
    is_quoted: bool,
}

impl BroughtFile<'_> {
    fn is_document(&self) -> bool {
        self.attachment.is_document()
    }

    fn file(&self, DocumentContext { chat, session, reporter, .. }: DocumentContext<'_>) -> Option<NewFile> {
        let quoted = self.part.quotes.as_ref().filter(|_| self.is_quoted);
        let sender: UserId =
            quoted.and_then(|quoted| quoted.writer.clone()).unwrap_or(self.part.speaker.user.clone());
        let telegram = if self.is_quoted { quoted?.message } else { self.part.origin.message() };
        let source = DocumentSource { telegram, session: Some(session), turn: None, sender };
        NewFile::of(self.attachment, chat, source, reporter.now())
    }
}

/// Returns the files of a message and of the one it replies to.
fn files_of(part: &Inbound) -> impl Iterator<Item = BroughtFile<'_>> {
    let quoted = part.quotes.iter().flat_map(|quoted| &quoted.attachments);
    own_files(part).chain(quoted.map(move |attachment| BroughtFile { attachment, part, is_quoted: true }))
}

fn own_files(part: &Inbound) -> impl Iterator<Item = BroughtFile<'_>> {
    part.attachments.iter().map(move |attachment| BroughtFile { attachment, part, is_quoted: false })
}

/// Returns the address that a message consists of, apart from mentions of the bot and others.
fn only_address(part: &Inbound) -> Option<&str> {
    // Others than the person may have chosen the words of a task, a forward or a retry, and with them the address.
    let is_own = part.task.is_none() && !part.borrowed;
    let is_bare = is_own && part.attachments.is_empty() && part.quotes.is_none();
    let mut words = part.words_of_people().next()?.split_whitespace().filter(|word| !word.starts_with('@'));
    words.next().filter(|word| is_bare && is_web(word) && words.next().is_none())
}

/// Returns the view of a page: as much of its beginning as fits.
fn page_view(page: WebPage) -> DocumentView {
    let mut left = ASKED_TOKENS;
    let WebPage { url, title, extracted, document } = page;
    let all = extracted.passages.len();
    let shown: Vec<Passage> =
        extracted.passages.into_iter().take_while(|passage| take(&mut left, passage)).collect();
    DocumentView {
        id: document.as_ref().map(|document| document.id.to_string()).unwrap_or_default(),
        name: title,
        url,
        size: document.map(|document| document.size()).unwrap_or_default(),
        whole: shown.len() == all && !extracted.is_cut,
        passages: shown.into_iter().map(|Passage { place, text, .. }| PassageView { place, text }).collect(),
    }
}

/// Takes the tokens of a passage from the room; `false` if it does not fit.
fn take(left: &mut usize, passage: &Passage) -> bool {
    let tokens = estimate_tokens(&passage.text);
    let fits = tokens <= *left;
    *left -= if fits { tokens } else { 0 };
    fits
}

/// Returns the view of a file that could not be read.
fn unread(name: &str, reason: &str) -> DocumentView {
    let text = format!("[This file {reason}.]");
    DocumentView {
        id: String::new(),
        name: one_line(name, MAX_NAME),
        url: String::new(),
        size: String::new(),
        whole: false,
        passages: vec![PassageView { place: String::new(), text }],
    }
}

fn view(document: &Document, passages: impl Iterator<Item = Passage>, is_whole: bool) -> DocumentView {
    DocumentView {
        id: document.id.to_string(),
        name: document.name.clone(),
        url: String::new(),
        size: document.size(),
        whole: is_whole && !document.is_cut,
        passages: passages.map(|Passage { place, text, .. }| PassageView { place, text }).collect(),
    }
}
