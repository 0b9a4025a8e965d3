//! What a model is asked.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::PrivatePart;
use crate::domain::generation::Generation;
use crate::domain::tool::Call;
use crate::text::estimate_tokens;

/// One pass of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model, as its provider knows it.
    pub model: String,
    /// The system prompt: the same from pass to pass, so that caches hit.
    pub instructions: String,
    /// The conversation, oldest first.
    pub items: Vec<Item>,
    /// The tools it may call; none for a pass that must answer.
    pub tools: Vec<ToolSpec>,
    /// The provider may search the web itself, where the model's capabilities say that it can.
    pub web_search: bool,
    /// How to write.
    pub settings: Generation,
    /// What the answer must look like; none leaves it free.
    pub schema: Option<AnswerSchema>,
}

impl Request {
    /// A request with nothing but its conversation: no tools, no search, the provider's own settings.
    #[must_use]
    pub fn new(model: impl Into<String>, instructions: impl Into<String>, items: Vec<Item>) -> Self {
        Self {
            model: model.into(),
            instructions: instructions.into(),
            items,
            tools: Vec::new(),
            web_search: false,
            settings: Generation::default(),
            schema: None,
        }
    }

    /// How many tokens sending it may take, estimated from above.
    #[must_use]
    pub fn estimate_tokens(&self) -> usize {
        let items: usize = self.items.iter().map(Item::estimate_tokens).sum();
        let tools = self.tools.iter().map(|tool| {
            let text =
                [&tool.name, &tool.description, &tool.parameters.to_string()].map(|t| estimate_tokens(t));
            text.iter().sum::<usize>() + OVERHEAD_TOKENS
        });
        let schema = self.schema.as_ref().map_or(0, |form| estimate_tokens(&form.schema.to_string()));
        estimate_tokens(&self.instructions) + items + tools.sum::<usize>() + schema
    }
}

/// A JSON Schema that an answer is held to.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    /// Its name; providers show it to the model.
    pub name: String,
    /// JSON Schema of an object.
    pub schema: Value,
}

/// A piece of conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// What people said, and what Figaro tells the model beside it.
    User {
        /// The words.
        text: String,
        /// What goes with them, for models that see; providers leave them out for others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// What the model said in one pass.
    Assistant {
        /// Its words.
        text: String,
        /// Its calls.
        calls: Vec<Call>,
        /// What its provider wants back.
        private: Vec<PrivatePart>,
    },
    /// What a call gave.
    ToolResult {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// JSON text.
        output: String,
    },
}

/// What a role, its marks and its ids take beside the text.
const OVERHEAD_TOKENS: usize = 12;
/// What a picture is taken to cost: the most that today's models count for one of Telegram's photos.
const IMAGE_TOKENS: usize = 1_600;

impl Item {
    /// How many tokens it may take, estimated from above.
    #[must_use]
    pub fn estimate_tokens(&self) -> usize {
        let text = match self {
            Self::User { text, images } => estimate_tokens(text) + images.len() * IMAGE_TOKENS,
            Self::Assistant { text, calls, private } => {
                let calls = calls
                    .iter()
                    .map(|c| estimate_tokens(&c.name) + estimate_tokens(&c.arguments) + OVERHEAD_TOKENS);
                let private = private.iter().map(|part| estimate_tokens(&part.data.to_string()));
                estimate_tokens(text) + calls.sum::<usize>() + private.sum::<usize>()
            }
            Self::ToolResult { output, .. } => estimate_tokens(output),
        };
        text + OVERHEAD_TOKENS
    }

    /// Words without pictures.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// A picture as all providers take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/jpeg`.
    pub mime_type: String,
    /// Its bytes in base64, shared because a conversation is sent again with every pass.
    pub base64: Arc<str>,
}

/// A function tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name; letters, digits, `_` and `-`, 64 at most: what all providers take.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}
