//! State of the offline Telegram, and the events for the demo page. The methods and people change it;
//! [`SharedTelegram`](super::shared::SharedTelegram) holds it behind a lock.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::Instant;

use super::business::BusinessWorld;
use super::call::ApiCall;
use super::inline::InlineWorld;
use super::menu::BotMenu;
#[cfg(feature = "testing")]
use super::planned::Testing;
use super::updates::PendingUpdates;
use super::world::{Chat, ChatType, MessageDraft, Person, World};

/// Number of events a slow page may lag behind before it must start over.
const EVENT_BACKLOG: usize = 1024;
/// Lifetime of a draft without changes.
const DRAFT_LIFE: Duration = Duration::from_secs(30);

/// Event for the demo page.
#[derive(Debug, Clone, PartialEq)]
pub struct WebEvent {
    /// Name of the server-sent event; the page's script listens for it.
    pub name: &'static str,
    /// Data of the event, sent as JSON.
    pub data: Value,
}

/// Button press, stored by its callback query id in [`TelegramState`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ButtonPress {
    /// Answer of the bot; `None` until then. Only one answer is possible.
    pub(super) answer: Option<Value>,
}

/// File of the bot or a person, stored by its `file_id` in [`TelegramState`].
#[derive(Debug, Clone)]
pub(super) struct StoredFile {
    /// `file_path`, below `/file/bot<token>/`.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

/// List of commands for a scope and a language.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CommandList {
    /// `BotCommandScope` object.
    pub(super) scope: Value,
    /// Language code; empty for all languages without their own list.
    pub(super) language: String,
    /// Array of `BotCommand` objects.
    pub(super) commands: Value,
}

#[derive(Debug)]
pub(super) struct TelegramState {
    pub(super) world: World,
    pub(super) updates: PendingUpdates,
    pub(super) presses: BTreeMap<String, ButtonPress>,
    pub(super) inline: InlineWorld,
    pub(super) business: BusinessWorld,
    pub(super) files: BTreeMap<String, StoredFile>,
    pub(super) commands: Vec<CommandList>,
    pub(super) menu: BotMenu,
    #[cfg(feature = "testing")]
    pub(super) testing: Testing,
    /// Person whose view the demo page shows.
    pub(super) demo_user: Option<i64>,
    pub(super) events: broadcast::Sender<WebEvent>,
    last_call: u64,
    /// Number in the last name returned by [`Self::fresh`].
    pub(super) last_name: u64,
}

impl TelegramState {
    pub(super) fn new(bot: Person, reads_all: bool) -> Self {
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        Self {
            world: World::new(bot, reads_all),
            updates: PendingUpdates::default(),
            presses: BTreeMap::new(),
            inline: InlineWorld::default(),
            business: BusinessWorld::default(),
            files: BTreeMap::new(),
            commands: Vec::new(),
            menu: BotMenu::default(),
            #[cfg(feature = "testing")]
            testing: Testing::default(),
            demo_user: None,
            events,
            last_call: 0,
            last_name: 0,
        }
    }

    /// Sends an event to the open demo pages, if any.
    pub(super) fn tell(&self, name: &'static str, data: Value) {
        // Without an open page there is no receiver, which is no error.
        drop(self.events.send(WebEvent { name, data }));
    }

    /// Returns the number of the next call, from 1.
    pub(super) fn next_call(&mut self) -> u64 {
        self.last_call += 1;
        self.last_call
    }

