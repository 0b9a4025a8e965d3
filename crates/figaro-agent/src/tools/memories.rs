//! `use_memories(labels)`: names the memories that an answer rests on. Offered if the prompt shows memories. The turn
//! machine records the labels; a call beside the answer's text is not executed and ends the turn.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_domain::memory::label;
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_provider::ToolSpec;

const NAME: &str = "use_memories";
/// Number of labels in the schema. Fixed, so that the tools of a request stay the same.
const LABELS: usize = 50;
const ABOUT: &str = "Call it together with your answer when that rests on memories (M1…), and name these.";

#[derive(Debug)]
struct UseMemories(Arc<ToolSpec>);

/// Makes `use_memories(labels)`.
#[must_use]
pub(crate) fn tool() -> Arc<dyn Tool> {
    let labels: Vec<String> = (1..=LABELS).map(label).collect();
    let items = json!({"type": "string", "enum": labels});
    let parameters = json!({
        "type": "object",
        "properties": {"labels": {"type": "array", "items": items}},
        "required": ["labels"],
    });
    let spec = ToolSpec::new(NAME, ABOUT, parameters).of_kind(ToolKind::Memories);
    Arc::new(UseMemories(Arc::new(spec)))
}

#[async_trait]
impl Tool for UseMemories {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn status(&self) -> StatusKey {
        StatusKey("tool_memory")
    }

    /// Does nothing: the labels were recorded when the call arrived.
    async fn call(&self, _context: &ToolContext, _arguments: Value) -> Result<ToolOutput, ToolError> {
        Ok(json!({"success": true, "next": "write the answer"}).into())
    }
}
