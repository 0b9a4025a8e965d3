//! `/new`: a conversation without what was said before, with a name if one is given.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Request};
use super::handles::Handles;
use figaro_agent::turn::parked::Parked;
use figaro_domain::session::{SessionChange, SessionName};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, SessionStore, StoreError};

/// Begins another session.
#[derive(Debug)]
pub(super) struct NewSession {
    cards: Cards,
    conversations: ConversationStore,
    sessions: SessionStore,
    parked: Parked,
}

impl NewSession {
    pub(super) fn new(handles: &Handles) -> Self {
        let parked = handles.parked.clone();
        Self {
            cards: handles.cards.clone(),
            conversations: handles.store.conversations(),
            sessions: handles.store.sessions(),
            parked,
        }
    }
}

#[async_trait]
impl Command for NewSession {
    fn name(&self) -> &'static str {
        "new"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_new()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Chat)
    }

    /// A question that follows belongs to the new conversation.
    fn is_immediate(&self, _argument: &str) -> bool {
        true
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        let (conversation, texts) = (request.asker.place.conversation(), self.cards.texts(request.asker));
        let is_others = self.parked.has_approval_of_others(conversation, &request.asker.speaker.user);
        if is_others && !self.cards.may_change(request.asker).await {
            return Ok(Card::text(texts.approval_waits_here()).into());
        }
        let session = self.conversations.new_session(conversation, self.cards.now()).await?;
        // What waited there was given up.
        self.parked.reload(Some(&request.asker.speaker.name)).await?;
        let Some(name) = SessionName::by_person(request.argument()) else {
            return Ok(Card::text(texts.new_session()).into());
        };
        let change = SessionChange { name: Some(name.clone()), ..SessionChange::default() };
        self.sessions.change(session.id, change).await?;
        Ok(Card::text(fill(texts.new_session_named(), &[("name", &name.text)])).into())
    }
}
