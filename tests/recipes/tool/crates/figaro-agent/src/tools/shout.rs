//! `shout`: writes a text in capital letters.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolContext, ToolDefinition, ToolError, typed};
use figaro_domain::tool::{Effect, StatusKey};

/// Maximum length of a text, in characters.
const MAX_TEXT_CHARS: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShoutArguments {
    /// Text to write in capital letters.
    text: String,
}

/// Makes `shout`. A rare tool.
#[must_use]
pub(crate) fn tool() -> Arc<dyn Tool> {
    let words = "Writes a text in capital letters.";
    let about = ToolDefinition::new("shout", words, Effect::Read, StatusKey("tool_shout"))
        .rare("loud capital upper case letters");
    typed(about, |_: ToolContext, ShoutArguments { text }| async move {
        if text.chars().count() > MAX_TEXT_CHARS {
            return Err(ToolError::ForModel(format!("text takes up to {MAX_TEXT_CHARS} characters")));
        }
        Ok(json!({"success": true, "text": text.to_uppercase()}))
    })
}
