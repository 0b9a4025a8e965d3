//! `/new`: a conversation without what was said before.

use std::sync::Arc;

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Request};
use super::handles::Handles;
use crate::prompts::texts::Texts;
use crate::store::{ConversationStore, StoreError};
use crate::turn::parked::Parked;

/// Begins another session.
#[derive(Debug)]
pub(super) struct NewSession {
    cards: Cards,
    conversations: Arc<dyn ConversationStore>,
    parked: Parked,
}

impl NewSession {
    pub(super) fn new(handles: &Handles) -> Self {
        let parked = handles.parked.clone();
        Self { cards: handles.cards.clone(), conversations: handles.store.clone(), parked }
    }
}

#[async_trait]
impl Command for NewSession {
    fn name(&self) -> &'static str {
        "new"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        &texts.command_new
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Chat)
    }

    /// A question that follows belongs to the new conversation.
    fn is_immediate(&self, _argument: &str) -> bool {
        true
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.conversations.new_session(request.asker.place.conversation(), self.cards.now()).await?;
        // What waited there was given up.
        self.parked.reload().await?;
        Ok(Card::text(&self.cards.texts(request.asker).new_session).into())
    }
}
