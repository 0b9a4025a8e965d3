//! "See original": leads to the source message of a pin, by a link if Telegram has links for the chat, else by a
//! reply.

use serde_json::json;

use super::super::asker::Asker;
use super::super::cards::Cards;
use crate::api::SendMessage;
use crate::outgoing::sent_id;
use figaro_agent::outbound::Urgency;
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::delivery::Author;
use figaro_domain::pin::Pin;

/// Offset between the id of a supergroup, negated, and its number in links.
const SUPERGROUPS: i64 = 1_000_000_000_000;

/// Returns a link to the source message, which members of the supergroup can open; `None` in other chats and for pins
/// without a message.
pub(super) async fn link(cards: &Cards, asker: &Asker, pin: &Pin) -> Option<String> {
    let message = pin.telegram?;
    let number = number_in_links(pin.chat)?;
    let (_, username) = cards.names_of(asker.place.chat).await;
    Some(match username {
        Some(username) => format!("https://t.me/{username}/{message}"),
        None => format!("https://t.me/c/{number}/{message}"),
    })
}

/// Returns the number of a supergroup in links; `None` for other chats.
fn number_in_links(chat: ChatId) -> Option<i64> {
    chat.0.checked_neg().and_then(|id| id.checked_sub(SUPERGROUPS)).filter(|id| *id > 0)
}

/// Replies to a message, so that people can jump to it from the reply. Returns `false` if the message is gone.
pub(super) async fn point_at(cards: &Cards, asker: &Asker, message: MessageId) -> bool {
    let (place, sender) = (&asker.place, &cards.sender);
    let mut body = json!({
        "chat_id": place.chat,
        "text": cards.texts(asker).pins_source(),
        "reply_parameters": {"message_id": message},
    });
    if let Some(topic) = place.topic {
        body["message_thread_id"] = json!(topic);
    }
    let sent = match sender.once(place.chat, SendMessage(body), Urgency::Answer).await {
        Ok(sent) => sent,
        Err(unsent) => {
            tracing::info!(chat = %place.chat, ?unsent, "the source of a pin could not be replied to");
            return false;
        }
    };
    let recorded = sender.outbox.record_own(place.chat, sent_id(&sent), Author::Figaro, cards.now());
    if let Err(error) = recorded {
        tracing::warn!(%error, chat = %place.chat, "a sent message could not be recorded as the bot's own");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_supergroups_have_links() {
        let cases = [
            (-1_001_234_567_890, Some(1_234_567_890)),
            (-1_000_000_000_001, Some(1)),
            (-1_000_000_000_000, None),
            (-4_711, None),
            (7, None),
            (i64::MIN, None),
        ];
        for (chat, wanted) in cases {
            assert_eq!(number_in_links(ChatId(chat)), wanted, "{chat}");
        }
    }
}
