//! Names of chats and people, as Telegram tells them.

use serde_json::{Value, json};

use super::api::{Api, GetChat};
use figaro_base::ids::ChatId;

/// Returns the name and the username of a chat or a person. `None` if Telegram tells none: it tells bots nothing about people
/// who have written only in groups.
pub(crate) async fn chat_names(api: &Api, chat: ChatId) -> Option<(String, Option<String>)> {
    let known = api.call(GetChat(json!({"chat_id": chat}))).await.ok()?;
    let text = |key: &str| known.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("title").or(text("first_name"))?;
    let last = text("last_name").map(|last| format!(" {last}")).unwrap_or_default();
    Some((format!("{name}{last}"), text("username").map(str::to_owned)))
}
