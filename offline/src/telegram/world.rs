//! People, chats, members, topics and messages of the offline Telegram, as the Bot API shows them. Held by `state`; changed
//! by the methods and by people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

/// Person, or the bot itself, as a Telegram user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// User id, also the id of the private chat with the bot.
    pub id: i64,
    /// `first_name`, as the app shows it.
    pub(crate) first_name: String,
    /// Username, without `@`; `None` if the person has none.
    pub(crate) username: Option<String>,
    /// `language_code`, the IETF tag of the app's language; `None` if the app does not send it.
    pub(crate) language_code: Option<String>,
    pub(super) is_bot: bool,
}

impl Person {
    /// Creates a person without username, whose app is in English.
    #[must_use]
    pub fn new(id: i64, first_name: &str) -> Self {
        let language_code = Some("en".to_owned());
        Self { id, first_name: first_name.to_owned(), username: None, language_code, is_bot: false }
    }

    /// Sets the username, given without `@`.
    #[must_use]
    pub fn username(self, username: &str) -> Self {
        Self { username: Some(username.to_owned()), ..self }
    }

    /// Sets the language of the app, as an IETF tag.
    #[must_use]
    pub fn language(self, code: &str) -> Self {
        Self { language_code: Some(code.to_owned()), ..self }
    }

    /// Returns the Bot API's `User` object.
    #[must_use]
    pub(crate) fn json(&self) -> Value {
        let mut user = json!({"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name});
        if let Some(username) = &self.username {
            user["username"] = json!(username);
        }
        if let Some(code) = &self.language_code {
            user["language_code"] = json!(code);
        }
        user
    }
}

/// Information about the demo for its page, set at the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemoInfo {
    /// Notice of the model that answers, and of the data that leaves the machine.
    pub notice: String,
    /// Parts that work as with the real Telegram.
    pub real: String,
    /// Parts that are simulated in the demo.
    pub stand_in: String,
}

/// Type of a chat, the `type` of the Bot API's `Chat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChatType {
    /// Private chat of one person with the bot.
    Private,
    /// Basic group, which can be upgraded to a supergroup.
    Group,
    /// Supergroup, with topics if it is a forum.
    Supergroup,
    /// Channel, in which only administrators may post.
    Channel,
}

impl ChatType {
    /// Returns the value of the Bot API's `Chat.type`.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Supergroup => "supergroup",
            Self::Channel => "channel",
        }
    }
}

/// Status of a person or bot in a chat, the `status` of the Bot API's `ChatMember`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberStatus {
    /// Creator of the chat, with all rights.
    Owner,
    /// Administrator of the chat, with the usual rights.
    Admin,
    /// Ordinary member of the chat, without administrator rights.
    Member,
    /// Not a member, or no longer one.
    Left,
    /// Removed from the chat; in a private chat, blocked by the person.
    Kicked,
}

impl MemberStatus {
    /// Returns `true` for the owner, administrators and members.
    pub(super) fn is_in(self) -> bool {
        matches!(self, Self::Owner | Self::Admin | Self::Member)
    }

    pub(super) fn is_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    /// Returns the Bot API's `ChatMember` object.
    pub(super) fn json(self, user: &Value) -> Value {
        match self {
            Self::Owner => json!({"status": "creator", "user": user, "is_anonymous": false}),
            Self::Member => json!({"status": "member", "user": user}),
            Self::Left => json!({"status": "left", "user": user}),
            Self::Kicked => json!({"status": "kicked", "user": user, "until_date": 0}),
            Self::Admin => json!({
                "status": "administrator", "user": user, "can_be_edited": false, "is_anonymous": false,
                "can_manage_chat": true, "can_delete_messages": true, "can_manage_video_chats": true,
                "can_restrict_members": true, "can_promote_members": false, "can_change_info": true,
                "can_invite_users": true, "can_post_stories": false, "can_edit_stories": false,
                "can_delete_stories": false, "can_pin_messages": true, "can_manage_topics": true,
                "can_send_welcome_messages": false,
            }),
        }
    }
}

/// Draft of the bot, shown until the message is sent.
#[derive(Debug, Clone)]
pub struct MessageDraft {
    /// `draft_id` of the Bot API, unique within the chat.
    pub id: i64,
    /// `message_thread_id` of the draft's topic; `None` outside of topics.
    pub(crate) thread: Option<i64>,
    /// Text so far. An empty text is shown as thinking.
    pub text: String,
    /// Formatting of the text, as `MessageEntity` objects.
    pub(crate) entities: Vec<Value>,
    /// `RichMessage` object instead of a text.
    pub rich: Option<Value>,
    /// `true` if the draft has a stop button.
    pub can_stop: bool,
    /// `true` if the draft stays after a press of stop, until the bot ends it or it expires.
    pub(super) keep_on_stop: bool,
    /// Time of expiry, unless the draft is changed before.
    pub(super) expires: Instant,
}

/// Chat with its members and content.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    pub(super) kind: ChatType,
    pub(super) title: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) username: Option<String>,
    pub(super) is_forum: bool,
    /// Names of the topics, by thread id.
    pub(super) topics: BTreeMap<i64, String>,
    pub(super) members: BTreeMap<i64, MemberStatus>,
    /// Muted people, with the end in Unix time; 0 means permanent.
    #[serde(default)]
    pub(super) muted: BTreeMap<i64, i64>,
    /// Messages as the Bot API shows them, by `message_id`.
    pub(super) messages: BTreeMap<i64, Value>,
    /// Reactions of the bot, by `message_id`.
    pub(super) reactions: BTreeMap<i64, Vec<Value>>,
    /// Reactions of people as emoji, by `message_id` and user id.
    #[serde(default)]
    pub(super) reactions_of_people: BTreeMap<i64, BTreeMap<i64, String>>,
    /// Votes in polls as option indexes, by `message_id` and user id.
    #[serde(default)]
    pub(super) votes: BTreeMap<i64, BTreeMap<i64, Vec<usize>>>,
    /// Drafts by id. Not saved, as a restarted bot writes them again.
    #[serde(skip)]
    pub(super) drafts: BTreeMap<i64, MessageDraft>,
    /// Pinned messages by `message_id`, in the order they were pinned.
    #[serde(default)]
    pub(super) pins: Vec<i64>,
    /// Supergroup that replaced this basic group.
    pub(super) migrated_to: Option<i64>,
    last_message: i64,
}

