//! The Bot API methods of the MCP server as tools, a few in every prompt and the others once they were found: policy
//! before each call, the rate limiter before each send, the current chat filled in where the model left it out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use figaro_mcp::catalog::Catalog;
use figaro_mcp::check::{Place, check};
use figaro_mcp::pace::messages;
use figaro_mcp::table::{Class, Method};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::source::{Listed, Named};
use super::{Tool, ToolContext, ToolError, ToolOutput, ToolSource, as_data, find, schema};
use crate::domain::delivery::Author;
use crate::domain::tool::{Effect, SideEffects, StatusKey};
use crate::ids::{ChatId, MessageId};
use crate::mcp::client::{Answer, McpError};
use crate::mcp::supervisor::Mcp;
use crate::outbound::{RateLimiter, Urgency};
use crate::policy::access::{Admins, Standing};
use crate::policy::tools::{
    Decision, Policy, Role, Rules, TelegramCall, chat_number, decide, settle_previews,
};
use crate::provider::ToolSpec;
use crate::store::OutboxStore;

/// Parameters that say where; the current chat and topic stand in for them.
const PLACE: [&str; 2] = ["chat_id", "message_thread_id"];
/// A 429 whose wait is no longer than this is waited out and the call made once more.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The methods a prompt carries, in short form.
const EVERYDAY: &str = include_str!("everyday.yaml");

/// A method as a prompt shows it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everyday {
    description: String,
    parameters: Value,
}

/// What every Telegram tool works with.
#[derive(Debug, Clone)]
pub struct TelegramTools {
    /// What the server serves.
    pub catalog: Arc<Catalog>,
    /// The server that makes the calls.
    pub mcp: Mcp,
    /// The pace they are made at.
    pub limiter: Arc<RateLimiter>,
    /// Which messages the model sent.
    pub outbox: Arc<dyn OutboxStore>,
    /// The rules about calls.
    pub policy: Policy,
    /// Who administers a chat.
    pub admins: Arc<dyn Admins>,
}

impl TelegramTools {
    /// The tools that every prompt carries, in short form.
    pub fn everyday(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        everyday().into_iter().filter_map(|(name, everyday)| self.everyday_tool(&name, everyday))
    }

    fn everyday_tool(&self, name: &str, everyday: Everyday) -> Option<Arc<dyn Tool>> {
        let method = self.catalog.method(name)?;
        let Everyday { description, parameters } = everyday;
        Some(self.make(method, description, parameters, true))
    }

    fn make(
        &self,
        method: &'static Method,
        description: String,
        parameters: Value,
        is_everyday: bool,
    ) -> Arc<dyn Tool> {
        let spec = Arc::new(ToolSpec::new(method.name.as_str(), description, parameters));
        Arc::new(TelegramTool { spec, method, is_everyday, tools: self.clone() })
    }
}

#[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
fn everyday() -> BTreeMap<String, Everyday> {
    serde_saphyr::from_str(EVERYDAY).expect("everyday.yaml fits")
}

impl ToolSource for TelegramTools {
    fn list(&self) -> Vec<Listed> {
        let rules = self.policy.rules();
        let listed = self.catalog.listed().into_iter().map(|listed| Listed {
            name: listed.method.name.clone(),
            description: listed.description.to_owned(),
            words: listed.words.to_owned(),
            parameters: listed.method.params.iter().map(|param| param.name.clone()).collect(),
            takes_approval: rules.takes_approval(listed.method),
        });
        listed.collect()
    }

    fn find(&self, query: &str) -> Named {
        let found = self.catalog.named(query);
        let tools = found.methods.into_iter().map(|method| method.name.clone()).collect();
        Named { tools, types: found.types }
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let method = self.catalog.method(name)?;
        let whole = Value::Object(self.catalog.short_schema(method));
        let description = self.catalog.description(method).to_owned();
        Some(self.make(method, description, schema::not_required(whole, &PLACE), false))
    }
}

