//! `list_records`: records of the chat; for series their trend and newest readings.

use serde_json::{Value, json};

use super::arguments::ListRecordsArguments;
use super::base::{RecordTools, kind_named, shown};
use crate::tools::{ToolContext, ToolError, as_kept_data};
use figaro_domain::record::{Book, BookEntry};

/// Maximum number of entries in a list.
const MAX_ENTRIES: usize = 60;
/// Maximum number of readings per series, newest first.
const MAX_READINGS: usize = 10;

/// Lists the records of the chat.
pub(super) fn list(
    tools: &RecordTools,
    context: &ToolContext,
    ListRecordsArguments { kind, about }: ListRecordsArguments,
) -> Result<Value, ToolError> {
    let book = tools.books.in_chat(context.place.chat)?;
    let kind = kind.as_deref().map(|label| kind_named(&book, label)).transpose()?;
    let entries = match kind {
        Some((pack, kind)) => book.entries_of(pack, kind),
        None => book.entries(),
    };
    let wanted = about.map(|about| about.to_lowercase()).filter(|about| !about.trim().is_empty());
    let packs = tools.books.prompts.packs();
    let line = |entry: &BookEntry<'_>| packs.rendering().line(&book, entry);
    let entries: Vec<BookEntry<'_>> = entries
        .into_iter()
        .filter(|entry| wanted.as_ref().is_none_or(|word| has(&book, entry, &line(entry), word.trim())))
        .collect();
    let listed: Vec<Value> =
        entries.iter().take(MAX_ENTRIES).map(|entry| one(&book, entry, &line(entry))).collect();
    let mut answer = as_kept_data("records", listed.into());
    if entries.len() > MAX_ENTRIES {
        answer["more"] = json!(entries.len() - MAX_ENTRIES);
        answer["hint"] = json!("give kind or about to see fewer");
    }
    Ok(answer)
}

/// Returns `true` if an entry contains the word.
fn has(book: &Book, entry: &BookEntry<'_>, line: &str, word: &str) -> bool {
    let fields = || shown(book, entry.record)["fields"].to_string().to_lowercase();
    line.to_lowercase().contains(word) || fields().contains(word)
}

fn one(book: &Book, entry: &BookEntry<'_>, line: &str) -> Value {
    if entry.kind.series.is_none() {
        return shown(book, entry.record);
    }
    let newest = entry.history.iter().rev().take(MAX_READINGS).map(|record| shown(book, record));
    json!({"trend": line, "count": entry.history.len(), "newest": newest.collect::<Vec<_>>()})
}
