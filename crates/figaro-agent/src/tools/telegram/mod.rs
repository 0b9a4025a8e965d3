//! The Bot API methods of the MCP server as tools, a few in every prompt and the others once they were found: policy
//! before each call, a person's approval where that takes one, the rate limiter before each send, the current chat filled in
//! where the model left it out.

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
use super::source::{Listed, Named};
use super::{Tool, ToolContext, ToolError, ToolOutput, ToolSource, find, names, schema};
use crate::outbound::RateLimiter;
use figaro_base::ids::{BotId, ChatId};
use figaro_domain::approval::MethodCall;
use figaro_domain::tool::{Effect, StatusKey};
use figaro_mcp_client::supervisor::Mcp;
use figaro_policy::tools::{Policy, chat_number};
use figaro_provider::ToolSpec;
use figaro_store::{AuditStore, ErasureStore, OutboxStore, PeopleStore, TaskStore, UndoStore};

/// Whether somebody's word for a chat is its number.
pub(super) fn is_chat(named: &str, chat: ChatId) -> bool {
    named.trim().parse() == Ok(chat.0)
}

/// Parameters that say where; the current chat and topic stand in for them.
const PLACE: [&str; 2] = ["chat_id", "message_thread_id"];

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
    /// The bot itself.
    pub bot: BotId,
    /// The pace they are made at.
    pub limiter: Arc<RateLimiter>,
    /// Which messages the model sent.
    pub outbox: OutboxStore,
    /// The people who wrote in groups: a name in the place of a person's id means one of them.
    pub people: PeopleStore,
    /// Finds the words of a message that a call acts on, for the card that asks for approval.
    pub said: ErasureStore,
    /// Where what is decided is noted.
    pub audit: AuditStore,
    /// The tasks, with what their runs may do without asking.
    pub tasks: TaskStore,
    /// Held while it is counted how often a run has done so.
    pub counting: Arc<Mutex<()>>,
    /// Where what can be taken back is kept.
    pub undos: UndoStore,
    /// Who may approve what takes an approval.
    pub approvers: Approvers,
    /// The rules about calls.
    pub policy: Policy,
}

impl TelegramTools {
    /// The tools that every prompt carries, in short form.
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
        // What was approved is made as it was shown, whoever a name means by now.
        if context.approved.is_none() {
            names::settle(&self.tools.people, &mut args, context).await?;
        }
        self.fill_place(&mut args, context);
        let call = MethodCall { method: self.spec.name.clone(), arguments: args };
        self.tools.perform(vec![call], context).await
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
}
