//! Other words for a memory: asked for by a message that is replied to. Which memory it is about stands in the record of that
//! message, so that a reply still counts after a restart.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::Pressed;
use super::super::handles::Handles;
use crate::domain::delivery::Author;
use crate::domain::facts::OwnChange;
use crate::domain::memory::{MAX_CONTENT_CHARS, Memory};
use crate::domain::message::Inbound;
use crate::ids::MemoryId;
use crate::memory::facts::has_secret;
use crate::policy::access::Standing;
use crate::prompts::texts::fill;
use crate::store::{FactStore, OutboxStore, StoreError};
use crate::telegram::callback::Memory as Press;
use crate::telegram::send::{Button, Outgoing};

/// Asks for other words for a memory.
pub(super) async fn ask(cards: &Cards, asker: &Asker, memory: &Memory) -> Pressed {
    let texts = cards.texts(asker);
    let message = Outgoing {
        asks: Some(texts.memory_edit_hint.clone()),
        author: Author::Reword(memory.id),
        ..Card::text(fill(&texts.memory_edit_ask, &[("text", &memory.content)])).outgoing()
    };
    let sent = cards.sender.send(&asker.place, &message, &CancellationToken::new()).await;
    if let Err(unsent) = &sent {
        tracing::warn!(chat = %asker.place.chat, ?unsent, "other words could not be asked for");
    }
    Pressed::Shown { toast: sent.is_err().then(|| texts.error_internal.clone()), card: None }
}

/// Takes other words for memories out of replies. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rewordings {
    cards: Cards,
    outbox: Arc<dyn OutboxStore>,
    facts: Arc<dyn FactStore>,
}

impl Rewordings {
    /// Works on these handles.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), outbox: handles.store.clone(), facts: handles.store.clone() }
    }

    /// The memory that a message has other words for, as a reply to the question for them; `None` for any other message.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn meant(&self, part: &Inbound) -> Result<Option<MemoryId>, StoreError> {
        let is_plain = part.reply_to_bot && part.forwarded_from.is_none() && !part.text.trim().is_empty();
        let replied = part.quotes.as_ref().filter(|_| is_plain).and_then(|quoted| quoted.message);
        let Some(message) = replied else { return Ok(None) };
        match self.outbox.author(part.place.chat, message).await? {
            Some(Author::Reword(memory)) => Ok(Some(memory)),
            Some(Author::Figaro | Author::Model | Author::Rename(_)) | None => Ok(None),
        }
    }

    /// Gives a memory of the writer the words that a message says, and says so.
    pub async fn reword(&self, memory: MemoryId, part: &Inbound, standing: Standing) -> Card {
        let asker = Asker::new(part, standing);
        self.reworded(memory, part, &asker).await.unwrap_or_else(|error| self.cards.failed(&asker, &error))
    }

    async fn reworded(&self, memory: MemoryId, part: &Inbound, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let words = part.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.chars().count() > MAX_CONTENT_CHARS {
            let most = MAX_CONTENT_CHARS.to_string();
            return Ok(Card::text(fill(&texts.memory_too_long, &[("count", &most)])));
        }
        if has_secret(&words) {
            return Ok(Card::text(&texts.memory_secret));
        }
        let (user, change) = (&part.speaker.user, OwnChange::Reword(words));
        match self.facts.change_memory(user, memory, change, self.cards.now()).await? {
            Some(memory) => {
                let open = Button::new(&texts.memory_title, Press::Open(memory.id));
                Ok(Card::text(fill(&texts.memory_edited, &[("text", &memory.content)])).row(vec![open]))
            }
            None => Ok(Card::text(&texts.gone)),
        }
    }
}
