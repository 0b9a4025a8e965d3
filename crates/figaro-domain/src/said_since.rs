//! Chooses the messages that a question asks about. They are chosen anew from the stored messages at each request, so that
//! an answer never shows what was erased.

use std::sync::Arc;

use super::catch_up::{CatchUp, SentAt};
use super::chat::Place;
use super::conversation::{Message, MessageRole};
use super::message::{Inbound, Speaker};
use super::origin::Origin;
use figaro_base::ids::{MessageId, UpdateId, UserId};

/// Distance between the ids of supergroups at the Bot API and those in links, which have no sign.
const SUPERGROUP_OFFSET: i64 = 1_000_000_000_000;

/// Returns the position of a message.
#[must_use]
pub fn position(message: &Inbound) -> SentAt {
    SentAt { at: message.sent_at, message: message.origin.message().unwrap_or(MessageId(0)) }
}

impl CatchUp {
    /// Returns the messages of the range, oldest first: those that were not addressed to the bot, and those of the
    /// conversation with it.
    #[must_use]
    pub fn of(&self, background: Vec<Inbound>, stored: &[Arc<Message>], place: &Place) -> Vec<Inbound> {
        let stored = stored.iter().filter_map(|message| shown(message, place));
        let mut said: Vec<Inbound> = background.into_iter().chain(stored).collect();
        said.retain(|message| self.after.is_none_or(|after| position(message) > after));
        said.sort_by_key(position);
        said.split_off(said.len().saturating_sub(self.newest))
    }
}

/// Id of the bot as a writer of messages in a range. No account has it.
const BOT: i64 = 0;

/// Returns `true` if a message of a range is the bot's own.
#[must_use]
pub fn is_own(message: &Inbound) -> bool {
    message.speaker.user.telegram_id() == Some(BOT)
}

/// Returns a message as it stands in the chat; `None` if it does not stand there.
fn shown(message: &Message, place: &Place) -> Option<Inbound> {
    let id = message.telegram.first().filter(|_| !message.replaced)?;
    let bot = Speaker { user: UserId::telegram(BOT), name: "you".to_owned(), username: None };
    let speaker = match message.role {
        MessageRole::User => message.speaker.clone()?,
        MessageRole::Assistant => bot,
        MessageRole::Tool | MessageRole::System => return None,
    };
    let origin = Origin::telegram(UpdateId(0), *id);
    Some(Inbound {
        attachments: message.attachments.clone(),
        forwarded_from: message.forwarded_from.clone(),
        ..Inbound::addressed(origin, place.clone(), speaker, message.text.clone(), message.created_at)
    })
}

impl Place {
    /// Returns the address to which a message id is appended for a link to the message; `None` in chats whose messages have
    /// none: private chats and basic groups.
    #[must_use]
    pub fn message_links(&self, username: Option<&str>) -> Option<String> {
        let number = -SUPERGROUP_OFFSET.checked_add(self.chat.0).filter(|rest| *rest < 0)?;
        let chat = username.map_or_else(|| format!("c/{number}"), str::to_owned);
        let topic = self.topic.map(|topic| format!("{}/", topic.0)).unwrap_or_default();
        Some(format!("https://t.me/{chat}/{topic}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ChatKind;
    use figaro_base::ids::{ChatId, TopicId};

    #[test]
    fn only_messages_of_supergroups_have_links() {
        let cases = [
            (-1_001_234_567_890, None, None, Some("https://t.me/c/1234567890/")),
            (-1_001_234_567_890, Some(7), None, Some("https://t.me/c/1234567890/7/")),
            (-1_001_234_567_890, None, Some("barbers"), Some("https://t.me/barbers/")),
            (-1_001_234_567_890, Some(7), Some("barbers"), Some("https://t.me/barbers/7/")),
            (-1_001, None, None, None),
            (11, None, Some("ann"), None),
        ];
        for (chat, topic, username, link) in cases {
            let topic = topic.map(TopicId);
            let place = Place { chat: ChatId(chat), kind: ChatKind::Group, title: None, topic };
            assert_eq!(place.message_links(username).as_deref(), link, "{place:?}");
        }
    }
}
