//! The Bot API methods of the MCP server as tools: policy before each call, the outbound gate before each send, and
//! the current chat filled in where the model left it out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use figaro_mcp::files;
use figaro_mcp::table::{Class, Method, Table};
use serde_json::{Map, Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, schema};
use crate::domain::tool::Effect;
use crate::ids::{ChatId, MessageId};
use crate::mcp::client::Answer;
use crate::mcp::supervisor::Mcp;
use crate::outbound::Gate;
use crate::policy::tools::{Decision, TelegramCall, chat_number, decide};
use crate::provider::ToolSpec;
use crate::store::OutboxStore;

/// Parameters that say where; the current chat and topic stand in for them.
const PLACE: [&str; 2] = ["chat_id", "message_thread_id"];
/// A 429 whose wait is no longer than this is waited out and the call made once more.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The methods a prompt carries, each with the parameters a model needs; the full schema of one `editMessageText` alone
/// takes 4,900 tokens.
const CORE: [(&str, &[&str]); 7] = [
    ("sendMessage", &["chat_id", "message_thread_id", "text", "parse_mode", "disable_notification"]),
    ("sendPhoto", &["chat_id", "message_thread_id", "photo", "caption", "has_spoiler"]),
    (
        "sendPoll",
        &[
            "chat_id",
            "message_thread_id",
            "question",
            "options",
            "is_anonymous",
            "type",
            "allows_multiple_answers",
            "correct_option_ids",
            "explanation",
            "open_period",
        ],
    ),
    ("setMessageReaction", &["chat_id", "message_id", "reaction"]),
    ("editMessageText", &["chat_id", "message_id", "text", "parse_mode"]),
    ("deleteMessage", &["chat_id", "message_id"]),
    ("getChat", &["chat_id"]),
];

/// What every Telegram tool works with.
#[derive(Debug, Clone)]
pub struct TelegramTools {
    /// The server that makes the calls.
    pub mcp: Mcp,
    /// The pace they are made at.
    pub gate: Arc<Gate>,
    /// Which messages are the bot's own.
    pub outbox: Arc<dyn OutboxStore>,
}

impl TelegramTools {
    /// One tool for each core method that the server serves.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let served = self.mcp.tools().iter();
        served.filter_map(|tool| self.tool(tool)).collect()
    }

    fn tool(&self, served: &rmcp::model::Tool) -> Option<Arc<dyn Tool>> {
        let (name, properties) = CORE.iter().find(|(name, _)| *name == served.name)?;
        let method = Table::get().method(name)?;
        let spec = ToolSpec {
            name: (*name).to_owned(),
            description: served.description.as_deref().unwrap_or_default().to_owned(),
            parameters: schema::keep(&Value::Object((*served.input_schema).clone()), properties, &PLACE),
        };
        Some(Arc::new(TelegramTool { spec, method, properties, tools: self.clone() }))
    }
}

#[derive(Debug)]
struct TelegramTool {
    spec: ToolSpec,
    method: &'static Method,
    /// The parameters the model is told of; it is held to them.
    properties: &'static [&'static str],
    tools: TelegramTools,
}

#[async_trait]
impl Tool for TelegramTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        match self.method.class {
            Class::Read => Effect::Read,
            _ if self.method.irreversible => Effect::Destructive,
            _ => Effect::Write,
        }
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let Value::Object(mut args) = arguments else {
            return Err(ToolError::ForModel("the arguments must be one JSON object".to_owned()));
        };
        self.fill_place(&mut args, context);
        self.permit(&args, context).await?;
        let answer = self.send(&args, context.place.chat).await?;
        if answer.is_error {
            return Err(ToolError::ForModel(describe_error(&answer.content)));
        }
        let result = answer.content.get("result").cloned().unwrap_or(answer.content);
        let spoke = self.note_own(&args, &result, context).await;
        Ok(ToolOutput { value: json!({"success": true, "result": result}), spoke })
    }
}

