//! Request to a model.

use std::sync::{Arc, OnceLock};

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::MediaPart;
use figaro_base::text::{estimate_tokens, most_tokens};
use figaro_domain::conversation::{EntryKey, PrivatePart};
use figaro_domain::generation::Generation;
use figaro_domain::tool::{Call, ToolKind};

/// Items before the question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Keys of the items of past exchanges, one per item from the first on; `None` for an item that cannot be looked
    /// up. These items may be left out if the model has no room. The next item is the question.
    pub keys: Vec<Option<EntryKey>>,
    /// Number of leading items that are no messages but kept notes, such as pins. They are cut nearly last.
    pub kept: usize,
}

/// Request for one pass of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Model name, as its provider knows it.
    pub model: String,
    /// System prompt. The same from pass to pass, so that caches hit.
    pub instructions: String,
    /// Conversation, oldest first.
    pub items: Vec<Item>,
    /// Items from before the question.
    pub earlier: Earlier,
    /// Tools that the model may call. Empty for a pass that must answer.
    pub tools: Vec<Arc<ToolSpec>>,
    /// `true` if the provider may search the web itself and the model's capabilities allow it.
    pub web_search: bool,
    /// Parameters of the request, such as temperature.
    pub settings: Generation,
    /// Format of the answer; `None` leaves it free.
    pub schema: Option<AnswerSchema>,
    /// `true` if a model that cannot be constrained to the schema is told it in the instructions. `false` if the
    /// instructions already describe the answer.
    pub tells_schema: bool,
    /// Constraints that not every service supports.
    pub options: AnswerOptions,
}

/// Constraints on an answer besides its settings. A model whose service does not support one of them is not asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// Requirement to call a tool.
    pub tool_choice: ToolChoice,
    /// Stop sequences. The answer ends before the first of them.
    pub stop: Vec<String>,
    /// `true` if the model must be able to see the pictures of the request.
    pub has_pictures: bool,
    /// `true` if [`Generation::frequency_penalty`] must be honoured.
    pub has_frequency_penalty: bool,
    /// `true` if [`Generation::presence_penalty`] must be honoured.
    pub has_presence_penalty: bool,
}

/// Requirement to call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call at least one tool.
    Required,
    /// The model must call the tool of this name.
    Named(String),
}

/// Requested part of the [`AnswerOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// Corresponds to [`AnswerOptions::tool_choice`].
    ToolChoice,
    /// Corresponds to [`AnswerOptions::stop`].
    Stop,
    /// Corresponds to [`AnswerOptions::has_pictures`].
    Pictures,
    /// Sounds in the request. No option requires them.
    Sounds,
    /// Corresponds to [`AnswerOptions::has_frequency_penalty`].
    FrequencyPenalty,
    /// Corresponds to [`AnswerOptions::has_presence_penalty`].
    PresencePenalty,
}

impl Demand {
    /// Returns OpenAI's name of the parameter.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ToolChoice => "tool_choice",
            Self::Stop => "stop",
            Self::Pictures => "image_url",
            Self::Sounds => "input_audio",
            Self::FrequencyPenalty => "frequency_penalty",
            Self::PresencePenalty => "presence_penalty",
        }
    }
}

impl AnswerOptions {
    /// Returns the demands of these options.
    pub(crate) fn demands(&self) -> impl Iterator<Item = Demand> {
        let all = [
            (Demand::ToolChoice, self.tool_choice != ToolChoice::Auto),
            (Demand::Stop, !self.stop.is_empty()),
            (Demand::Pictures, self.has_pictures),
            (Demand::FrequencyPenalty, self.has_frequency_penalty),
            (Demand::PresencePenalty, self.has_presence_penalty),
        ];
        all.into_iter().filter(|(_, is_asked)| *is_asked).map(|(demand, _)| demand)
    }
}

impl Request {
    /// Creates a request with nothing but its conversation: no tools, no search, the provider's own settings.
    #[must_use]
    pub fn new(model: impl Into<String>, instructions: impl Into<String>, items: Vec<Item>) -> Self {
        Self {
            model: model.into(),
            instructions: instructions.into(),
            items,
            earlier: Earlier::default(),
            tools: Vec::new(),
            web_search: false,
            settings: Generation::default(),
            schema: None,
            tells_schema: false,
            options: AnswerOptions::default(),
        }
    }

    /// Returns an upper estimate of the tokens of the request.
    #[must_use]
    pub fn estimate_tokens(&self) -> usize {
        self.tokens(Measure::Estimate)
    }

    /// Returns an upper estimate of the tokens in any vocabulary.
    pub(super) fn count_tokens(&self) -> usize {
        self.tokens(Measure::Most)
    }

    /// Returns an upper bound of the tokens in any vocabulary without counting them: a token has at least one byte.
    pub(super) fn token_bound(&self) -> usize {
        let bytes = self.tokens(Measure::Bytes);
        bytes + bytes / 32
    }

    fn tokens(&self, measure: Measure) -> usize {
        let items: usize = self.items.iter().map(|item| item.tokens(measure.count())).sum();
        self.frame_tokens(measure) + items
    }

    /// Returns the tokens of everything except the conversation.
    pub(super) fn frame_tokens(&self, measure: Measure) -> usize {
        let count = measure.count();
        let tools: usize = self.tools.iter().map(|tool| tool.tokens(measure)).sum();
        let schema = self.schema.as_ref().map_or(0, |form| count(&form.schema.to_string()));
        count(&self.instructions) + tools + schema
    }
}