#[derive(Debug)]
struct TelegramTool {
    spec: Arc<ToolSpec>,
    method: &'static Method,
    /// The model is told of some parameters, and is held to them.
    is_everyday: bool,
    tools: TelegramTools,
}

#[async_trait]
impl Tool for TelegramTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn status(&self) -> StatusKey {
        StatusKey("tool_telegram")
    }

    fn effect(&self) -> Effect {
        match self.method.class {
            Class::Read => Effect::Read,
            _ if self.method.is_destructive() => Effect::Destructive,
            _ => Effect::Write,
        }
    }

    fn sends(&self, arguments: &Value) -> usize {
        match arguments {
            Value::Object(args) if self.method.adds_messages() => messages(args),
            _ => 0,
        }
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let Value::Object(mut args) = arguments else {
            return Err(ToolError::ForModel("the arguments must be one JSON object".to_owned()));
        };
        // As the server will: what is decided about is what is sent.
        args.retain(|_, value| !value.is_null());
        self.known(&args)?;
        self.fill_place(&mut args, context);
        settle_previews(self.method, &mut args, &context.addresses);
        let files = check(self.method, &args).map_err(|fault| ToolError::ForModel(fault.to_string()))?;
        self.permit(&args, &files, context).await?;
        let count = if self.method.adds_messages() { messages(&args) } else { 0 };
        take(context, count)?;
        let sent = self.send(&args, context.place.chat).await;
        if matches!(sent, Err(ToolError::ForModel(_))) {
            context.sends.iter().for_each(|sends| sends.give_back(count));
        }
        let result = sent?;
        let spoke = self.note_own(&args, &result, context).await;
        let side_effects = SideEffects { spoke, ..SideEffects::default() };
        let value = match self.shows_words(&result) {
            true => as_data("result", result),
            false => json!({"success": true, "result": result}),
        };
        Ok(ToolOutput { value, side_effects, asks: None })
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

    /// Whether people may have written something of a result: names, descriptions, messages.
    fn shows_words(&self, result: &Value) -> bool {
        let others = ["reply_to_message", "external_reply", "forward_origin", "pinned_message"];
        let is_read = self.method.class == Class::Read && (result.is_object() || result.is_array());
        is_read || others.iter().any(|key| result.get(key).is_some())
    }

    /// The model is held to what it was told of.
    fn known(&self, args: &Map<String, Value>) -> Result<(), ToolError> {
        let told = &self.spec.parameters["properties"];
        let is_told = |key: &str| told.get(key).is_some() || PLACE.contains(&key);
        let hidden = args.keys().find(|key| self.is_everyday && !is_told(key));
        let Some(key) = hidden else { return Ok(()) };
        let name = &self.spec.name;
        tracing::info!(method = name, key, "a parameter that is not offered was refused");
        Err(ToolError::Denied(format!(
            "{key} is not offered here; {}(\"{name}\") offers all of {name}",
            find::NAME
        )))
    }

    async fn permit(
        &self,
        args: &Map<String, Value>,
        files: &[Place],
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let whole = Value::Object(args.clone());
        let files: Vec<&str> =
            files.iter().filter_map(|place| whole.pointer(&place.pointer)?.as_str()).collect();
        let here = context.place.chat;
        let own = self.names_own(args, here).await?;
        let speaker = (context.standing != Standing::Borrowed).then_some(&context.speaker.user);
        let rules = self.tools.policy.rules();
        let call = TelegramCall {
            method: self.method,
            args,
            here,
            speaker,
            role: self.role(&rules, context).await,
            agent: context.agent.as_deref(),
            task: context.task,
            own,
            files: &files,
            addresses: &context.addresses,
            resolved: &[],
        };
        let decided = decide(&rules, &call);
        tracing::info!(method = self.spec.name, chat = %here, ?decided, "policy decided about a Telegram call");
        let why = decided.reason;
        match decided.decision {
            Decision::Allow => Ok(()),
            Decision::Ask => Err(ToolError::Denied(format!(
                "not allowed: {why}. It takes an approval, which cannot be given yet: tell the person."
            ))),
            Decision::Deny => Err(ToolError::Denied(format!("not allowed: {why}."))),
        }
    }

    /// The role of whoever asks. Who administers the chat is looked up only where a rule asks for it.
    async fn role(&self, rules: &Rules, context: &ToolContext) -> Role {
        let is_admin = || self.tools.admins.is_admin(context.place.chat, &context.speaker.user);
        match context.standing {
            Standing::Owner => Role::Owner,
            Standing::Borrowed => Role::Guest,
            Standing::Member if rules.tells_admins() && is_admin().await => Role::Admin,
            Standing::Member => Role::Member,
        }
    }

    /// Makes the call within the rate limits and gives its result; a short 429 is waited out once.
    async fn send(&self, args: &Map<String, Value>, chat: ChatId) -> Result<Value, ToolError> {
        let is_paced = self.method.class != Class::Read;
        for last in [false, true] {
            if is_paced {
                let together = if self.method.speaks() { messages(args) } else { 1 };
                self.tools.limiter.acquire_many(chat, together, Urgency::Answer).await;
            }
            let answer = match self.tools.mcp.call(&self.spec.name, args.clone()).await {
                Ok(answer) => answer,
                Err(error @ McpError::Lost(_)) => return Err(self.unknown(&error.to_string())),
                Err(error @ (McpError::Unavailable(_) | McpError::Refused(_))) => {
                    return Err(ToolError::ForModel(error.to_string()));
                }
            };
            match retry_after(&answer) {
                Some(wait) if is_paced && !last && wait <= MAX_WAIT => self.tools.limiter.pause(chat, wait),
                _ if answer.is_error => return Err(self.failure(&answer.content)),
                _ => return Ok(answer.content.get("result").cloned().unwrap_or(answer.content)),
            }
        }
        Err(ToolError::ForModel("Telegram is limiting messages to this chat; try later".to_owned()))
    }

    fn failure(&self, content: &Value) -> ToolError {
        let words = describe_error(content);
        match Fate::of(content) {
            Fate::Refused => ToolError::ForModel(format!("Telegram refused: {words}")),
            Fate::Unsent => ToolError::ForModel(words),
            Fate::Unknown => self.unknown(&words),
        }
    }

    /// A call without an answer. What only reads does no harm twice.
    fn unknown(&self, words: &str) -> ToolError {
        if self.method.class == Class::Read {
            return ToolError::ForModel(words.to_owned());
        }
        let done = if self.method.adds_messages() { "sent" } else { "carried out" };
        ToolError::Unknown(format!("{words}. It may have been {done}: do not repeat it without checking"))
    }

    /// Whether the model sent every message a call names; `None` where it names none. What is no number names a message
    /// that nobody knows.
    async fn names_own(&self, args: &Map<String, Value>, here: ChatId) -> Result<Option<bool>, ToolError> {
        let many = args.get("message_ids").and_then(Value::as_array).into_iter().flatten();
        let mut own = None;
        for id in args.get("message_id").into_iter().chain(many) {
            // What is no id of a message is nobody's: how Telegram would read it is not known.
            let author = match id.as_i64().filter(|id| *id > 0) {
                Some(id) => self.tools.outbox.author(here, MessageId(id)).await?,
                None => None,
            };
            own = Some(own != Some(false) && author == Some(Author::Model));
        }
        Ok(own)
    }

    /// Remembers messages that were sent as the model's own; returns whether one of them spoke for the run.
    async fn note_own(&self, args: &Map<String, Value>, result: &Value, context: &ToolContext) -> bool {
        if !self.method.adds_messages() {
            return false;
        }
        let sent = result.as_array().map_or(std::slice::from_ref(result), Vec::as_slice);
        let ids = sent.iter().filter_map(|message| message.get("message_id").and_then(Value::as_i64));
        let chat = context.place.chat;
        let mut has_sent = false;
        for id in ids {
            has_sent = true;
            let recording = self.tools.outbox.record_own(chat, MessageId(id), Author::Model, context.now);
            if let Err(error) = recording.await {
                tracing::error!(%error, %chat, "a sent message could not be recorded as the model's own");
            }
        }
        let topic = context.place.topic.map(|topic| json!(topic));
        has_sent && self.spec.name == "sendMessage" && args.get("message_thread_id") == topic.as_ref()
    }
}

