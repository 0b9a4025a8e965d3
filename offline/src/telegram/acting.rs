//! Acting as a person at a running offline Telegram: saying, pressing, stopping a draft, adding the bot. Used by tests and
//! the demo.

use super::OfflineTelegram;
use super::people;
use super::possible::Possible;
use super::say::{Say, SentByPerson};
use super::world::MemberStatus;

impl OfflineTelegram {
    /// A person sends a text. Mentions, commands and links in it are found as Telegram finds them.
    ///
    /// # Errors
    /// The person or the chat is unknown, or the person is not in the chat.
    pub fn say(&self, from: i64, chat: i64, text: &str) -> Possible<SentByPerson> {
        self.send(Say::new(from, chat, text))
    }

    /// A person sends a message of any shape.
    ///
    /// # Errors
    /// The person, chat, topic or message replied to is unknown, or the person is not in the chat.
    pub fn send(&self, say: Say) -> Possible<SentByPerson> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| people::send(state, say, now))
    }

    /// A person presses the button with this callback data. Gives the callback query id.
    ///
    /// # Errors
    /// The person is unknown or the message has no such button.
    pub fn press(&self, from: i64, chat: i64, message_id: i64, data: &str) -> Possible<String> {
        self.shared.change(|state| people::press(state, from, chat, message_id, data))
    }

    /// The person of a private chat presses the stop button of a draft. Gives the update id; `None` if the bot did not ask
    /// for such updates.
    ///
    /// # Errors
    /// There is no such draft that can be stopped.
    pub fn stop_draft(&self, chat: i64, draft_id: i64) -> Possible<Option<i64>> {
        self.shared.change(|state| people::stop_draft(state, chat, draft_id))
    }

    /// Somebody adds the bot to a group, or unblocks it in a private chat.
    ///
    /// # Errors
    /// The chat or the person is unknown.
    pub fn bot_joined(&self, chat: i64, by: i64) -> Possible<()> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| people::bot_becomes(state, chat, by, MemberStatus::Member, now))
    }
}