/// Method of counting tokens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure {
    /// Upper estimate for the usual vocabularies.
    Estimate,
    /// Upper estimate for any vocabulary.
    Most,
    /// One token per byte: a bound without counting.
    Bytes,
}

impl Measure {
    fn count(self) -> fn(&str) -> usize {
        match self {
            Self::Estimate => estimate_tokens,
            Self::Most => most_tokens,
            Self::Bytes => str::len,
        }
    }
}

/// JSON Schema that constrains an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    /// Name of the schema. Providers show it to the model.
    pub name: String,
    /// Schema of an object.
    pub schema: Value,
}

/// Item of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// Message of people, with Figaro's notes for the model.
    User {
        /// Text of the message.
        text: String,
        /// Pictures and sounds of the message. Those that a model does not accept are left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        media: Vec<MediaPart>,
    },
    /// Output of the model in one pass.
    Assistant {
        /// Text that the model wrote.
        text: String,
        /// Calls that the model made.
        calls: Vec<Call>,
        /// Opaque parts that the provider wants back.
        private: Vec<PrivatePart>,
    },
    /// Result of a call.
    ToolResult {
        /// Provider's id of the call.
        call_id: String,
        /// Name of the called tool.
        name: String,
        /// Result as JSON text.
        output: String,
        /// Pictures of the result, for models that see.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        media: Vec<MediaPart>,
    },
}

/// Tokens of an item's role, separators and ids.
const OVERHEAD_TOKENS: usize = 12;

impl Item {
    /// Returns an upper estimate of the tokens of the item.
    #[must_use]
    pub fn estimate_tokens(&self) -> usize {
        self.tokens(estimate_tokens)
    }

    /// Returns the tokens of the item by this count.
    #[must_use]
    pub fn tokens(&self, count: fn(&str) -> usize) -> usize {
        let others = match self {
            Self::User { media, .. } | Self::ToolResult { media, .. } => {
                media.iter().map(MediaPart::tokens).sum::<usize>()
            }
            Self::Assistant { calls, private, .. } => {
                let calls = calls.iter().map(|c| count(&c.name) + count(&c.arguments) + OVERHEAD_TOKENS);
                let private = private.iter().map(|part| count(&part.data.to_string()));
                calls.sum::<usize>() + private.sum::<usize>()
            }
        };
        count(self.text()) + others + OVERHEAD_TOKENS
    }

    /// Returns the text of the message, answer or result.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::ToolResult { output: text, .. } => text,
        }
    }

    pub(crate) fn text_mut(&mut self) -> &mut String {
        match self {
            Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::ToolResult { output: text, .. } => text,
        }
    }

    /// Creates a user's message of text only.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), media: Vec::new() }
    }
}

/// Function tool as a model sees it. Shared and immutable; it caches its own size.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Name: letters, digits, `_` and `-`, at most 64; accepted by all providers.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub parameters: Value,
    /// Special treatment of the tool; not sent to providers.
    pub kind: ToolKind,
    /// Tokens by each [`Measure`], computed on demand: the same tools go with every pass.
    counted: [OnceLock<usize>; 3],
    /// JSON of the parameters, written on demand. A clone keeps it: change parameters before the first request.
    written: OnceLock<Option<Box<RawValue>>>,
}

impl ToolSpec {
    /// Creates a tool without special treatment.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        let (name, description, kind) = (name.into(), description.into(), ToolKind::Plain);
        Self { name, description, parameters, kind, counted: Default::default(), written: OnceLock::new() }
    }

    /// Returns the tool with another kind.
    #[must_use]
    pub fn of_kind(self, kind: ToolKind) -> Self {
        Self { kind, ..self }
    }

    fn tokens(&self, measure: Measure) -> usize {
        let [estimate, most, bytes] = &self.counted;
        let counted = match measure {
            Measure::Estimate => estimate,
            Measure::Most => most,
            Measure::Bytes => bytes,
        };
        *counted.get_or_init(|| {
            let count = measure.count();
            let text = [&self.name, &self.description, &self.parameters.to_string()].map(|text| count(text));
            text.iter().sum::<usize>() + OVERHEAD_TOKENS
        })
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tool = serializer.serialize_struct("ToolSpec", 3)?;
        tool.serialize_field("name", &self.name)?;
        tool.serialize_field("description", &self.description)?;
        match self.written.get_or_init(|| to_raw_value(&self.parameters).ok()) {
            Some(written) => tool.serialize_field("parameters", written)?,
            None => tool.serialize_field("parameters", &self.parameters)?,
        }
        tool.end()
    }
}

impl PartialEq for ToolSpec {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, description, parameters, kind, counted: _, written: _ } = self;
        *name == other.name
            && *description == other.description
            && *parameters == other.parameters
            && *kind == other.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (&[0xFF, 0xD8, 0xFF, 0xE0], Some("image/jpeg")),
            (b"\x89PNG\r\n", Some("image/png")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"", None),
        ];
        for (bytes, wanted) in cases {
            let image = MediaPart::of(bytes);
            assert_eq!(image.as_ref().map(|image| image.mime_type.as_str()), wanted);
            let again = image.as_ref().and_then(|image| MediaPart::of_data_url(&image.data_url()));
            assert_eq!(again, image);
        }
    }
}
