//! Building the world of the offline Telegram, before or while the bot runs.

use super::OfflineTelegram;
use super::possible::{Possible, chat_mut, known, no};
use super::world::{Chat, ChatType, MemberStatus, Person};

impl OfflineTelegram {
    /// Adds a person, or replaces the one with the same id.
    pub fn add_user(&self, person: Person) {
        self.shared.change(|state| state.world.people.insert(person.id, person));
    }

    /// Opens the private chat of a known person with the bot, if it is not open yet; its id is the person's.
    ///
    /// # Errors
    /// The person is unknown.
    pub fn add_private(&self, user: i64) -> Possible<i64> {
        self.shared.change(|state| {
            let person = known(state, user)?.clone();
            let mut chat = Chat::new(user, ChatType::Private, &person.first_name);
            chat.username.clone_from(&person.username);
            chat.members.extend([(user, MemberStatus::Member), (state.world.bot.id, MemberStatus::Member)]);
            state.world.chats.entry(user).or_insert(chat);
            Ok(user)
        })
    }

    /// Adds a group, supergroup or channel with the bot as a member (in a channel: an administrator).
    pub fn add_chat(&self, id: i64, kind: ChatType, title: &str) {
        self.shared.change(|state| {
            let mut chat = Chat::new(id, kind, title);
            let standing = if kind == ChatType::Channel { MemberStatus::Admin } else { MemberStatus::Member };
            chat.members.insert(state.world.bot.id, standing);
            state.world.chats.insert(id, chat);
        });
    }

    /// Adds a supergroup with the bot as a member.
    pub fn add_supergroup(&self, id: i64, title: &str) {
        self.add_chat(id, ChatType::Supergroup, title);
    }

    /// Adds a public channel with this username, without its `@`, and the bot as an administrator.
    pub fn add_channel(&self, id: i64, title: &str, username: &str) {
        self.add_chat(id, ChatType::Channel, title);
        self.make_public(id, username);
    }

    /// Makes a chat public, with this username without its `@`.
    pub fn make_public(&self, id: i64, username: &str) {
        self.shared.change(|state| {
            if let Some(chat) = state.world.chats.get_mut(&id) {
                chat.username = Some(username.to_owned());
            }
        });
    }

    /// Adds a supergroup with topics and the bot as a member.
    pub fn add_forum(&self, id: i64, title: &str) {
        self.add_supergroup(id, title);
        self.shared.change(|state| {
            if let Some(chat) = state.world.chats.get_mut(&id) {
                chat.is_forum = true;
            }
        });
    }

    /// Opens a topic of a forum or a private chat. Returns its thread id.
    ///
    /// # Errors
    /// There is no such chat.
    pub fn add_topic(&self, chat: i64, name: &str) -> Possible<i64> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| {
            let bot = state.world.bot.json();
            let Some(forum) = state.world.chats.get_mut(&chat).filter(|c| c.has_topics()) else {
                return no(format!("chat {chat} has no topics"));
            };
            let message = forum.topic_created(name, &bot, now);
            state.store(chat, &message);
            Ok(message["message_id"].as_i64().unwrap_or_default())
        })
    }

    /// Sets the status of a known person, or of the bot, in a chat. The bot gets no update.
    ///
    /// # Errors
    /// The chat or the person is unknown.
    pub fn set_member(&self, chat: i64, user: i64, standing: MemberStatus) -> Possible<()> {
        self.shared.change(|state| {
            known(state, user)?;
            chat_mut(state, chat)?.members.insert(user, standing);
            Ok(())
        })
    }

    /// Sets the person whose view the demo page shows.
    pub fn set_demo_user(&self, user: i64) {
        self.shared.change(|state| state.demo_user = Some(user));
    }
}
