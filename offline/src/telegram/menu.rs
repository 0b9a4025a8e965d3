//! Menu buttons of the bot in private chats. Held by `state`; set by the bot, shown on the page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Menu buttons that the bot has set, as `MenuButton` objects.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BotMenu {
    /// Button of all private chats without one of their own.
    usual: Value,
    /// Buttons of single chats, by user id.
    own: BTreeMap<i64, Value>,
}

impl Default for BotMenu {
    /// As Telegram starts a bot: the button lists the commands.
    fn default() -> Self {
        Self { usual: json!({"type": "commands"}), own: BTreeMap::new() }
    }
}

impl BotMenu {
    /// Sets the button of a chat, or that of all others. The type `default` removes that of a chat. For all others it changes
    /// nothing: <https://core.telegram.org/api/bots/menu>.
    pub(super) fn set(&mut self, chat: Option<i64>, button: Value) {
        let is_removed = button["type"] == "default";
        match chat {
            Some(chat) if is_removed => drop(self.own.remove(&chat)),
            Some(chat) => drop(self.own.insert(chat, button)),
            None if is_removed => {}
            None => self.usual = button,
        }
    }

    /// Returns the button that was set for a chat, or that of all others. A chat without one has the type `default`.
    pub(super) fn get(&self, chat: Option<i64>) -> Value {
        match chat {
            Some(chat) => self.own.get(&chat).cloned().unwrap_or_else(|| json!({"type": "default"})),
            None => self.usual.clone(),
        }
    }

    /// Returns the button that clients show in a private chat.
    pub(super) fn shown(&self, chat: i64) -> &Value {
        self.own.get(&chat).unwrap_or(&self.usual)
    }
}
