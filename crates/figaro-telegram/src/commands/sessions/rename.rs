//! New name of a session, taken from a reply.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::Pressed;
use super::super::handles::Handles;
use super::super::replies;
use super::card::SessionView;
use crate::callback::SessionsButton;
use crate::send::Button;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Session;
use figaro_domain::delivery::Author;
use figaro_domain::message::Inbound;
use figaro_domain::session::{SessionChange, SessionName};
use figaro_policy::access::Standing;
use figaro_prompts::texts::fill;
use figaro_store::{SessionStore, StoreError};

/// Asks for a new name of a session.
pub(super) async fn ask(cards: &Cards, asker: &Asker, view: &SessionView<'_>, session: &Session) -> Pressed {
    let texts = view.texts;
    let name = session.name.as_ref().map_or(texts.session_unnamed(), |name| &name.text);
    let words = fill(texts.session_ask_name(), &[("name", name)]);
    replies::ask(cards, asker, words, texts.session_name_hint(), Author::Rename(session.id)).await
}

/// Applies new names of sessions from replies. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Renames {
    cards: Cards,
    sessions: SessionStore,
}

impl Renames {
    /// Creates it with the dependencies in `handles`.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), sessions: handles.store.sessions() }
    }

    /// Renames a session of this conversation to the text of the message. Returns the card that confirms it.
    pub(crate) async fn name(&self, session: SessionId, part: &Inbound, standing: Standing) -> Card {
        let asker = Asker::new(part, standing);
        self.named(session, part, &asker).await.unwrap_or_else(|error| self.cards.failed(&asker, &error))
    }

    async fn named(&self, session: SessionId, part: &Inbound, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Card::text(texts.admin_only()));
        }
        let known = self.sessions.find(session)?;
        let is_here = known.is_some_and(|known| known.conversation == asker.place.conversation());
        let Some(name) = SessionName::by_person(&part.text).filter(|_| is_here) else {
            return Ok(Card::text(texts.gone()));
        };
        let change = SessionChange { name: Some(name.clone()), ..SessionChange::default() };
        if self.sessions.change(session, change).await?.is_none() {
            return Ok(Card::text(texts.gone()));
        }
        let open = Button::new(texts.sessions_title(), SessionsButton::Open(session));
        Ok(Card::text(fill(texts.session_named(), &[("name", &name.text)])).row(vec![open]))
    }
}