/// Takes so many messages from what the turn may send.
fn take(context: &ToolContext, count: usize) -> Result<(), ToolError> {
    let Some(sends) = &context.sends else { return Ok(()) };
    sends.take(count).map_err(|left| {
        ToolError::Denied(format!(
            "not allowed: in one run of a task tools send {} messages at most, and {left} of them are left. Leave the \
             rest out, and do not try again",
            sends.most()
        ))
    })
}

/// What became of a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Telegram, or the server before it, did not take it.
    Refused,
    /// Telegram never saw it.
    Unsent,
    /// There is no answer: it was cancelled (499), or Telegram failed or fell silent (5xx).
    Unknown,
}

impl Fate {
    fn of(content: &Value) -> Self {
        let error = content.get("error");
        let code = error.and_then(|error| error.get("error_code")).and_then(Value::as_i64);
        match code {
            _ if error.is_some_and(|error| error.get("unsent") == Some(&Value::Bool(true))) => Self::Unsent,
            Some(400..499) => Self::Refused,
            Some(_) | None => Self::Unknown,
        }
    }
}

fn retry_after(answer: &Answer) -> Option<Duration> {
    let seconds = answer.content.get("error")?.get("retry_after")?.as_u64()?;
    answer.is_error.then_some(Duration::from_secs(seconds))
}

