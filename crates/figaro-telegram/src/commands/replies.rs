//! Words that a card asks for by a message that is replied to. What they are for stands in the record of that message, so that
//! a reply still counts after a restart.

use tokio_util::sync::CancellationToken;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::Pressed;
use crate::send::Outgoing;
use figaro_domain::delivery::Author;
use figaro_domain::message::Inbound;
use figaro_store::{OutboxStore, StoreError};

/// Asks for words: the field of a reply opens with a hint in it, in a group for whoever is named. `author` says what they are
/// for.
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

/// Who asked, and what for, in the message that this one replies to with words of its writer's; `None` for any other message.
///
/// # Errors
/// When the store fails.
pub(crate) async fn asked_by(outbox: &OutboxStore, part: &Inbound) -> Result<Option<Author>, StoreError> {
    let is_plain = part.reply_to_bot && part.forwarded_from.is_none() && !part.text.trim().is_empty();
    let replied = part.quotes.as_ref().filter(|_| is_plain).and_then(|quoted| quoted.message);
    let Some(message) = replied else { return Ok(None) };
    outbox.author(part.place.chat, message).await
}
