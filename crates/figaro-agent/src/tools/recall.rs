//! `recall(query, limit?)`: what was said earlier in this chat about something. Offered once a chat has more than a prompt shows.

use std::sync::Arc;

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{About, Tool, ToolContext, ToolError, as_data, typed};
use figaro_domain::conversation::Role;
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_memory::{Chats, Question, Recalled};
use figaro_store::SettingsStore;

/// So many messages are given unless more are asked for, and the most.
const USUAL: usize = 8;
const MOST: usize = 30;
/// A message takes at most about so many tokens.
const TOKENS: usize = 220;
/// The longest query, in characters.
const MAX_QUERY_CHARS: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What it is about, with names, things and dates.
    query: String,
    /// 8 by default, at most 30.
    limit: Option<usize>,
}

/// What `recall` works on.
#[derive(Debug, Clone)]
pub struct MemoryTools {
    /// The memory of chats.
    pub chats: Chats,
    /// The settings of chats, for their zones.
    pub settings: SettingsStore,
    /// The zone of chats that set none.
    pub default_zone: Tz,
}

/// `recall(query, limit?)`: messages of the chat it is called in, of no other.
#[must_use]
pub(crate) fn tool(memory: MemoryTools) -> Arc<dyn Tool> {
    let words = "Finds earlier messages of this chat.";
    let about = About::new("recall", words, Effect::Read, StatusKey("tool_memory"));
    typed(about.of_kind(ToolKind::Recall), move |context: ToolContext, Arguments { query, limit }| {
        let MemoryTools { chats, settings, default_zone } = memory.clone();
        async move {
            let query = query.trim();
            if query.is_empty() || query.chars().count() > MAX_QUERY_CHARS {
                return Err(ToolError::ForModel(format!("query takes 1 to {MAX_QUERY_CHARS} characters")));
            }
            let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
            let chat = context.place.chat;
            let zone = settings.chat_config(chat).await?.timezone.unwrap_or(default_zone);
            let question = Question {
                chat,
                session: None,
                text: query,
                before: None,
                asked_at: context.now,
                zone,
                shown: None,
                tokens: limit * TOKENS,
                user: context.speaker.user.clone(),
            };
            let found = chats.recall(&question).await?;
            let bears = found.iter().filter(|one| one.score > 0.0).take(limit);
            let messages: Vec<Value> = bears.map(|one| shown(one, zone)).collect();
            Ok(as_data("messages", messages.into()))
        }
    })
}

fn shown(one: &Recalled, zone: Tz) -> Value {
    let mut value = json!({"text": one.text});
    value["from"] = match (one.message.role, &one.message.speaker) {
        (Role::User, Some(speaker)) => speaker.name.clone(),
        (Role::User, None) => "a person".to_owned(),
        _ => "you".to_owned(),
    }
    .into();
    value["sent"] = one.message.created_at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string().into();
    if one.is_part {
        value["key"] = one.message.key().to_string().into();
    }
    value
}
