//! `lookup(key)`: the full text of a message that a prompt shows only in part. The key stands where its middle was left
//! out.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolDefinition, ToolError, as_data, typed};
use figaro_domain::conversation::{EntryKey, Message, MessageRole};
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_provider::fit::key_in;
use figaro_store::ConversationStore;

/// Page size in characters; a longer text continues under a further key.
const PAGE_CHARS: usize = 6_000;
/// Separator in the key of a later page, before the number of characters to skip.
const FROM: &str = "-from-";
/// Start of the next page's key in a result.
const NEXT: &str = "\"next_key\":\"session-";

/// Returns `true` if the text contains a key to look up: for an omitted part, or for the next page.
pub(crate) fn has_key(words: &str) -> bool {
    key_in(words).is_some() || words.contains(NEXT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LookupArguments {
    /// As it stands in the brackets, such as session-01J…-msg-12.
    key: String,
}

/// Makes `lookup(key)` over this store. It finds messages of the calling chat only.
#[must_use]
pub(crate) fn tool(store: ConversationStore) -> Arc<dyn Tool> {
    let words = "Gives the whole of a message of which [session-…-msg-…] stands in place of the middle.";
    let about = ToolDefinition::new("lookup", words, Effect::Read, StatusKey("tool_telegram")).of_memory();
    typed(about.of_kind(ToolKind::Lookup), move |context: ToolContext, LookupArguments { key }| {
        let store = store.clone();
        async move {
            let (entry, from) = read(&key)
                .ok_or_else(|| ToolError::ForModel("key is of the form session-…-msg-12".to_owned()))?;
            let found = store.entry(context.place.chat, entry)?;
            let message = found
                .ok_or_else(|| ToolError::ForModel(format!("no message of this chat has the key {key}")))?;
            Ok(page(entry, from, &message))
        }
    })
}

/// Parses a key and the number of characters to skip.
fn read(key: &str) -> Option<(EntryKey, usize)> {
    let key = key.trim().trim_matches(['[', ']']).trim();
    match key.split_once(FROM) {
        Some((key, from)) => Some((key.parse().ok()?, from.parse().ok()?)),
        None => Some((key.parse().ok()?, 0)),
    }
}

fn page(key: EntryKey, from: usize, message: &Message) -> Value {
    let words = whole(message);
    let (total, to) = (words.chars().count(), from.saturating_add(PAGE_CHARS));
    let page: String = words.chars().skip(from).take(PAGE_CHARS).collect();
    let mut value = as_data("text", page.into());
    value["from"] = match message.role {
        MessageRole::User => "a person",
        MessageRole::Assistant => "you",
        MessageRole::Tool => "a tool",
        MessageRole::System => "Figaro",
    }
    .into();
    if to < total {
        value["characters"] = total.into();
        value["next_key"] = format!("{key}{FROM}{to}").into();
    }
    value
}

/// Returns the full text of a message: with quoted messages for a person's, with the call's arguments for a tool result.
fn whole(message: &Message) -> String {
    if let Some(tool) = &message.tool {
        return json!({"arguments": tool.tool_arguments, "result": message.text}).to_string();
    }
    let quoted =
        message.quotes.iter().flat_map(|quoted| [Some(&quoted.text), quoted.excerpt.as_ref()]).flatten();
    quoted.map(|words| format!("In reply to: {words}\n\n")).chain([message.text.clone()]).collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use figaro_base::ids::SessionId;

    #[test]
    fn a_key_is_read_as_models_write_it() {
        let entry = EntryKey { session: SessionId::new(), index: 12 };
        let cases = [
            (entry.to_string(), Some((entry, 0))),
            (format!(" [{entry}] "), Some((entry, 0))),
            (format!("{entry}-from-6000"), Some((entry, 6000))),
            (format!("{entry}-from-x"), None),
            ("session-1-msg-2".to_owned(), None),
            (String::new(), None),
        ];
        for (key, expected) in cases {
            assert_eq!(read(&key), expected, "{key}");
        }
    }

    #[test]
    fn pages_join_to_the_whole() {
        let text: String = (0..5_000).map(|n| format!("{n} ä ")).collect();
        let message =
            Message::new(SessionId::new(), MessageRole::Assistant, text.clone(), DateTime::UNIX_EPOCH);
        let mut key = EntryKey { session: message.session, index: 0 }.to_string();
        let mut joined = String::new();
        loop {
            let (entry, from) = read(&key).unwrap();
            let value = page(entry, from, &message);
            joined += value["text"].as_str().unwrap();
            assert_eq!(has_key(&value.to_string()), value["next_key"].is_string());
            match value["next_key"].as_str() {
                Some(next) => key = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(joined, text);
        let beyond = page(EntryKey { session: message.session, index: 0 }, 1_000_000, &message);
        assert_eq!((beyond["text"].as_str(), beyond.get("next_key")), (Some(""), None));
    }
}
