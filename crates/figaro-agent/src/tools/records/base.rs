//! Shared parts of the record tools: finding records and showing them to the model.

use serde_json::{Value, json};

use crate::tools::tasks::TaskTools;
use crate::tools::{ToolContext, ToolError};
use figaro_base::ids::RecordId;
use figaro_base::text::with_nearest;
use figaro_domain::record::{Book, Field, Kind, Pack, Record};
use figaro_memory::RecordBooks;

/// Name of the tool that removes records, also used in the audit log.
pub(super) const REMOVE_NAME: &str = "remove_record";

/// Dependencies of the record tools. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RecordTools {
    /// Records of chats.
    pub books: RecordBooks,
    /// Scheduled tasks, used as reminders.
    pub tasks: TaskTools,
}

impl RecordTools {
    /// Finds a record of the chat by id.
    pub(super) fn found(&self, context: &ToolContext, id: &str) -> Result<(Book, RecordId), ToolError> {
        let book = self.books.in_chat(context.place.chat)?;
        let unknown =
            || ToolError::ForModel(format!("no record has the id {id}; list_records shows the ids"));
        let id: RecordId = id.trim().parse().map_err(|_not_an_id| unknown())?;
        match book.record(id) {
            Some(_) => Ok((book, id)),
            None => Err(unknown()),
        }
    }
}

/// Shows a record to the model.
pub(super) fn shown(book: &Book, record: &Record) -> Value {
    let label = book.kind_of(record).map(|(pack, kind)| book.label(pack, kind)).unwrap_or_default();
    let mut fields = serde_json::Map::new();
    if let Some((_, kind)) = book.kind_of(record) {
        for Field { name, .. } in &kind.fields {
            let Some(value) = record.value(name) else { continue };
            let name_of = |id: RecordId| book.record(id).map(|other| book.name(other));
            fields.insert(name.clone(), value.to_json(book.zone(), name_of));
        }
    }
    let mut shown = json!({"record_id": record.id, "kind": label, "fields": fields});
    if let Some(at) = record.at {
        shown["at"] = json!(at.with_timezone(&book.zone()).format("%Y-%m-%dT%H:%M").to_string());
    }
    shown
}

/// Finds the kind that the model named.
pub(super) fn kind_named<'a>(book: &'a Book, label: &str) -> Result<(&'a Pack, &'a Kind), ToolError> {
    book.kind(label).ok_or_else(|| {
        let known: Vec<String> = book.kinds().map(|(pack, kind)| book.label(pack, kind)).collect();
        let fault =
            with_nearest(format!("there is no kind `{label}`"), label, known.iter().map(String::as_str));
        ToolError::ForModel(format!("{fault} (kinds: {})", known.join(", ")))
    })
}
