//! The few fields of an update that Figaro uses, read so that nothing newer or odd in the rest can make it fail.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// Reads a field, or leaves it out when it is not what it was.
fn lenient<'de, D: Deserializer<'de>, T: Default + for<'a> Deserialize<'a>>(from: D) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// An update.
#[derive(Debug, Clone, Deserialize)]
pub struct UpdateView {
    pub update_id: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub edited_message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub callback_query: Option<Box<CallbackView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub my_chat_member: Option<Box<MemberUpdateView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub stopped_message_generation: Option<StoppedView>,
}

/// A user.
#[derive(Debug, Clone, Deserialize)]
pub struct UserView {
    pub id: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub is_bot: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub first_name: String,
    #[serde(default, deserialize_with = "lenient")]
    pub last_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub username: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub language_code: Option<String>,
}

/// A chat.
#[derive(Debug, Clone, Deserialize)]
pub struct ChatView {
    pub id: i64,
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    pub kind: String,
    #[serde(default, deserialize_with = "lenient")]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub username: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub first_name: Option<String>,
}

/// A part of a text with a meaning; offset and length in UTF-16 units.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct EntityView {
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    pub kind: String,
    #[serde(default, deserialize_with = "lenient")]
    pub offset: usize,
    #[serde(default, deserialize_with = "lenient")]
    pub length: usize,
    #[serde(default, deserialize_with = "lenient")]
    pub user: Option<UserView>,
    /// Of a mention in a rich message: who is meant, without `@`.
    #[serde(default, deserialize_with = "lenient")]
    pub username: Option<String>,
}

/// The part of a message that a reply quotes.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct QuoteView {
    #[serde(default, deserialize_with = "lenient")]
    pub text: String,
}

/// Where a forwarded message came from.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct OriginView {
    #[serde(default, deserialize_with = "lenient")]
    pub sender_user: Option<UserView>,
    #[serde(default, deserialize_with = "lenient")]
    pub sender_user_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub sender_chat: Option<ChatView>,
    #[serde(default, deserialize_with = "lenient")]
    pub chat: Option<ChatView>,
}

/// A replied-to message of another chat.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ExternalReplyView {
    #[serde(default, deserialize_with = "lenient")]
    pub origin: OriginView,
    /// All other fields.
    #[serde(flatten)]
    pub content: Map<String, Value>,
}

/// A topic as a note of Telegram's own tells of it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct TopicView {
    #[serde(default, deserialize_with = "lenient")]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub is_name_implicit: bool,
}

/// A message.
#[derive(Debug, Clone, Deserialize)]
pub struct MessageView {
    /// 0 where it is no number: the words are worth an answer all the same.
    #[serde(default, deserialize_with = "lenient")]
    pub message_id: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub message_thread_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub is_topic_message: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub is_automatic_forward: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub from: Option<UserView>,
    #[serde(default, deserialize_with = "lenient")]
    pub sender_chat: Option<ChatView>,
    #[serde(default, deserialize_with = "lenient")]
    pub via_bot: Option<UserView>,
    pub chat: ChatView,
    #[serde(default, deserialize_with = "lenient")]
    pub date: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub text: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub entities: Vec<EntityView>,
    #[serde(default, deserialize_with = "lenient")]
    pub caption: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub caption_entities: Vec<EntityView>,
    #[serde(default, deserialize_with = "lenient")]
    pub reply_to_message: Option<Box<Self>>,
    #[serde(default, deserialize_with = "lenient")]
    pub external_reply: Option<ExternalReplyView>,
    #[serde(default, deserialize_with = "lenient")]
    pub quote: Option<QuoteView>,
    #[serde(default, deserialize_with = "lenient")]
    pub media_group_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub forward_origin: Option<OriginView>,
    #[serde(default, deserialize_with = "lenient")]
    pub migrate_to_chat_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub migrate_from_chat_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub reply_markup: KeyboardView,
    /// All other fields.
    #[serde(flatten)]
    pub content: Map<String, Value>,
}

impl MessageView {
    /// One of the other fields; the default where it is not there, or not what it was.
    pub fn part<T: Default + DeserializeOwned>(&self, name: &str) -> T {
        let value = self.content.get(name).cloned();
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }
}

/// The buttons under a message of the bot's.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct KeyboardView {
    #[serde(default, deserialize_with = "lenient")]
    pub inline_keyboard: Vec<Vec<KeyView>>,
}

impl KeyboardView {
    /// The keyboard with these labels in the place of its own, as Telegram takes it; buttons without a label are left out.
    pub fn with_labels<'a>(&'a self, label: impl Fn(&'a KeyView) -> Option<&'a str>) -> Value {
        let button = |key: &'a KeyView| {
            let text = label(key)?;
            Some(match &key.url {
                Some(url) => json!({"text": text, "url": url}),
                None => json!({"text": text, "callback_data": key.callback_data}),
            })
        };
        let row = |row: &'a Vec<KeyView>| row.iter().filter_map(button).collect::<Vec<_>>();
        let rows: Vec<_> = self.inline_keyboard.iter().map(row).filter(|row| !row.is_empty()).collect();
        json!({"inline_keyboard": rows})
    }
}

/// A button under a message.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct KeyView {
    #[serde(default, deserialize_with = "lenient")]
    pub text: String,
    #[serde(default, deserialize_with = "lenient")]
    pub callback_data: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub url: Option<String>,
}

/// A callback query: a button of an inline keyboard was pressed.
#[derive(Debug, Clone, Deserialize)]
pub struct CallbackView {
    pub id: String,
    pub from: UserView,
    #[serde(default, deserialize_with = "lenient")]
    pub message: Option<MessageView>,
    #[serde(default, deserialize_with = "lenient")]
    pub data: Option<String>,
}

/// A change of the bot's own membership.
#[derive(Debug, Clone, Deserialize)]
pub struct MemberUpdateView {
    pub chat: ChatView,
    pub from: UserView,
    #[serde(default, deserialize_with = "lenient")]
    pub old_chat_member: MemberView,
    #[serde(default, deserialize_with = "lenient")]
    pub new_chat_member: MemberView,
}

/// The membership of a user in a chat.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct MemberView {
    #[serde(default, deserialize_with = "lenient")]
    pub status: String,
}

/// Somebody pressed the stop button of a draft.
#[derive(Debug, Clone, Deserialize)]
pub struct StoppedView {
    pub chat: ChatView,
    #[serde(default, deserialize_with = "lenient")]
    pub message_thread_id: Option<i64>,
}
