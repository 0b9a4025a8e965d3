//! `list_records`: the records of the chat; of histories their trends and newest readings.

use serde_json::{Value, json};

use super::arguments::List;
use super::base::{RecordTools, kind_named, shown};
use crate::tools::{ToolContext, ToolError, as_data};
use figaro_domain::record::{Book, Entry};

/// So many entries are listed at once.
const MAX_ENTRIES: usize = 60;
/// So many readings of a history, the newest.
const MAX_READINGS: usize = 10;

/// Lists the records of the chat.
pub(super) async fn list(
    tools: &RecordTools,
    context: &ToolContext,
    List { kind, about }: List,
) -> Result<Value, ToolError> {
    let book = tools.books.in_chat(context.place.chat).await?;
    let kind = kind.as_deref().map(|label| kind_named(&book, label)).transpose()?;
    let entries = match kind {
        Some((pack, kind)) => book.entries_of(pack, kind),
        None => book.entries(),
    };
    let wanted = about.map(|about| about.to_lowercase()).filter(|about| !about.trim().is_empty());
    let packs = tools.books.prompts.packs();
    let line = |entry: &Entry<'_>| packs.rendering().line(&book, entry);
    let entries: Vec<Entry<'_>> = entries
        .into_iter()
        .filter(|entry| wanted.as_ref().is_none_or(|word| has(&book, entry, &line(entry), word.trim())))
        .collect();
    let listed: Vec<Value> =
        entries.iter().take(MAX_ENTRIES).map(|entry| one(&book, entry, &line(entry))).collect();
    let mut answer = as_data("records", listed.into());
    if entries.len() > MAX_ENTRIES {
        answer["more"] = json!(entries.len() - MAX_ENTRIES);
        answer["hint"] = json!("give kind or about to see fewer");
    }
    Ok(answer)
}

/// Whether a word stands in an entry.
fn has(book: &Book, entry: &Entry<'_>, line: &str, word: &str) -> bool {
    let fields = || shown(book, entry.record)["fields"].to_string().to_lowercase();
    line.to_lowercase().contains(word) || fields().contains(word)
}

fn one(book: &Book, entry: &Entry<'_>, line: &str) -> Value {
    if entry.kind.series.is_none() {
        return shown(book, entry.record);
    }
    let newest = entry.history.iter().rev().take(MAX_READINGS).map(|record| shown(book, record));
    json!({"trend": line, "count": entry.history.len(), "newest": newest.collect::<Vec<_>>()})
}
