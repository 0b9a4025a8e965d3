//! The tools `search_documents` and `read_document`. Offered in chats with documents.

use std::sync::Arc;

use figaro_base::tz::Tz;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolDefinition, ToolError, as_data, typed};
use figaro_base::text::estimate_tokens;
use figaro_domain::document::{Document, Passage};
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_memory::{DocumentSearch, PassageQuery};
use figaro_store::{DocumentStore, SettingsStore};

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_documents");
/// Number of passages that a search returns.
const FOUND: usize = 8;
/// Maximum number of tokens of one call of `read_document`.
const MAX_TOKENS: usize = 3_000;
/// Number of passages read at once.
const READ: usize = 64;
/// Maximum length of a query, in characters.
const MAX_QUERY_CHARS: usize = 500;
/// Maximum number of documents in a list for the model.
const LISTED: usize = 30;

/// Dependencies of the tools for documents.
#[derive(Debug, Clone)]
pub struct DocumentTools {
    /// The store of documents.
    pub store: DocumentStore,
    /// Index that finds passages by their words.
    pub search: DocumentSearch,
    /// Settings of chats, for their time zones.
    pub settings: SettingsStore,
    /// Time zone of chats that have set none.
    pub default_zone: Tz,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    /// Words that stand there, with names and numbers.
    query: String,
    /// Id of the only document to search.
    document: Option<String>,
}

/// Makes `search_documents(query, document?)`.
#[must_use]
pub(crate) fn search(tools: DocumentTools) -> Arc<dyn Tool> {
    let words = "Finds passages in the files of this chat. Name file and page of what you take from them.";
    let about = ToolDefinition::new("search_documents", words, Effect::Read, STATUS);
    typed(
        about.of_kind(ToolKind::Documents),
        move |context: ToolContext, SearchArguments { query, document }| {
            let tools = tools.clone();
            async move {
                let query = query.trim();
                if query.is_empty() || query.chars().count() > MAX_QUERY_CHARS {
                    return Err(ToolError::ForModel(format!(
                        "query takes 1 to {MAX_QUERY_CHARS} characters"
                    )));
                }
                let chat = context.place.chat;
                let document = match document {
                    Some(named) => Some(tools.named(&context, &named)?.id),
                    None => None,
                };
                let zone = tools.settings.chat_config(chat)?.timezone.unwrap_or(tools.default_zone);
                let today = context.now.with_timezone(&zone).date_naive();
                let query = PassageQuery { chat, document, text: query, today, limit: FOUND };
                let found = tools.search.search(query).await?;
                let shown = found.iter().map(|one| passage(&one.document, &one.passage));
                Ok(as_data("passages", shown.collect()))
            }
        },
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    /// Id or name of the document.
    document: String,
    /// First page, slide, sheet or chapter to read; in a text without these, the first passage.
    from: Option<u32>,
    /// Last one to read.
    to: Option<u32>,
    /// Number under next in the last result, to read on from there.
    next: Option<u32>,
}

/// Makes `read_document(document, from?, to?)`.
#[must_use]
pub(crate) fn read(tools: DocumentTools) -> Arc<dyn Tool> {
    let words = "Reads a file of this chat in its order, as much as fits; next is where to read on.";
    let about = ToolDefinition::new("read_document", words, Effect::Read, STATUS);
    typed(about.of_kind(ToolKind::Documents), move |context: ToolContext, asked: ReadArguments| {
        let tools = tools.clone();
        async move {
            let document = tools.named(&context, &asked.document)?;
            let (from, to) = (asked.from.unwrap_or(0), asked.to.unwrap_or(u32::MAX));
            if from > to {
                return Err(ToolError::ForModel("from is greater than to".to_owned()));
            }
            tools.pages(&document, DocumentRange { from, to, at: asked.next.unwrap_or(0) })
        }
    })
}

/// Parts of a document to read.
#[derive(Debug, Clone, Copy)]
struct DocumentRange {
    from: u32,
    to: u32,
    /// Index of the passage to begin at.
    at: u32,
}

impl DocumentTools {
    /// Returns the document with this id or name.
    fn named(&self, context: &ToolContext, named: &str) -> Result<Document, ToolError> {
        let documents = self.store.of_chat(context.place.chat)?;
        let is_it = |one: &&Document| one.id.to_string() == named.trim() || one.name == named.trim();
        if let Some(found) = documents.iter().rev().find(is_it) {
            return Ok(found.clone());
        }
        // Names are words of others: only ids stand outside of data.
        let list = documents.iter().rev().take(LISTED).map(|one| one.id.to_string());
        let list = list.collect::<Vec<_>>().join(", ");
        Err(ToolError::ForModel(format!("this chat has no such document; the newest have the ids {list}")))
    }

    /// Reads a range of a document, as much as fits.
    fn pages(&self, document: &Document, range: DocumentRange) -> Result<Value, ToolError> {
        let DocumentRange { from, to, mut at } = range;
        let part_of =
            |index: u32, passage: &Passage| if document.parts > 0 { passage.part } else { index + 1 };
        let mut shown = Vec::new();
        let mut left = MAX_TOKENS;
        let mut next = None;
        'reading: loop {
            let passages = self.store.passages(document, at, READ)?;
            let Some((last, _)) = passages.last() else { break };
            at = last + 1;
            for (index, one) in &passages {
                let part = part_of(*index, one);
                if part < from {
                    continue;
                }
                let tokens = estimate_tokens(&one.text);
                if part > to || tokens > left {
                    next = (part <= to).then_some(*index);
                    break 'reading;
                }
                left -= tokens;
                shown.push(passage(document, one));
            }
        }
        let mut value = as_data("passages", shown.into());
        value["size"] = document.size().into();
        if let Some(next) = next {
            value["next"] = next.into();
        }
        Ok(value)
    }
}

fn passage(document: &Document, passage: &Passage) -> Value {
    let mut value = json!({"document": document.id, "name": document.name, "text": passage.text});
    if !passage.place.is_empty() {
        value["place"] = passage.place.clone().into();
    }
    value
}
