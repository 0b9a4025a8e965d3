//! What a model is asked.

use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use figaro_base::text::{estimate_tokens, most_tokens};
use figaro_domain::conversation::{EntryKey, PrivatePart};
use figaro_domain::generation::Generation;
use figaro_domain::tool::{Call, ToolKind};

/// What stands before the question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// One for each item, from the first on, that belongs to an exchange that is over: its key, where it can be looked up.
    /// These items may be left out where a model has no room for them; the one behind them is the question.
    pub keys: Vec<Option<EntryKey>>,
    /// So many of the first of them are no messages, but what is kept of before, such as pins: they are cut nearly last.
    pub kept: usize,
}

/// One pass of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model, as its provider knows it.
    pub model: String,
    /// The system prompt: the same from pass to pass, so that caches hit.
    pub instructions: String,
    /// The conversation, oldest first.
    pub items: Vec<Item>,
    /// Which of the items are from before the question.
    pub earlier: Earlier,
    /// The tools it may call; none for a pass that must answer.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The provider may search the web itself, where the model's capabilities say that it can.
    pub web_search: bool,
    /// The parameters of the request, such as temperature.
    pub settings: Generation,
    /// What the answer must look like; none leaves it free.
    pub schema: Option<AnswerSchema>,
    /// Where the model cannot be held to the schema, it is told in words; else the instructions say what it is to write.
    pub tells_schema: bool,
    /// What the answer is bound to that not every service can do.
    pub options: Options,
}

/// What an answer is bound to beside its settings. A model whose service cannot do one of them is not asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether the model has to call a tool.
    pub tool_choice: ToolChoice,
    /// The answer ends before the first of these words.
    pub stop: Vec<String>,
    /// The pictures of the request have to be seen.
    pub has_pictures: bool,
    /// [`Generation::frequency_penalty`] counts.
    pub has_frequency_penalty: bool,
    /// [`Generation::presence_penalty`] counts.
    pub has_presence_penalty: bool,
}

/// Whether a model has to call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// One of them at least.
    Required,
    /// The one of this name.
    Named(String),
}

/// Something of the [`Options`] that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// [`Options::tool_choice`].
    ToolChoice,
    /// [`Options::stop`].
    Stop,
    /// [`Options::has_pictures`].
    Pictures,
    /// [`Options::has_frequency_penalty`].
    FrequencyPenalty,
    /// [`Options::has_presence_penalty`].
    PresencePenalty,
}

impl Demand {
    /// The parameter by which it is asked for, as OpenAI calls it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ToolChoice => "tool_choice",
            Self::Stop => "stop",
            Self::Pictures => "image_url",
            Self::FrequencyPenalty => "frequency_penalty",
            Self::PresencePenalty => "presence_penalty",
        }
    }
}

impl Options {
    /// What they ask for.
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
    /// A request with nothing but its conversation: no tools, no search, the provider's own settings.
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
            options: Options::default(),
        }
    }

    /// How many tokens sending it may take, estimated from above.
    #[must_use]
    pub fn estimate_tokens(&self) -> usize {
        self.tokens(Measure::Estimate)
    }

    /// The tokens of sending it in whatever vocabulary, estimated from above.
    pub(super) fn count_tokens(&self) -> usize {
        self.tokens(Measure::Most)
    }

    /// A bound on the tokens of sending it in any vocabulary, without counting them: a token has a byte at least.
    pub(super) fn token_bound(&self) -> usize {
        let bytes = self.tokens(Measure::Bytes);
        bytes + bytes / 32
    }

    fn tokens(&self, measure: Measure) -> usize {
        let items: usize = self.items.iter().map(|item| item.tokens(measure.count())).sum();
        self.frame_tokens(measure) + items
    }

    /// How many tokens all but the conversation takes by this measure.
    pub(super) fn frame_tokens(&self, measure: Measure) -> usize {
        let count = measure.count();
        let tools: usize = self.tools.iter().map(|tool| tool.tokens(measure)).sum();
        let schema = self.schema.as_ref().map_or(0, |form| count(&form.schema.to_string()));
        count(&self.instructions) + tools + schema
    }
}

