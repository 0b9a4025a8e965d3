//! Texts that a card asks for with a message to reply to. The record of that message stores their purpose, so that a
//! reply still counts after a restart.

use tokio_util::sync::CancellationToken;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::Pressed;
use crate::send::Outgoing;
use figaro_domain::delivery::Author;
use figaro_domain::message::Inbound;
use figaro_store::{OutboxStore, StoreError};

/// Asks for text: opens a reply field with a hint, in a group only for the asker. `author` stores the purpose of the
/// text.
pub(super) async fn ask(cards: &Cards, asker: &Asker, words: String, hint: &str, author: Author) -> Pressed {
    let username = asker.speaker.username.as_ref().filter(|_| asker.place.is_group());
    let words = username.map_or(words.clone(), |username| format!("@{username} {words}"));
    let message = Outgoing { asks: Some(hint.to_owned()), author, ..Card::text(words).outgoing() };
    let sent = cards.sender.send(&asker.place, &message, &CancellationToken::new()).await;
    if let Err(unsent) = &sent {
        tracing::warn!(chat = %asker.place.chat, ?unsent, "words could not be asked for");
    }
    let toast = sent.is_err().then(|| cards.texts(asker).error_internal().to_owned());
    Pressed::Shown { toast, card: None }
}

/// Returns the author record of the bot's message that this message answers with text of its own; `None` for any
/// other message.
///
/// # Errors
/// If the store fails.
pub(crate) fn asked_by(outbox: &OutboxStore, part: &Inbound) -> Result<Option<Author>, StoreError> {
    let is_plain = part.reply_to_bot && part.forwarded_from.is_none() && !part.text.trim().is_empty();
    let replied = part.quotes.as_ref().filter(|_| is_plain).and_then(|quoted| quoted.message);
    let Some(message) = replied else { return Ok(None) };
    outbox.author(part.place.chat, message)
}
