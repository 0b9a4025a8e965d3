//! New wording of a memory, taken from a reply.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::Pressed;
use super::super::handles::Handles;
use super::super::replies;
use crate::callback::MemoryButton;
use crate::send::Button;
use figaro_base::ids::MemoryId;
use figaro_domain::delivery::Author;
use figaro_domain::facts::OwnChange;
use figaro_domain::memory::{MAX_CONTENT_CHARS, Memory};
use figaro_domain::message::Inbound;
use figaro_memory::facts::has_secret;
use figaro_policy::access::Standing;
use figaro_prompts::texts::fill;
use figaro_store::{FactStore, StoreError};

/// Asks for a new wording of a memory.
pub(super) async fn ask(cards: &Cards, asker: &Asker, memory: &Memory) -> Pressed {
    let texts = cards.texts(asker);
    let words = fill(texts.memory_edit_ask(), &[("text", &memory.content)]);
    replies::ask(cards, asker, words, texts.memory_edit_hint(), Author::Reword(memory.id)).await
}

/// Applies new wordings of memories from replies. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rewordings {
    cards: Cards,
    facts: FactStore,
}

impl Rewordings {
    /// Creates it with the dependencies in `handles`.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), facts: handles.store.facts() }
    }

    /// Replaces the text of the writer's memory by the text of the message. Returns the card that confirms it.
    pub(crate) async fn reword(&self, memory: MemoryId, part: &Inbound, standing: Standing) -> Card {
        let asker = Asker::new(part, standing);
        self.reworded(memory, part, &asker).await.unwrap_or_else(|error| self.cards.failed(&asker, &error))
    }

    async fn reworded(&self, memory: MemoryId, part: &Inbound, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let words = part.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.chars().count() > MAX_CONTENT_CHARS {
            let most = MAX_CONTENT_CHARS.to_string();
            return Ok(Card::text(fill(texts.memory_too_long(), &[("count", &most)])));
        }
        if has_secret(&words) {
            return Ok(Card::text(texts.memory_secret()));
        }
        let (user, change) = (&part.speaker.user, OwnChange::Reword(words));
        match self.facts.change(user, memory, change, self.cards.now()).await? {
            Some(memory) => {
                let open = Button::new(texts.memory_title(), MemoryButton::Open(memory.id));
                Ok(Card::text(fill(texts.memory_edited(), &[("text", &memory.content)])).row(vec![open]))
            }
            None => Ok(Card::text(texts.gone())),
        }
    }
}
