//! Who and what exists at the offline Telegram: people, chats, members, topics, messages, as the Bot API shows them.
//! Held by `state`; changed by the methods and by people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

/// A person, or the bot itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The user id, which is also the id of the private chat with the bot.
    pub id: i64,
    /// `first_name`, as the app shows it.
    pub(crate) first_name: String,
    /// The name after `@`, without it; `None` for people who have none.
    pub(crate) username: Option<String>,
    /// `language_code`, the IETF tag of the app's language; `None` if the app does not say it.
    pub(crate) language_code: Option<String>,
    pub(super) is_bot: bool,
}

impl Person {
    /// A person without username whose app speaks English.
    #[must_use]
    pub fn new(id: i64, first_name: &str) -> Self {
        let language_code = Some("en".to_owned());
        Self { id, first_name: first_name.to_owned(), username: None, language_code, is_bot: false }
    }

    /// The same person with this username, without its `@`.
    #[must_use]
    pub fn username(self, username: &str) -> Self {
        Self { username: Some(username.to_owned()), ..self }
    }

    /// The same person whose app speaks another language, by its IETF tag.
    #[must_use]
    pub fn language(self, code: &str) -> Self {
        Self { language_code: Some(code.to_owned()), ..self }
    }

    /// The Bot API's `User`.
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

/// What the demo page says of the demo, as it was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemoInfo {
    /// Which model answers, and what leaves the machine.
    pub notice: String,
    /// What is as it would be at the real Telegram.
    pub real: String,
    /// What stands in for something else.
    pub stand_in: String,
}

/// The `type` of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChatType {
    /// With one person.
    Private,
    /// A basic group.
    Group,
    /// A supergroup, perhaps with topics.
    Supergroup,
    /// A channel.
    Channel,
}

impl ChatType {
    /// The word of the Bot API, as in `Chat.type`.
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

/// What a person or a bot is in a chat: `status` of the Bot API's `ChatMember`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberStatus {
    /// Its creator, who may do everything.
    Owner,
    /// An administrator with the usual rights.
    Admin,
    /// An ordinary member, without an administrator's rights.
    Member,
    /// Not in it, or not any more.
    Left,
    /// Thrown out; for a private chat: the bot was blocked.
    Kicked,
}

impl MemberStatus {
    /// Whether it is in the chat, and not blocked.
    pub(super) fn is_in(self) -> bool {
        matches!(self, Self::Owner | Self::Admin | Self::Member)
    }

    pub(super) fn is_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    /// The Bot API's `ChatMember`.
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

/// What the bot is writing, shown until the message comes.
#[derive(Debug, Clone)]
pub struct MessageDraft {
    /// `draft_id`.
    pub id: i64,
    /// `message_thread_id` of the topic it is shown in; `None` outside of topics.
    pub(crate) thread: Option<i64>,
    /// The text so far; empty shows as thinking.
    pub text: String,
    /// The formatting of the text, as `MessageEntity` objects.
    pub(crate) entities: Vec<Value>,
    /// The person is offered a stop button.
    pub can_stop: bool,
    /// Pressing stop leaves the draft in its place until the bot ends it or its time is over.
    pub(super) keep_on_stop: bool,
    /// When it goes away by itself.
    pub(super) expires: Instant,
}

/// One chat with everything in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    pub(super) kind: ChatType,
    pub(super) title: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) username: Option<String>,
    pub(super) is_forum: bool,
    /// The names of its topics by thread id.
    pub(super) topics: BTreeMap<i64, String>,
    pub(super) members: BTreeMap<i64, MemberStatus>,
    /// The people who may not write, and until when in Unix time; 0 for good.
    #[serde(default)]
    pub(super) muted: BTreeMap<i64, i64>,
    /// Messages as the Bot API shows them, by `message_id`.
    pub(super) messages: BTreeMap<i64, Value>,
    /// The bot's reactions, by `message_id`.
    pub(super) reactions: BTreeMap<i64, Vec<Value>>,
    /// The emoji that people react with, by `message_id` and user id.
    #[serde(default)]
    pub(super) reactions_of_people: BTreeMap<i64, BTreeMap<i64, String>>,
    /// The options that people chose in polls, by `message_id` and user id.
    #[serde(default)]
    pub(super) votes: BTreeMap<i64, BTreeMap<i64, Vec<usize>>>,
    /// A bot that starts again writes them anew.
    #[serde(skip)]
    pub(super) drafts: BTreeMap<i64, MessageDraft>,
    /// The pinned messages by `message_id`, the last pinned one last.
    #[serde(default)]
    pub(super) pins: Vec<i64>,
    /// The supergroup that a basic group has become.
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

    /// The Bot API's `Chat`.
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

    /// A forum, or a private chat: there a bot may have topics.
    pub(super) fn has_topics(&self) -> bool {
        self.is_forum || self.kind == ChatType::Private
    }

    pub(super) fn standing(&self, user: i64) -> MemberStatus {
        self.members.get(&user).copied().unwrap_or(MemberStatus::Left)
    }

    /// An id above all earlier ones; ids of deleted messages do not come back.
    pub(super) fn next_message_id(&mut self) -> i64 {
        self.last_message += 1;
        self.last_message
    }

    /// Leaves out this many ids, and all below a bound.
    pub(super) fn skip_ids(&mut self, count: i64, at_least: i64) {
        self.last_message = at_least.max(self.last_message + count);
    }

    /// Opens a topic: its id is that of the service message that tells of it, which is returned but not yet stored.
    pub(super) fn topic_created(&mut self, name: &str, from: &Value, now: i64) -> Value {
        let id = self.next_message_id();
        self.topics.insert(id, name.to_owned());
        json!({
            "message_id": id, "message_thread_id": id, "is_topic_message": true, "from": from, "chat": self.json(),
            "date": now, "forum_topic_created": {"name": name, "icon_color": 7_322_096},
        })
    }

    /// The message as it is quoted in a reply: without what it replied to itself.
    pub(super) fn as_replied_to(&self, message_id: i64) -> Option<Value> {
        let mut message = self.messages.get(&message_id)?.clone();
        let fields = message.as_object_mut()?;
        fields.shift_remove("reply_to_message");
        fields.shift_remove("reply_markup");
        Some(message)
    }
}

/// All people and chats.
#[derive(Debug)]
pub(super) struct World {
    pub(super) bot: Person,
    /// Privacy mode is off.
    pub(super) reads_all: bool,
    pub(super) people: BTreeMap<i64, Person>,
    pub(super) chats: BTreeMap<i64, Chat>,
}

impl World {
    pub(super) fn new(bot: Person, reads_all: bool) -> Self {
        let people = BTreeMap::from([(bot.id, bot.clone())]);
        Self { bot, reads_all, people, chats: BTreeMap::new() }
    }

    /// The chat a `chat_id` means: a number, a number as text, or `@username`.
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

    /// The fields that place a message in a thread.
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