impl TelegramTool {
    /// Fills in the current chat, and the current topic for what is sent to it.
    fn fill_place(&self, args: &mut Map<String, Value>, context: &ToolContext) {
        let takes = |name: &str| self.method.params.iter().any(|field| field.name == name);
        if takes("chat_id") && !args.contains_key("chat_id") {
            args.insert("chat_id".to_owned(), json!(context.place.chat));
        }
        let is_here = args.get("chat_id").and_then(chat_number) == Some(context.place.chat.0);
        if let (Some(topic), true) = (context.place.topic, is_here && takes("message_thread_id")) {
            args.entry("message_thread_id").or_insert(json!(topic));
        }
    }

    async fn permit(&self, args: &Map<String, Value>, context: &ToolContext) -> Result<(), ToolError> {
        let found = files::find(self.method, args);
        let files: Vec<&str> = found.iter().map(|(_, file)| *file).collect();
        let here = context.place.chat;
        let own = match args.get("message_id").and_then(Value::as_i64) {
            Some(id) => Some(self.tools.outbox.is_own(here, MessageId(id)).await?),
            None => None,
        };
        let call = TelegramCall { class: self.method.class, args, here, own, files: &files };
        let decision = match args.keys().find(|key| !self.properties.contains(&key.as_str())) {
            Some(unknown) => Decision::Deny(format!("{unknown} is not a parameter here")),
            None => decide(&call),
        };
        tracing::info!(method = self.spec.name, chat = %here, ?decision, "policy decided about a Telegram call");
        match decision {
            Decision::Allow => Ok(()),
            Decision::Ask(why) => Err(ToolError::Denied(format!(
                "not allowed: {why}, which takes an approval that cannot be given yet. Tell the person."
            ))),
            Decision::Deny(why) => Err(ToolError::Denied(format!("not allowed: {why}."))),
        }
    }

    /// Makes the call at the gate's pace; a short 429 is waited out once.
    async fn send(&self, args: &Map<String, Value>, chat: ChatId) -> Result<Answer, ToolError> {
        let is_paced = self.method.class != Class::Read;
        for last in [false, true] {
            if is_paced {
                self.tools.gate.pass(chat).await;
            }
            let answer = self
                .tools
                .mcp
                .call(&self.spec.name, args.clone())
                .await
                .map_err(|error| ToolError::ForModel(error.to_string()))?;
            match retry_after(&answer) {
                Some(wait) if is_paced && !last && wait <= LONGEST_WAIT => self.tools.gate.close(chat, wait),
                _ => return Ok(answer),
            }
        }
        Err(ToolError::ForModel("Telegram is limiting messages to this chat; try later".to_owned()))
    }

    /// Remembers a message that was sent as the bot's own; returns whether it spoke for the run.
    async fn note_own(&self, args: &Map<String, Value>, result: &Value, context: &ToolContext) -> bool {
        let is_new = self.method.class == Class::Message && !args.contains_key("message_id");
        let Some(id) = result.get("message_id").and_then(Value::as_i64).filter(|_| is_new) else {
            return false;
        };
        let chat = context.place.chat;
        if let Err(error) = self.tools.outbox.record_own(chat, MessageId(id), context.now).await {
            tracing::error!(%error, %chat, "a sent message could not be recorded as the bot's own");
        }
        let topic = args.get("message_thread_id").and_then(Value::as_i64);
        self.spec.name == "sendMessage" && topic == context.place.topic.map(|topic| topic.0)
    }
}

fn retry_after(answer: &Answer) -> Option<Duration> {
    let seconds = answer.content.get("error")?.get("retry_after")?.as_u64()?;
    answer.is_error.then_some(Duration::from_secs(seconds))
}

fn describe_error(content: &Value) -> String {
    let error = content.get("error").unwrap_or(content);
    match error.get("description").and_then(Value::as_str) {
        Some(description) => format!("Telegram refused: {description}"),
        None => format!("Telegram refused: {error}"),
    }
}
