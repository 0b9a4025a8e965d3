//! `use_memories(labels)`: by it the model says which memories its answer rests on. It is offered where the prompt shows
//! memories. The machine of a turn notes the labels; a call beside the words of an answer is not made and ends the turn.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_domain::memory::label;
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_provider::ToolSpec;

const NAME: &str = "use_memories";
/// The labels are always so many, so that the tools of a request stay the same.
const LABELS: usize = 50;
const ABOUT: &str = "Call it together with your answer when that rests on memories (M1…), and name these.";

#[derive(Debug)]
struct UseMemories(Arc<ToolSpec>);

/// `use_memories(labels)`.
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

    /// What the labels say was noted when the call came: here is nothing left to do.
    async fn call(&self, _context: &ToolContext, _arguments: Value) -> Result<ToolOutput, ToolError> {
        Ok(json!({"success": true, "next": "write the answer"}).into())
    }
}
