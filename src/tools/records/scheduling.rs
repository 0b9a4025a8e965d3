//! `schedule_task` as a chat with records is offered it: a task that reminds of a record is noted with it, follows it, and is forgotten
//! with it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::domain::tool::{Effect, StatusKey};
use crate::provider::ToolSpec;
use crate::tools::tasks::TaskTools;
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput};

#[derive(Debug)]
struct Scheduling {
    spec: Arc<ToolSpec>,
    tool: Arc<dyn Tool>,
}

/// The tool that schedules, with the record among its arguments.
pub(super) fn tool(tasks: TaskTools) -> Arc<dyn Tool> {
    let tool = tasks.schedule_tool();
    let mut spec = ToolSpec::clone(tool.spec());
    if let Some(properties) = spec.parameters.pointer_mut("/properties").and_then(Value::as_object_mut) {
        let of_record = json!({"type": "string", "description": "If it reminds of a record."});
        properties.insert("record_id".to_owned(), of_record);
    }
    Arc::new(Scheduling { spec: Arc::new(spec), tool })
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

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.tool.call(context, arguments).await
    }
}
