//! The record tools: `save_record`, `list_records`, `remove_record`. Records belong to the chat, in the forms of the context packs that
//! it has chosen; without any these tools are not offered. What they are told to be depends on the packs.

mod arguments;
mod list;
mod reminding;
mod save;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::arguments::{List, Remove, Save};
pub use self::reminding::{NotReminded, RemindedBy, Reminding};
use super::typed::complaint;
use super::{Tool, ToolContext, ToolError, ToolOutput, as_data, schema};
use crate::domain::record::{Book, Field, Kind, Record};
use crate::domain::tool::{Effect, StatusKey, ToolKind};
use crate::ids::RecordId;
use crate::memory::RecordBooks;
use crate::provider::ToolSpec;
use crate::store::TaskStore;
use crate::text::with_nearest;

/// What a chat shows while one of these tools is at work.
const STATUS: StatusKey = StatusKey("tool_records");

/// What the record tools work on. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RecordTools {
    /// The records of chats.
    pub books: RecordBooks,
    /// The tasks that remind of them.
    pub tasks: Arc<dyn TaskStore>,
}

/// What one of the tools does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Save,
    List,
    Remove,
}

/// One of the tools, as a chat is offered it.
#[derive(Debug)]
struct RecordTool {
    spec: Arc<ToolSpec>,
    verb: Verb,
    tools: RecordTools,
}

impl RecordTools {
    /// The tools for chats without packs, which are not offered: for those who name tools.
    #[must_use]
    pub fn unoffered(&self) -> [Arc<dyn Tool>; 3] {
        self.of(&Book::default())
    }

    /// The tools for a chat with these records.
    #[must_use]
    pub fn of(&self, book: &Book) -> [Arc<dyn Tool>; 3] {
        let tool = |verb: Verb| -> Arc<dyn Tool> {
            Arc::new(RecordTool { spec: Arc::new(spec(verb, book)), verb, tools: self.clone() })
        };
        [tool(Verb::Save), tool(Verb::List), tool(Verb::Remove)]
    }

    /// The record of the chat with this id.
    async fn found(&self, context: &ToolContext, id: &str) -> Result<(Book, RecordId), ToolError> {
        let book = self.books.in_chat(context.place.chat).await?;
        let unknown =
            || ToolError::ForModel(format!("no record has the id {id}; list_records shows the ids"));
        let id: RecordId = id.trim().parse().map_err(|_not_an_id| unknown())?;
        match book.record(id) {
            Some(_) => Ok((book, id)),
            None => Err(unknown()),
        }
    }

    async fn remove(&self, context: &ToolContext, Remove { record_id }: Remove) -> Result<Value, ToolError> {
        let (book, id) = self.found(context, &record_id).await?;
        let referring: Vec<Value> =
            book.referring(id).into_iter().map(|record| shown(&book, record)).collect();
        if !referring.is_empty() {
            return Err(ToolError::ForModel(format!(
                "other records belong to this one: ask whether these are to be removed too, and remove them first: {}",
                Value::from(referring)
            )));
        }
        let tasks = match book.entry(id) {
            Some(entry) => {
                reminding::tasks_of(&*self.tasks, &book, &entry, context.language.as_deref()).await?
            }
            None => Vec::new(),
        };
        let removed = self.books.store.remove_records(context.place.chat, &[id]).await?;
        let Some(record) = removed.first() else {
            return Err(ToolError::ForModel("the record has just been removed by someone else".to_owned()));
        };
        let mut answer = as_data("removed", shown(&book, record));
        if !tasks.is_empty() {
            let listed = tasks.iter().map(|task| json!({"task_id": task.id, "title": task.title()}));
            answer["reminders"] = listed.collect();
            answer["next"] =
                json!("ask whether these reminders are to be cancelled too; cancel_task does it");
        }
        Ok(answer)
    }
}

/// A record as the model sees it.
fn shown(book: &Book, record: &Record) -> Value {
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

/// The kind that the model named.
fn kind_named<'a>(
    book: &'a Book,
    label: &str,
) -> Result<(&'a crate::domain::record::Pack, &'a Kind), ToolError> {
    book.kind(label).ok_or_else(|| {
        let known: Vec<String> = book.kinds().map(|(pack, kind)| book.label(pack, kind)).collect();
        let fault =
            with_nearest(format!("there is no kind `{label}`"), label, known.iter().map(String::as_str));
        ToolError::ForModel(format!("{fault} (kinds: {})", known.join(", ")))
    })
}

fn spec(verb: Verb, book: &Book) -> ToolSpec {
    let kinds: Vec<String> = book.kinds().map(|(pack, kind)| book.label(pack, kind)).collect();
    let (name, words, mut parameters) = match verb {
        Verb::Save => ("save_record", saves(book), schema::of::<Save>()),
        Verb::List => {
            ("list_records", "Lists records of this chat with their ids.".to_owned(), schema::of::<List>())
        }
        Verb::Remove => {
            let words = "Removes one record of this chat, when somebody asked for exactly that.".to_owned();
            ("remove_record", words, schema::of::<Remove>())
        }
    };
    if let Some(kind) = parameters.pointer_mut("/properties/kind").filter(|_| !kinds.is_empty()) {
        kind["enum"] = json!(kinds);
    }
    ToolSpec::new(name, words, parameters).of_kind(ToolKind::Records)
}

/// What is said of the tool that saves: all kinds with their fields.
fn saves(book: &Book) -> String {
    let kind = |(pack, kind): (&crate::domain::record::Pack, &Kind)| {
        let fields: Vec<String> = kind.fields.iter().map(field_told).collect();
        let about = kind.about.as_ref().map(|about| format!(" ({about})")).unwrap_or_default();
        let at = if kind.series.is_some() { ", at (date and time, now if left out)" } else { "" };
        format!("{}{about}: {}{at}", book.label(pack, kind), fields.join(", "))
    };
    let kinds: Vec<String> = book.kinds().map(kind).collect();
    format!(
        "Saves what somebody states as a record of this chat, or changes one: the same ! fields mean the same record. Save only \
         what was said, never a guess. Days as 2026-12-31, times as 2026-12-31T10:30. Kinds and fields, ! never missing:\n{}",
        kinds.join("\n")
    )
}

fn field_told(field: &Field) -> String {
    let mark = if field.required { "!" } else { "" };
    let form = field.form.told();
    if form == "text" { format!("{}{mark}", field.name) } else { format!("{}{mark} ({form})", field.name) }
}

/// The arguments of a call.
fn read<A: DeserializeOwned + JsonSchema>(arguments: &Value) -> Result<A, ToolError> {
    A::deserialize(arguments).map_err(|error| ToolError::ForModel(complaint::<A>(arguments, &error)))
}

#[async_trait]
impl Tool for RecordTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn effect(&self) -> Effect {
        match self.verb {
            Verb::Save => Effect::Write,
            Verb::List => Effect::Read,
            Verb::Remove => Effect::Destructive,
        }
    }

    fn status(&self) -> StatusKey {
        STATUS
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        match self.verb {
            Verb::Save => save::save(&self.tools, context, read(&arguments)?).await,
            Verb::List => list::list(&self.tools, context, read(&arguments)?).await.map(Into::into),
            Verb::Remove => self.tools.remove(context, read(&arguments)?).await.map(Into::into),
        }
    }
}