fn describe_error(content: &Value) -> String {
    let error = content.get("error").unwrap_or(content);
    error.get("description").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use figaro_mcp::catalog::Choice;

    use super::*;

    #[test]
    fn what_a_prompt_says_of_a_method_is_so() {
        let catalog = Catalog::new(&Choice::default());
        for (name, Everyday { parameters, .. }) in everyday() {
            let method = catalog.method(&name).unwrap_or_else(|| panic!("no method {name}"));
            let whole = Value::Object(catalog.schema(method));
            for (property, short) in parameters["properties"].as_object().unwrap() {
                let long = &whole["properties"][property];
                let one_of = |schema: &Value| {
                    let several = schema["anyOf"].as_array().into_iter().flatten();
                    several.chain([schema]).map(|one| one["type"].clone()).collect::<Vec<_>>()
                };
                // A definition of its own has no type here.
                let is_taken =
                    one_of(short).iter().all(|kind| *kind == "object" || one_of(long).contains(kind));
                assert!(is_taken, "{name}.{property}: {long}");
                let offered = short["enum"].as_array().into_iter().flatten();
                let taken = long["enum"].as_array();
                assert!(offered.into_iter().all(|value| taken.unwrap().contains(value)), "{name}.{property}");
            }
            let needed = whole["required"].as_array().into_iter().flatten();
            let told = parameters["required"].as_array().cloned().unwrap_or_default();
            for property in needed.filter(|name| !PLACE.contains(&name.as_str().unwrap())) {
                assert!(told.contains(property), "{name} needs {property}");
            }
        }
    }

    #[test]
    fn what_became_of_a_failed_call_is_told_by_its_error() {
        let failed = |code: i64| json!({"ok": false, "error": {"error_code": code, "description": "x"}});
        let away = |unsent: bool| json!({"ok": false, "error": {"error_code": 503, "unsent": unsent}});
        let cases = [
            (failed(400), Fate::Refused),
            (failed(403), Fate::Refused),
            (failed(429), Fate::Refused),
            (failed(499), Fate::Unknown),
            (failed(500), Fate::Unknown),
            (failed(504), Fate::Unknown),
            (away(true), Fate::Unsent),
            (away(false), Fate::Unknown),
            (json!("the server said something else"), Fate::Unknown),
        ];
        for (content, expected) in cases {
            assert_eq!(Fate::of(&content), expected, "{content}");
        }
    }
}
