//! The body of a request for a response.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::asking::Put;
use super::super::chat::{
    Asks, ChatMessage, Choice, Extras, Foreign, Sampling, Talk, ToolDefinition, put, talk, tools,
};
use super::super::entry::Entry;
use super::super::error::ApiError;
use super::super::gateway::Gateway;
use super::super::models::agent_of;
use figaro_agent::turn::requested::Requested;

/// A request for a response.
#[derive(Debug, Clone, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct ResponseRequest {
    /// Figaro or an agent of it.
    pub(crate) model: String,
    /// The question, or items of a conversation.
    input: Value,
    /// Whether the answer comes as it is written.
    #[serde(default)]
    pub(crate) stream: Option<bool>,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    top_p: Option<f64>,
    #[serde(default)]
    max_output_tokens: Option<u32>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Option<Value>,
    #[serde(default)]
    text: Option<Value>,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    conversation: Option<Value>,
    #[serde(default)]
    background: Option<bool>,
    /// A prompt that is stored with OpenAI.
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
    /// The question that it asks.
    ///
    /// # Errors
    /// What cannot be answered in it.
    pub(crate) fn put(self, gateway: &Gateway, entry: &Entry) -> Result<Put, ApiError> {
        self.check()?;
        let agent = agent_of(gateway, &self.model)?;
        let mut messages = messages(&self.input)?;
        if let Some(instructions) = &self.instructions {
            messages.insert(0, message(json!({"role": "system", "content": instructions}))?);
        }
        let Talk { prompt, history, question, done } = talk(&messages)?;
        let sampling = Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_output_tokens,
            ..Sampling::default()
        };
        let definitions = self.tools.iter().flatten().map(definition).collect::<Result<Vec<_>, _>>()?;
        let tools = match Choice::read(self.tool_choice.as_ref())? {
            Choice::Auto => tools(&definitions)?,
            Choice::None => Vec::new(),
        };
        let requested =
            Requested { agent, prompt, settings: sampling.read()?, tools, ..Requested::default() };
        put(Asks { words: question, history, done, extras: self.figaro, requested }, gateway, entry)
    }

    /// Refuses what would change the answer and is not there.
    fn check(&self) -> Result<(), ApiError> {
        self.foreign.check()?;
        let is_set = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_null());
        let kept =
            "responses are not kept by their ids: name a session by X-Session-Id, or send the items again";
        let forms = "answers with a form are given by /v1/chat/completions, as its response_format says";
        for (name, is_there, words) in [
            ("previous_response_id", self.previous_response_id.is_some(), kept),
            ("conversation", is_set(&self.conversation), kept),
            ("prompt", is_set(&self.prompt), "prompts are not stored here: send instructions"),
            ("response_format", is_set(&self.response_format), forms),
        ] {
            if is_there {
                return Err(ApiError::unsupported(name, words));
            }
        }
        if self.background == Some(true) {
            return Err(ApiError::unsupported(
                "background",
                "a turn ends when nobody follows it: leave background out",
            ));
        }
        let format = self.text.as_ref().and_then(|text| text.pointer("/format/type")).and_then(Value::as_str);
        match format {
            None | Some("text") => Ok(()),
            Some(_) => Err(ApiError::unsupported("text.format", forms)),
        }
    }
}

/// The items of an input as messages.
fn messages(input: &Value) -> Result<Vec<ChatMessage>, ApiError> {
    let items = match input {
        Value::String(words) => return Ok(vec![message(json!({"role": "user", "content": words}))?]),
        Value::Array(items) => items,
        _ => return Err(ApiError::invalid("input is neither a text nor a list of items").about("input")),
    };
    let mut messages: Vec<Value> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let wrong = |words: String| ApiError::invalid(words).about(&format!("input[{at}]"));
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        match text("type").unwrap_or("message") {
            "message" => messages.push(json!({"role": item.get("role"), "content": item.get("content")})),
            "function_call" => {
                let call = json!({
                    "id": text("call_id").ok_or_else(|| wrong("it has no call_id".to_owned()))?,
                    "function": {"name": text("name").unwrap_or_default(), "arguments": text("arguments").unwrap_or_default()},
                });
                let open = messages.last_mut().filter(|last| last.get("tool_calls").is_some());
                match open.and_then(|last| last.get_mut("tool_calls")).and_then(Value::as_array_mut) {
                    Some(calls) => calls.push(call),
                    None => messages.push(json!({"role": "assistant", "tool_calls": [call]})),
                }
            }
            "function_call_output" => messages.push(json!({
                "role": "tool", "tool_call_id": text("call_id"), "content": item.get("output"),
            })),
            // What a model has thought is the provider's own business, and Figaro's.
            "reasoning" => {}
            kind => {
                let kind: String = kind.chars().take(64).collect();
                return Err(wrong(format!("items of the type `{kind}` are not taken")));
            }
        }
    }
    messages.into_iter().map(message).collect()
}

fn message(value: Value) -> Result<ChatMessage, ApiError> {
    serde_json::from_value(value)
        .map_err(|error| ApiError::invalid(format!("an item cannot be read: {error}")).about("input"))
}

/// A tool of this dialect in the form of the other: what it is stands in the tool itself.
fn definition(tool: &Value) -> Result<ToolDefinition, ApiError> {
    let wrapped = json!({"type": tool.get("type"), "function": tool});
    serde_json::from_value(wrapped)
        .map_err(|error| ApiError::invalid(format!("a tool cannot be read: {error}")).about("tools"))
}
