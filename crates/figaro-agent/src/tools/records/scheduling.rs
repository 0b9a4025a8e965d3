//! `schedule_task` for a chat with records: a reminder of a record is linked to it, follows its changes, and is deleted
//! with it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::base::RecordTools;
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_base::ids::RecordId;
use figaro_domain::record::{Record, reminders};
use figaro_domain::tool::{Effect, StatusKey};
use figaro_provider::ToolSpec;

/// Argument for the record's id.
const RECORD: &str = "record_id";

#[derive(Debug)]
struct Scheduling {
    spec: Arc<ToolSpec>,
    tool: Arc<dyn Tool>,
    tools: RecordTools,
}

/// Makes the scheduling tool with the record among its arguments.
pub(super) fn tool(tools: &RecordTools) -> Arc<dyn Tool> {
    let tool = tools.tasks.clone().schedule_tool();
    let mut spec = ToolSpec::clone(tool.spec());
    if let Some(properties) = spec.parameters.pointer_mut("/properties").and_then(Value::as_object_mut) {
        let of_record = json!({"type": "string", "description": "If it reminds of a record."});
        properties.insert(RECORD.to_owned(), of_record);
    }
    Arc::new(Scheduling { spec: Arc::new(spec), tool, tools: tools.clone() })
}

impl Scheduling {
    /// Finds the record that offers a reminder with this prompt.
    fn offering(&self, context: &ToolContext, prompt: &str) -> Result<Option<RecordId>, ToolError> {
        let book = self.tools.books.in_chat(context.place.chat)?;
        let offers = |record: &&Record| {
            let entry = book.entry(record.id).filter(|entry| entry.kind.remind.is_some());
            let offered =
                entry.map(|entry| reminders(&book, &entry, context.language.as_deref(), context.now));
            offered.into_iter().flatten().any(|one| one.prompt == prompt)
        };
        Ok(book.records().iter().find(offers).map(|record| record.id))
    }
}

#[async_trait]
impl Tool for Scheduling {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn status(&self) -> StatusKey {
        self.tool.status()
    }

    /// Links a task to the record that offers its prompt, even if the model does not name the record.
    async fn call(&self, context: &ToolContext, mut arguments: Value) -> Result<ToolOutput, ToolError> {
        let is_named = arguments[RECORD].as_str().is_some_and(|id| !id.trim().is_empty());
        let prompt =
            arguments["prompt"].as_str().filter(|_| !is_named).map(|prompt| prompt.trim().to_owned());
        if let Some(prompt) = prompt
            && let Some(record) = self.offering(context, &prompt)?
        {
            arguments[RECORD] = json!(record);
        }
        self.tool.call(context, arguments).await
    }
}