/// How tokens are counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure {
    /// In the usual vocabularies, from above.
    Estimate,
    /// In whatever vocabulary, from above.
    Most,
    /// One for each byte: a bound that takes no counting.
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
        /// The text of the message.
        text: String,
        /// What goes with them, for models that see; providers leave them out for others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// What the model said in one pass.
    Assistant {
        /// The text that the model wrote.
        text: String,
        /// The calls that the model asked for.
        calls: Vec<Call>,
        /// What its provider wants back.
        private: Vec<PrivatePart>,
    },
    /// What a call gave.
    ToolResult {
        /// The provider's id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The result as JSON text.
        output: String,
        /// The pictures that go with it, for models that see.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
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
        self.tokens(estimate_tokens)
    }

    /// How many tokens it may take by this count.
    #[must_use]
    pub fn tokens(&self, count: fn(&str) -> usize) -> usize {
        let others = match self {
            Self::User { images, .. } | Self::ToolResult { images, .. } => images.len() * IMAGE_TOKENS,
            Self::Assistant { calls, private, .. } => {
                let calls = calls.iter().map(|c| count(&c.name) + count(&c.arguments) + OVERHEAD_TOKENS);
                let private = private.iter().map(|part| count(&part.data.to_string()));
                calls.sum::<usize>() + private.sum::<usize>()
            }
        };
        count(self.text()) + others + OVERHEAD_TOKENS
    }

    /// Its words: what people said, what the model said, what a call gave.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::ToolResult { output: text, .. } => text,
        }
    }

    /// Its words, to be changed.
    pub(crate) fn text_mut(&mut self) -> &mut String {
        match self {
            Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::ToolResult { output: text, .. } => text,
        }
    }

    /// A user's message of text alone.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// A picture as all providers take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The MIME type, such as `image/jpeg`.
    pub mime_type: String,
    /// Its bytes in base64, shared because a conversation is sent again with every pass.
    pub base64: Arc<str>,
}

impl Image {
    /// The most bytes of a picture: what all providers take of one.
    pub const MAX_BYTES: usize = 5 * 1024 * 1024;

    /// These bytes as a picture, if they are one that all providers take: a JPEG, PNG, WebP or GIF by the first of them. Names and
    /// declared types may be wrong, and a provider refuses a whole request for one.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mime_type = match bytes {
            [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [b'G', b'I', b'F', b'8', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return None,
        };
        Some(Self { mime_type: mime_type.to_owned(), base64: STANDARD.encode(bytes).into() })
    }

    /// The picture that an address holds itself, if it is one that all providers take.
    #[must_use]
    pub fn of_data_url(url: &str) -> Option<Self> {
        let (_, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
        Self::of(&STANDARD.decode(base64.trim()).ok()?)
    }

    /// As an address that holds the picture itself, as providers take it.
    #[must_use]
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.base64)
    }
}

/// A function tool as a model sees it. Shared and never changed once it is made: it keeps its own size.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name; letters, digits, `_` and `-`, 64 at most: what all providers take.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
    /// What it is for; no provider is told.
    pub kind: ToolKind,
    /// Its tokens by each [`Measure`], once they were asked for: the same tools go with every pass.
    counted: [OnceLock<usize>; 3],
}

impl ToolSpec {
    /// A tool that is treated like any other.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        let (name, description, kind) = (name.into(), description.into(), ToolKind::Plain);
        Self { name, description, parameters, kind, counted: Default::default() }
    }

    /// The same tool, of another kind.
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

impl PartialEq for ToolSpec {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, description, parameters, kind, counted: _ } = self;
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
            let image = Image::of(bytes);
            assert_eq!(image.as_ref().map(|image| image.mime_type.as_str()), wanted);
            let again = image.as_ref().and_then(|image| Image::of_data_url(&image.data_url()));
            assert_eq!(again, image);
        }
    }
}