    /// Returns a new unique name, for a file, button press or poll.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.last_name += 1;
        format!("{prefix}{}", self.last_name)
    }

    /// Sends an answered call to the demo pages, and stores it for tests. A successful `getUpdates` is not sent.
    pub(super) fn record(&mut self, call: ApiCall) {
        let idle = call.method == "getUpdates" && call.ok;
        if !idle {
            let mut data = json!({
                "n": call.n, "method": call.method, "args": call.args, "ok": call.ok,
                "ms": u64::try_from(call.took.as_millis()).unwrap_or(u64::MAX), "at": call.at.to_rfc3339(),
            });
            if let Some(error) = &call.error {
                data["error"] = json!(error);
            }
            self.tell("call", data);
        }
        #[cfg(feature = "testing")]
        self.testing.remember(call);
    }

    /// Stores a new or changed message in its chat, and sends it to the demo pages.
    pub(super) fn store(&mut self, chat: i64, message: &Value) {
        let Some(id) = message["message_id"].as_i64() else {
            return;
        };
        if let Some(chat) = self.world.chats.get_mut(&chat) {
            chat.messages.insert(id, message.clone());
            self.tell("message", message.clone());
        }
    }

    /// Removes a message and its reactions. Does nothing if there is no such chat.
    pub(super) fn remove(&mut self, chat_id: i64, id: i64) {
        if let Some(chat) = self.world.chats.get_mut(&chat_id) {
            chat.messages.remove(&id);
            chat.reactions.remove(&id);
            chat.reactions_of_people.remove(&id);
            chat.votes.remove(&id);
            self.tell("deleted", json!({"chat_id": chat_id, "message_id": id}));
        }
    }

    /// Sends the current reactions to a message to the demo pages.
    pub(super) fn tell_reactions(&self, chat: i64, message_id: i64) {
        if let Some(chat) = self.world.chats.get(&chat) {
            self.tell("reaction", reaction_event(chat, message_id, self.world.bot.id));
        }
    }

    /// Sends the votes in a poll to the demo pages.
    pub(super) fn tell_votes(&self, chat: i64, message_id: i64) {
        if let Some(chat) = self.world.chats.get(&chat) {
            self.tell("votes", vote_event(chat, message_id));
        }
    }

    /// Stores bytes as a file. Returns its `file_id`.
    pub(super) fn keep_file(&mut self, name: &str, bytes: Vec<u8>) -> String {
        let id = self.fresh("file-");
        let path = format!("files/{id}/{name}");
        self.files.insert(id.clone(), StoredFile { path, bytes });
        id
    }

    /// Shows a draft, or changes the one with the same id.
    pub(super) fn draft(&mut self, chat: i64, mut draft: MessageDraft) {
        draft.expires = Instant::now() + DRAFT_LIFE;
        let mut data = json!({
            "chat_id": chat, "draft_id": draft.id, "text": draft.text, "entities": draft.entities,
            "can_stop": draft.can_stop,
        });
        if let Some(thread) = draft.thread {
            data["message_thread_id"] = json!(thread);
        }
        if let Some(rich) = &draft.rich {
            data["rich_message"] = rich.clone();
        }
        if let Some(chat) = self.world.chats.get_mut(&chat) {
            chat.drafts.insert(draft.id, draft);
            self.tell("draft", data);
        }
    }

    /// Removes the drafts of a chat for which `gone` returns `true`.
    pub(super) fn end_drafts(&mut self, chat: i64, gone: impl Fn(&MessageDraft) -> bool) {
        let Some(drafts) = self.world.chats.get_mut(&chat).map(|c| &mut c.drafts) else {
            return;
        };
        let ids: Vec<i64> = drafts.values().filter(|d| gone(d)).map(|d| d.id).collect();
        for id in ids {
            drafts.remove(&id);
            // The map is borrowed during the loop, so the sender is used directly.
            let data = json!({"chat_id": chat, "draft_id": id});
            drop(self.events.send(WebEvent { name: "draft_gone", data }));
        }
    }

    /// Returns the commands for chats without a narrower scope. Prefers the list for private chats, if set.
    /// Returns all lists of commands, with the scope and the language of each.
    pub(super) fn command_lists(&self) -> Value {
        let list =
            |l: &CommandList| json!({"scope": l.scope, "language": l.language, "commands": l.commands});
        self.commands.iter().map(list).collect()
    }

    /// Returns the menu button of every private chat.
    pub(super) fn menu_buttons(&self) -> Value {
        let private = self.world.chats.values().filter(|chat| chat.kind == ChatType::Private);
        private.map(|chat| json!({"chat_id": chat.id, "button": self.menu.shown(chat.id)})).collect()
    }

    pub(super) fn expire_drafts(&mut self, now: Instant) {
        let chats: Vec<i64> = self.world.chats.keys().copied().collect();
        chats.into_iter().for_each(|chat| self.end_drafts(chat, |d| d.expires <= now));
    }

    /// Returns the time when the next draft expires.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.world.chats.values().flat_map(|c| c.drafts.values()).map(|d| d.expires).min()
    }
}

/// Returns the data of an event about the reactions to a message, with their senders.
pub(super) fn reaction_event(chat: &Chat, message_id: i64, bot: i64) -> Value {
    let of_bot = chat.reactions.get(&message_id).into_iter().flatten();
    let of_people = chat.reactions_of_people.get(&message_id).into_iter().flatten();
    let shown: Vec<Value> = of_bot
        .map(|reaction| json!({"emoji": reaction["emoji"], "from": bot}))
        .chain(of_people.map(|(user, emoji)| json!({"emoji": emoji, "from": user})))
        .collect();
    json!({"chat_id": chat.id, "message_id": message_id, "reactions": shown})
}

/// Returns the data of an event about the votes in a poll.
pub(super) fn vote_event(chat: &Chat, message_id: i64) -> Value {
    json!({"chat_id": chat.id, "message_id": message_id, "votes": chat.votes.get(&message_id)})
}
