//! More actions of people: edit and delete messages, remove the bot, upgrade a group.

use serde_json::json;

use super::super::OfflineTelegram;
use super::super::amend::{self, Act};
use super::super::people;
use super::super::possible::{Possible, chat_mut, no};
use super::super::say::SentByPerson;
use super::super::state::TelegramState;
use super::super::world::{Chat, ChatType, MemberStatus};

impl OfflineTelegram {
    /// Edits the text or caption of a person's own message.
    ///
    /// # Errors
    /// There is no such message of that person.
    pub fn edit(&self, from: i64, chat: i64, message_id: i64, text: &str) -> Possible<SentByPerson> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| amend::edit(state, Act { from, chat, message_id }, text, now))
    }

    /// Sets a person's only reaction to a message, or removes it. The bot gets an update in a private chat, and in a group
    /// where it is an administrator.
    ///
    /// # Errors
    /// There is no such message or reaction, or the person is not in the chat.
    pub fn react(&self, from: i64, chat: i64, message_id: i64, emoji: Option<&str>) -> Possible<()> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| amend::react(state, Act { from, chat, message_id }, emoji, now))
    }

    /// Deletes a message, without a check of rights. The bot gets no update.
    ///
    /// # Errors
    /// There is no such message.
    pub fn delete(&self, chat: i64, message_id: i64) -> Possible<()> {
        self.shared.change(|state| {
            if !chat_mut(state, chat)?.messages.contains_key(&message_id) {
                return no(format!("chat {chat} has no message {message_id}"));
            }
            state.remove(chat, message_id);
            Ok(())
        })
    }

    /// Removes the bot from a group, or blocks it in a private chat.
    ///
    /// # Errors
    /// The chat or the person is unknown.
    pub fn bot_removed(&self, chat: i64, by: i64) -> Possible<()> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| people::bot_becomes(state, chat, by, MemberStatus::Kicked, now))
    }

    /// Upgrades a group to a supergroup. The bot gets both service messages. Returns the new chat's id.
    ///
    /// # Errors
    /// There is no such basic group.
    pub fn migrate(&self, group: i64) -> Possible<i64> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| {
            let to = upgrade(state, group)?;
            for (chat, field, other) in
                [(group, "migrate_to_chat_id", to), (to, "migrate_from_chat_id", group)]
            {
                let place = chat_mut(state, chat)?;
                let id = place.next_message_id();
                let message = json!({"message_id": id, "chat": place.json(), "date": now, field: other});
                state.store(chat, &message);
                state.updates.push("message", &message);
            }
            Ok(to)
        })
    }

    /// Upgrades a group to a supergroup without service messages: the bot learns it from the error of its next call. Returns
    /// the new chat's id.
    ///
    /// # Errors
    /// There is no such basic group.
    pub fn require_migration(&self, group: i64) -> Possible<i64> {
        self.shared.change(|state| upgrade(state, group))
    }
}

fn upgrade(state: &mut TelegramState, group: i64) -> Possible<i64> {
    let old = chat_mut(state, group)?;
    if old.kind != ChatType::Group || old.migrated_to.is_some() {
        return no(format!("chat {group} is no basic group"));
    }
    let to = -1_000_000_000_000 + group;
    let mut new = Chat::new(to, ChatType::Supergroup, &old.title);
    new.members.clone_from(&old.members);
    old.migrated_to = Some(to);
    state.world.chats.insert(to, new);
    Ok(to)
}
