//! Bot API methods as tools: a few in every prompt, others once found. Policy runs before each call, a person approves if
//! required, the rate limiter runs before each send, and the current chat is the default.

mod approvers;
mod asks;
mod audited;
mod checked;
mod concerned;
pub(super) mod parts;
mod perform;
mod send;
mod standing;
mod undo;
mod undoable;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use figaro_mcp::catalog::Catalog;
use figaro_mcp::pace::messages;
use figaro_mcp::table::{Class, Method};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

pub use self::approvers::{Approvers, Grants};
pub(super) use self::standing::Leave;
use super::source::{NamedTools, ToolListing};
use super::{Tool, ToolContext, ToolError, ToolOutput, ToolSource, find, names, schema};
use crate::outbound::RateLimiter;
use figaro_base::ids::{BotId, ChatId};
use figaro_domain::approval::MethodCall;
use figaro_domain::tool::{Effect, StatusKey};
use figaro_mcp_client::supervisor::Mcp;
use figaro_policy::tools::{Policy, chat_number};
use figaro_provider::ToolSpec;
use figaro_store::{AuditStore, ErasureStore, OutboxStore, PeopleStore, TaskStore, UndoStore};

/// Returns `true` if `named` is the number of the chat.
pub(super) fn is_chat(named: &str, chat: ChatId) -> bool {
    named.trim().parse() == Ok(chat.0)
}

/// Parameters that default to the current chat and topic.
const PLACE: [&str; 2] = ["chat_id", "message_thread_id"];

/// Methods in every prompt, in short form.
const EVERYDAY: &str = include_str!("everyday.yaml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everyday {
    description: String,
    parameters: Value,
}

/// Dependencies of the Telegram tools.
#[derive(Debug, Clone)]
pub struct TelegramTools {
    /// Catalog of the methods that the MCP server offers.
    pub catalog: Arc<Catalog>,
    /// MCP server that makes the calls.
    pub mcp: Mcp,
    /// User id of the bot itself.
    pub bot: BotId,
    /// Rate limiter, shared with Figaro's own messages.
    pub limiter: Arc<RateLimiter>,
    /// Authors of sent messages: the model or Figaro.
    pub outbox: OutboxStore,
    /// People who wrote in groups, to resolve names.
    pub people: PeopleStore,
    /// Words of messages that calls act on, for approval cards.
    pub said: ErasureStore,
    /// Audit log. Decisions are recorded before they are carried out.
    pub audit: AuditStore,
    /// Tasks with their standing rules.
    pub tasks: TaskStore,
    /// Held while the uses of a standing rule are counted.
    pub counting: Arc<Mutex<()>>,
    /// Undo data of calls, stored per turn.
    pub undos: UndoStore,
    /// Decides who may approve and undo calls.
    pub approvers: Approvers,
    /// Rules that allow, deny or ask about calls.
    pub policy: Policy,
}

impl TelegramTools {
    /// Makes the tools of every prompt, in short form.
    pub(crate) fn everyday(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
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
    fn list(&self) -> Vec<ToolListing> {
        let rules = self.policy.rules();
        let listed = self.catalog.listed().into_iter().map(|listed| ToolListing {
            name: listed.method.name.clone(),
            description: listed.description.to_owned(),
            words: listed.words.to_owned(),
            parameters: listed.method.params.iter().map(|param| param.name.clone()).collect(),
            takes_approval: rules.takes_approval(listed.method),
        });
        listed.collect()
    }

    fn find(&self, query: &str) -> NamedTools {
        let found = self.catalog.named(query);
        let tools = found.methods.into_iter().map(|method| method.name.clone()).collect();
        NamedTools { tools, types: found.types }
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
    /// `true` if the model sees only some parameters and may use no others.
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
        // The server drops nulls too: the call that is judged is the call that is sent.
        args.retain(|_, value| !value.is_null());
        self.known(&args)?;
        // Approved calls are made as shown, even if a name means somebody else by now.
        if context.approved.is_none() {
            names::settle(&self.tools.people, &mut args, context)?;
        }
        self.fill_place(&mut args, context);
        let call = MethodCall { method: self.spec.name.clone(), arguments: args };
        self.tools.perform(vec![call], context).await
    }
}

impl TelegramTool {
    /// Fills in the current chat, and the current topic for calls to that chat.
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

    /// Rejects parameters that the model was not offered.
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
}

#[cfg(test)]
mod tests {
    use figaro_mcp::catalog::MethodSelection;

    use super::*;

    #[test]
    fn what_a_prompt_says_of_a_method_is_so() {
        let catalog = Catalog::new(&MethodSelection::default());
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
}
