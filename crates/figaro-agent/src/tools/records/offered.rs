//! The record tools as offered to a chat: their descriptions depend on its packs.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments::{ListRecordsArguments, RemoveRecordArguments, Save};
use super::base::{REMOVE_NAME, RecordTools};
use super::{list, remove, save, scheduling};
use crate::tools::typed::complaint;
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput, schema};
use figaro_domain::record::{Book, Field, Kind, Pack};
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_provider::ToolSpec;

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_records");

/// Names of the tools.
const SAVE_NAME: &str = "save_record";
const LIST_NAME: &str = "list_records";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Save,
    List,
    Remove,
}

/// A record tool as offered to a chat.
#[derive(Debug)]
struct RecordTool {
    spec: Arc<ToolSpec>,
    verb: Verb,
    tools: RecordTools,
}

impl RecordTools {
    /// Makes the tools for chats without packs: not offered, only for agents that name them.
    #[must_use]
    pub(crate) fn unoffered(&self) -> [Arc<dyn Tool>; 3] {
        self.of(&Book::default())
    }

    /// Makes the tools for a chat with these records, including the one that schedules reminders of them; none without
    /// context packs.
    #[must_use]
    pub(crate) fn offered(&self, book: &Book) -> Vec<Arc<dyn Tool>> {
        if book.packs().is_empty() {
            return Vec::new();
        }
        let mut tools = self.of(book).to_vec();
        tools.push(scheduling::tool(self));
        tools
    }

    fn of(&self, book: &Book) -> [Arc<dyn Tool>; 3] {
        let tool = |verb: Verb| -> Arc<dyn Tool> {
            Arc::new(RecordTool { spec: Arc::new(spec(verb, book)), verb, tools: self.clone() })
        };
        [tool(Verb::Save), tool(Verb::List), tool(Verb::Remove)]
    }
}

fn spec(verb: Verb, book: &Book) -> ToolSpec {
    let kinds: Vec<String> = book.kinds().map(|(pack, kind)| book.label(pack, kind)).collect();
    let (name, words, mut parameters) = match verb {
        Verb::Save => (SAVE_NAME, saves(book), schema::of::<Save>()),
        Verb::List => (
            LIST_NAME,
            "Lists records of this chat with their ids.".to_owned(),
            schema::of::<ListRecordsArguments>(),
        ),
        Verb::Remove => {
            let words = "Removes one record of this chat, when somebody asked for exactly that.".to_owned();
            (REMOVE_NAME, words, schema::of::<RemoveRecordArguments>())
        }
    };
    if let Some(kind) = parameters.pointer_mut("/properties/kind").filter(|_| !kinds.is_empty()) {
        kind["enum"] = json!(kinds);
    }
    ToolSpec::new(name, words, parameters).of_kind(ToolKind::Records)
}

/// Describes the tool that saves, with all kinds and their fields.
fn saves(book: &Book) -> String {
    let kind = |(pack, kind): (&Pack, &Kind)| {
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

/// Parses the arguments of a call.
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
            Verb::List => list::list(&self.tools, context, read(&arguments)?).map(Into::into),
            Verb::Remove => remove::remove(&self.tools, context, read(&arguments)?).await.map(Into::into),
        }
    }
}
