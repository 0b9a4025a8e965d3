//! `recall(query, limit?)`: searches earlier messages of this chat. Offered once a chat has more than a prompt shows.

use std::sync::Arc;

use figaro_base::tz::Tz;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolDefinition, ToolError, as_data, as_kept_data, typed};
use figaro_domain::conversation::MessageRole;
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_memory::{Chats, RecallQuery, Recalled};
use figaro_store::SettingsStore;

/// Default and maximum number of messages.
const USUAL: usize = 8;
const MOST: usize = 30;
/// Approximate maximum of tokens per message.
const TOKENS: usize = 220;
/// Maximum length of a query, in characters.
const MAX_QUERY_CHARS: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecallArguments {
    /// What it is about, with names, things and dates.
    query: String,
    /// 8 by default, at most 30.
    limit: Option<usize>,
}

/// Dependencies of `recall`.
#[derive(Debug, Clone)]
pub struct MemoryTools {
    /// Search indexes of chats.
    pub chats: Chats,
    /// Settings of chats, for their time zones.
    pub settings: SettingsStore,
    /// Time zone of chats that have set none.
    pub default_zone: Tz,
}

/// Makes `recall(query, limit?)`. It finds messages of the calling chat only.
#[must_use]
pub(crate) fn tool(memory: MemoryTools) -> Arc<dyn Tool> {
    let words = "Finds earlier messages of this chat.";
    let about = ToolDefinition::new("recall", words, Effect::Read, StatusKey("tool_memory")).of_memory();
    typed(about.of_kind(ToolKind::Recall), move |context: ToolContext, RecallArguments { query, limit }| {
        let MemoryTools { chats, settings, default_zone } = memory.clone();
        async move {
            let query = query.trim();
            if query.is_empty() || query.chars().count() > MAX_QUERY_CHARS {
                return Err(ToolError::ForModel(format!("query takes 1 to {MAX_QUERY_CHARS} characters")));
            }
            let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
            let chat = context.place.chat;
            let zone = settings.chat_config(chat)?.timezone.unwrap_or(default_zone);
            let question = RecallQuery {
                chat,
                session: None,
                text: query,
                before: None,
                asked_at: context.now,
                zone,
                shown: None,
                tokens: limit * TOKENS,
                payer: context.payer(),
            };
            let found = chats.recall(&question).await?;
            let bears = found.iter().filter(|one| one.score > 0.0).take(limit);
            let messages: Vec<Value> = bears.map(|one| shown(one, zone)).collect();
            // In a private chat all but what was forwarded is by the asker and the bot.
            let is_by_others = context.place.is_group()
                || found
                    .iter()
                    .any(|one| one.message.forwarded_from.is_some() || one.message.quotes.is_some());
            let marked = if is_by_others { as_data } else { as_kept_data };
            Ok(marked("messages", messages.into()))
        }
    })
}

fn shown(one: &Recalled, zone: Tz) -> Value {
    let mut value = json!({"text": one.text});
    value["from"] = match (one.message.role, &one.message.speaker) {
        (MessageRole::User, Some(speaker)) => speaker.name.clone(),
        (MessageRole::User, None) => "a person".to_owned(),
        _ => "you".to_owned(),
    }
    .into();
    value["sent"] = one.message.created_at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string().into();
    if one.is_part {
        value["key"] = one.message.key().to_string().into();
    }
    value
}
