//! Body of a request for a response.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::asking::Put;
use super::super::chat::{
    CallerToolChoice, ChatMessage, ChatQuestion, ChatToolCall, Extras, Foreign, FunctionCall, PlacedMessage,
    Sampling, Talk, bound, form, put, talk, tools,
};
use super::super::entry::IncomingQuestion;
use super::super::error::GatewayError;
use super::super::gateway::Gateway;
use super::super::models::agent_of_model;
use figaro_agent::turn::requested::Requested;
use figaro_domain::generation::Generation;
use figaro_provider::AnswerOptions;

#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct ResponseRequest {
    /// Figaro or one of its agents.
    pub(crate) model: String,
    /// Question as a text, or a list of items.
    input: Value,
    /// `true` if the answer is streamed.
    #[serde(default)]
    pub(crate) stream: Option<bool>,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    top_p: Option<f64>,
    #[serde(default, deserialize_with = "bound")]
    max_output_tokens: Option<u32>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Option<Value>,
    #[serde(default)]
    text: Option<Value>,
    /// Not part of this dialect; refused.
    #[serde(default)]
    stop: Option<Value>,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    conversation: Option<Value>,
    #[serde(default)]
    background: Option<bool>,
    /// Reference to a prompt stored at OpenAI; refused.
    #[serde(default)]
    prompt: Option<Value>,
    #[serde(default)]
    response_format: Option<Value>,
    #[serde(default)]
    figaro: Option<Extras>,
    #[serde(flatten)]
    foreign: Foreign,
}

impl ResponseRequest {
    /// Converts the request to a question.
    ///
    /// # Errors
    /// The part of the request that cannot be answered.
    pub(crate) fn put(self, gateway: &Gateway, entry: &IncomingQuestion) -> Result<Put, GatewayError> {
        self.check()?;
        let agent = agent_of_model(gateway, &self.model)?;
        let mut messages = messages(&self.input)?;
        if let Some(instructions) = self.instructions {
            let content = Some(instructions.into());
            let message = ChatMessage { role: "system".to_owned(), content, ..ChatMessage::default() };
            messages.insert(0, PlacedMessage { place: "instructions".to_owned(), message });
        }
        let Talk { prompt, history, question, images, files, done } = talk("input", &messages)?;
        let sampling = Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_output_tokens,
            ..Sampling::default()
        };
        let (format, form) = form("text.format", self.text.as_ref().and_then(|text| text.get("format")))?;
        let choice = CallerToolChoice::read(self.tool_choice.as_ref())?;
        let (tool_choice, tools) = choice.of(tools(self.tools.as_deref().unwrap_or_default())?)?;
        let options =
            AnswerOptions { tool_choice, has_pictures: !images.is_empty(), ..AnswerOptions::default() };
        let settings = Generation { output_format: format, ..sampling.read()? };
        let requested =
            Requested { agent, prompt, settings, form, images, options, tools, ..Requested::default() };
        put(
            ChatQuestion { words: question, history, done, files, extras: self.figaro, requested },
            gateway,
            entry,
        )
    }

    /// Refuses unsupported fields that would change the answer.
    fn check(&self) -> Result<(), GatewayError> {
        self.foreign.check()?;
        let is_set = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_null());
        let kept =
            "responses are not kept by their ids: name a session by X-Session-Id, or send the items again";
        for (name, is_there, words) in [
            ("previous_response_id", self.previous_response_id.is_some(), kept),
            ("conversation", is_set(&self.conversation), kept),
            ("stop", is_set(&self.stop), "an answer is ended at words by /v1/chat/completions"),
            ("prompt", is_set(&self.prompt), "prompts are not stored here: send instructions"),
            (
                "response_format",
                is_set(&self.response_format),
                "the form of an answer stands in text.format here",
            ),
        ] {
            if is_there {
                return Err(GatewayError::unsupported(name, words));
            }
        }
        if self.background == Some(true) {
            return Err(GatewayError::unsupported(
                "background",
                "a turn ends when nobody follows it: leave background out",
            ));
        }
        Ok(())
    }
}

/// Converts the items of an input to messages. Items internal to a model's service, such as its thoughts and its own
/// searches, are skipped.
fn messages(input: &Value) -> Result<Vec<PlacedMessage>, GatewayError> {
    let items = match input {
        Value::String(_) => {
            let message = ChatMessage {
                role: "user".to_owned(),
                content: Some(input.clone()),
                ..ChatMessage::default()
            };
            return Ok(vec![PlacedMessage { place: "input".to_owned(), message }]);
        }
        Value::Array(items) => items,
        _ => return Err(GatewayError::invalid("input is neither a text nor a list of items").about("input")),
    };
    let mut messages = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let place = format!("input[{at}]");
        let message = message(item).map_err(|words| GatewayError::invalid(words).about(&place))?;
        messages.extend(message.map(|message| PlacedMessage { place, message }));
    }
    Ok(messages)
}

/// Converts one item to a message.
fn message(item: &Value) -> Result<Option<ChatMessage>, String> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let needed = |name: &str| text(name).ok_or_else(|| format!("it has no {name}"));
    let said = |role: String, content: Option<&Value>| ChatMessage {
        role,
        content: content.cloned(),
        ..ChatMessage::default()
    };
    let call = |arguments: Value| -> Result<ChatMessage, String> {
        let function = FunctionCall { name: needed("name")?, arguments };
        let calls = vec![ChatToolCall { id: needed("call_id")?, function }];
        Ok(ChatMessage { tool_calls: Some(calls), ..said("assistant".to_owned(), None) })
    };
    let message = match text("type").as_deref().unwrap_or("message") {
        "message" => said(needed("role")?, item.get("content")),
        "function_call" => call(item.get("arguments").cloned().unwrap_or_default())?,
        "custom_tool_call" => call(json!({"input": item.get("input")}))?,
        "function_call_output" | "custom_tool_call_output" => ChatMessage {
            tool_call_id: Some(needed("call_id")?),
            ..said("tool".to_owned(), item.get("output"))
        },
        // The referenced item would be missing.
        "item_reference" if !text("id").is_some_and(|id| id.starts_with("rs_")) => {
            return Err("items are not kept by their ids: send the item itself (store: false)".to_owned());
        }
        _ => return Ok(None),
    };
    Ok(Some(message))
}