impl Chat {
    pub(super) fn new(id: i64, kind: ChatType, title: &str) -> Self {
        Self {
            id,
            kind,
            title: title.to_owned(),
            description: String::new(),
            username: None,
            is_forum: false,
            topics: BTreeMap::new(),
            members: BTreeMap::new(),
            muted: BTreeMap::new(),
            messages: BTreeMap::new(),
            reactions: BTreeMap::new(),
            reactions_of_people: BTreeMap::new(),
            votes: BTreeMap::new(),
            drafts: BTreeMap::new(),
            pins: Vec::new(),
            migrated_to: None,
            last_message: 0,
        }
    }

    /// Returns the Bot API's `Chat` object.
    pub(super) fn json(&self) -> Value {
        let mut chat = json!({"id": self.id, "type": self.kind.name()});
        let name = if self.kind == ChatType::Private { "first_name" } else { "title" };
        chat[name] = json!(self.title);
        if let Some(username) = &self.username {
            chat["username"] = json!(username);
        }
        if self.is_forum {
            chat["is_forum"] = json!(true);
        }
        chat
    }

    pub(super) fn is_group(&self) -> bool {
        matches!(self.kind, ChatType::Group | ChatType::Supergroup)
    }

    /// Returns `true` for forums and private chats, where a bot can have topics.
    pub(super) fn has_topics(&self) -> bool {
        self.is_forum || self.kind == ChatType::Private
    }

    pub(super) fn standing(&self, user: i64) -> MemberStatus {
        self.members.get(&user).copied().unwrap_or(MemberStatus::Left)
    }

    /// Returns an id above all earlier ones. Ids of deleted messages are not reused.
    pub(super) fn next_message_id(&mut self) -> i64 {
        self.last_message += 1;
        self.last_message
    }

    /// Skips `count` ids, and all ids up to `at_least`.
    pub(super) fn skip_ids(&mut self, count: i64, at_least: i64) {
        self.last_message = at_least.max(self.last_message + count);
    }

    /// Opens a topic. Returns its service message, whose id is the thread id. Does not store the message.
    pub(super) fn topic_created(&mut self, name: &str, from: &Value, now: i64) -> Value {
        let id = self.next_message_id();
        self.topics.insert(id, name.to_owned());
        json!({
            "message_id": id, "message_thread_id": id, "is_topic_message": true, "from": from, "chat": self.json(),
            "date": now, "forum_topic_created": {"name": name, "icon_color": 7_322_096},
        })
    }

    /// Returns the message as embedded in a reply: without the message it replied to itself.
    pub(super) fn as_replied_to(&self, message_id: i64) -> Option<Value> {
        let mut message = self.messages.get(&message_id)?.clone();
        let fields = message.as_object_mut()?;
        fields.shift_remove("reply_to_message");
        fields.shift_remove("reply_markup");
        Some(message)
    }
}

/// Returns the buttons of an inline keyboard, row by row.
pub(super) fn inline_buttons(markup: Option<&Value>) -> impl Iterator<Item = &Value> {
    let rows = markup.and_then(|markup| markup["inline_keyboard"].as_array());
    rows.into_iter().flatten().filter_map(Value::as_array).flatten()
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) bot: Person,
    /// `true` if privacy mode is off.
    pub(super) reads_all: bool,
    pub(super) people: BTreeMap<i64, Person>,
    pub(super) chats: BTreeMap<i64, Chat>,
}

impl World {
    pub(super) fn new(bot: Person, reads_all: bool) -> Self {
        let people = BTreeMap::from([(bot.id, bot.clone())]);
        Self { bot, reads_all, people, chats: BTreeMap::new() }
    }

    /// Returns the chat for a `chat_id`: a number, a number as text, or `@username`.
    pub(super) fn find(&self, chat_id: &Value) -> Option<i64> {
        let id = match chat_id {
            Value::String(name) => match name.strip_prefix('@') {
                Some(name) => {
                    let named = |c: &&Chat| {
                        c.username.as_deref().is_some_and(|u| u.eq_ignore_ascii_case(name))
                            && c.kind != ChatType::Private
                    };
                    return self.chats.values().find(named).map(|c| c.id);
                }
                None => name.parse().ok()?,
            },
            number => number.as_i64()?,
        };
        self.chats.contains_key(&id).then_some(id)
    }

    /// Returns `true` for the private chat of a person with the bot.
    pub(super) fn is_private(&self, chat: i64) -> bool {
        self.chats.get(&chat).is_some_and(|chat| chat.kind == ChatType::Private)
    }

    /// Returns the fields that place a message in a thread.
    pub(super) fn placed(&self, chat: i64, thread: Option<i64>) -> Map<String, Value> {
        let mut fields = Map::new();
        if let (Some(thread), Some(chat)) = (thread, self.chats.get(&chat)) {
            fields.insert("message_thread_id".to_owned(), json!(thread));
            if chat.topics.contains_key(&thread) {
                fields.insert("is_topic_message".to_owned(), json!(true));
            }
        }
        fields
    }
}
