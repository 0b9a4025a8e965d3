//! Actions of people on a running offline Telegram: send, press, stop a draft, add the bot. Used by tests and the demo.

use super::OfflineTelegram;
use super::people;
use super::possible::Possible;
use super::say::{Say, SentByPerson};
use super::world::MemberStatus;

impl OfflineTelegram {
    /// Sends a text as a person. Detects mentions, commands and links as Telegram does.
    ///
    /// # Errors
    /// The person or the chat is unknown, or the person is not in the chat.
    pub fn say(&self, from: i64, chat: i64, text: &str) -> Possible<SentByPerson> {
        self.send(Say::new(from, chat, text))
    }

    /// Sends a message of any kind as a person.
    ///
    /// # Errors
    /// The person, chat, topic or message replied to is unknown, or the person is not in the chat.
    pub fn send(&self, say: Say) -> Possible<SentByPerson> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| people::send(state, say, now))
    }

    /// Presses the button with this callback data as a person. Returns the callback query id.
    ///
    /// # Errors
    /// The person is unknown or the message has no such button.
    pub fn press(&self, from: i64, chat: i64, message_id: i64, data: &str) -> Possible<String> {
        self.shared.change(|state| people::press(state, from, chat, message_id, data))
    }

    /// Presses the stop button of a draft as the person of a private chat. Returns the update id; `None` if the bot did not
    /// ask for such updates.
    ///
    /// # Errors
    /// There is no such draft that can be stopped.
    pub fn stop_draft(&self, chat: i64, draft_id: i64) -> Possible<Option<i64>> {
        self.shared.change(|state| people::stop_draft(state, chat, draft_id))
    }

    /// Adds the bot to a group, or unblocks it in a private chat.
    ///
    /// # Errors
    /// The chat or the person is unknown.
    pub fn bot_joined(&self, chat: i64, by: i64) -> Possible<()> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| people::bot_becomes(state, chat, by, MemberStatus::Member, now))
    }
}
