//! Accounts of people that the bot is connected to, and their chats with customers, in which the bot writes in their name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::error::BotApiError;

/// Connections of the bot to accounts, by their id. Not kept over a restart.
#[derive(Debug, Default)]
pub(super) struct BusinessWorld {
    pub(super) connections: BTreeMap<String, BusinessLink>,
    /// `true` if Business Mode is off: nobody can connect an account.
    pub(super) is_off: bool,
    last_message: i64,
}

/// Connection to the account of a person.
#[derive(Debug)]
pub(super) struct BusinessLink {
    /// `User` object of the person.
    pub(super) user: Value,
    pub(super) is_enabled: bool,
    /// Names of the rights that the person gave.
    pub(super) rights: BTreeSet<String>,
    /// Messages by the id of the customer's chat, oldest first.
    pub(super) messages: BTreeMap<i64, Vec<Value>>,
    /// Messages that the bot marked as read: chat and message.
    pub(super) read: Vec<(i64, i64)>,
}

impl BusinessLink {
    /// Returns it as `BusinessConnection` of the Bot API.
    pub(super) fn json(&self, id: &str) -> Value {
        let rights: Map<String, Value> =
            self.rights.iter().map(|right| (right.clone(), json!(true))).collect();
        json!({
            "id": id, "user": self.user, "user_chat_id": self.user["id"], "date": 0, "rights": rights,
            "is_enabled": self.is_enabled,
        })
    }
}

impl BusinessWorld {
    /// Returns the id of the next message.
    pub(super) const fn next_message(&mut self) -> i64 {
        self.last_message += 1;
        self.last_message
    }

    /// Returns an enabled connection with this right. Errors as Telegram does.
    pub(super) fn usable(&mut self, id: &str, right: &str) -> Result<&mut BusinessLink, BotApiError> {
        let link = self.connections.get_mut(id).filter(|link| link.is_enabled);
        let link = link.ok_or_else(|| BotApiError::bad("business connection not found"))?;
        match link.rights.contains(right) {
            true => Ok(link),
            false => Err(BotApiError::forbidden("not enough rights in the business account")),
        }
    }

    /// Adds a message of the bot in the name of the person to a chat in which a customer wrote.
    pub(super) fn send(
        &mut self,
        connection: &str,
        chat: i64,
        mut message: Map<String, Value>,
    ) -> Result<Value, BotApiError> {
        let id = self.next_message();
        let link = self.usable(connection, "can_reply")?;
        let from = link.user.clone();
        let Some(messages) = link.messages.get_mut(&chat) else {
            return Err(BotApiError::bad("BUSINESS_PEER_INVALID"));
        };
        let place = messages.first().map(|first| first["chat"].clone()).unwrap_or_default();
        let envelope = json!({
            "message_id": id, "from": from, "chat": place, "business_connection_id": connection,
        });
        message.extend(envelope.as_object().cloned().unwrap_or_default());
        let message = Value::Object(message);
        messages.push(message.clone());
        Ok(message)
    }
}
