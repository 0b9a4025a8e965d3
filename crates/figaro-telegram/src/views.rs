//! Fields of updates that Figaro uses, read leniently: newer or unexpected data elsewhere cannot make it fail.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// Reads a field; an unexpected value gives the default.
fn lenient<'de, D: Deserializer<'de>, T: Default + for<'a> Deserialize<'a>>(from: D) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct UpdateView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) edited_message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) callback_query: Option<Box<CallbackView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) my_chat_member: Option<Box<MemberUpdateView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) stopped_message_generation: Option<StoppedView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message_reaction: Option<Box<ReactionView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) inline_query: Option<InlineQueryView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) chosen_inline_result: Option<Box<ChosenResultView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) guest_message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) business_connection: Option<Box<ConnectionView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) business_message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) edited_business_message: Option<Box<MessageView>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) deleted_business_messages: Option<Box<DeletedView>>,
}

/// Connection of the bot to the account of a person.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ConnectionView {
    pub(crate) id: String,
    pub(crate) user: UserView,
    /// Private chat of the person with the bot.
    pub(crate) user_chat_id: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) is_enabled: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) rights: RightsView,
}

/// Rights of the bot in the account.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct RightsView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) can_reply: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) can_read_messages: bool,
}

/// Messages that were deleted in a chat of a connected account.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DeletedView {
    pub(crate) business_connection_id: String,
    pub(crate) chat: ChatView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message_ids: Vec<i64>,
}

/// Text that a person types after the bot's name, in any chat.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct InlineQueryView {
    pub(crate) id: String,
    pub(crate) from: UserView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) query: String,
}

/// Result of an inline query that a person sent.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChosenResultView {
    pub(crate) from: UserView,
    /// `None` if the message has no keyboard.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) inline_message_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) query: String,
}

/// A person's change of reactions to a message.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ReactionView {
    pub(crate) chat: ChatView,
    pub(crate) message_id: i64,
    /// `None` if an anonymous admin or a channel reacted.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) user: Option<UserView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) old_reaction: Vec<EmojiView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) new_reaction: Vec<EmojiView>,
}

/// One reaction.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EmojiView {
    /// `None` for a custom emoji and for a paid reaction.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) emoji: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct UserView {
    pub(crate) id: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) is_bot: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) first_name: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) last_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) username: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) language_code: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChatView {
    pub(crate) id: i64,
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    pub(crate) kind: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) username: Option<String>,
    /// Names of the other person in a private chat.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) first_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) last_name: Option<String>,
}

/// Entity of a text; offset and length in UTF-16 units.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct EntityView {
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    pub(crate) kind: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) offset: usize,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) length: usize,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) user: Option<UserView>,
    /// Username without `@`, for a mention in a rich message.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) username: Option<String>,
}

/// Part of a message that a reply quotes.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct QuoteView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) text: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct OriginView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) sender_user: Option<UserView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) sender_user_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) sender_chat: Option<ChatView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) chat: Option<ChatView>,
}

/// Message in another chat that is replied to.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ExternalReplyView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) origin: OriginView,
    #[serde(flatten)]
    pub(crate) content: Map<String, Value>,
}

/// Topic in a service message of Telegram.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct TopicView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) is_name_implicit: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MessageView {
    /// Id of the message; 0 if it is not a number, because the text can still be answered.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message_id: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message_thread_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) is_topic_message: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) is_automatic_forward: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) from: Option<UserView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) sender_chat: Option<ChatView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) via_bot: Option<UserView>,
    pub(crate) chat: ChatView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) date: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) text: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) entities: Vec<EntityView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) caption: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) caption_entities: Vec<EntityView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) reply_to_message: Option<Box<Self>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) external_reply: Option<ExternalReplyView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) quote: Option<QuoteView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) media_group_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) forward_origin: Option<OriginView>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) migrate_to_chat_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) migrate_from_chat_id: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) reply_markup: KeyboardView,
    #[serde(flatten)]
    pub(crate) content: Map<String, Value>,
}

impl MessageView {
    /// Reads another field; the default if it is missing or has an unexpected value.
    pub(crate) fn part<T: Default + DeserializeOwned>(&self, name: &str) -> T {
        let value = self.content.get(name).cloned();
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }
}

/// Buttons under a message of the bot.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct KeyboardView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) inline_keyboard: Vec<Vec<KeyView>>,
}

impl KeyboardView {
    /// Returns the keyboard with new labels, in Telegram's JSON; buttons without a label are removed.
    pub(crate) fn with_labels<'a>(&'a self, label: impl Fn(&'a KeyView) -> Option<&'a str>) -> Value {
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

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct KeyView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) text: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) callback_data: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) url: Option<String>,
}

/// Callback query: a press on a button of an inline keyboard.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallbackView {
    pub(crate) id: String,
    pub(crate) from: UserView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message: Option<MessageView>,
    /// Message with the button in a chat that the bot is no member of.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) inline_message_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) data: Option<String>,
}

/// Change of the bot's own membership in a chat.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MemberUpdateView {
    pub(crate) chat: ChatView,
    pub(crate) from: UserView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) old_chat_member: MemberView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) new_chat_member: MemberView,
}

/// Membership of a user in a chat.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct MemberView {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) status: String,
}

/// Press on the stop button of a draft.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StoppedView {
    pub(crate) chat: ChatView,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message_thread_id: Option<i64>,
}
