//! `/stop`: ends the turn of a conversation. It works for everybody, also where there is no room.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Command, Group, Outcome, Request};
use super::handles::Handles;
use crate::domain::message::Inbound;
use crate::prompts::texts::Texts;
use crate::store::StoreError;
use crate::turn::queue::Mailboxes;

/// Ends the turn of a conversation.
#[derive(Debug)]
pub(super) struct Stop {
    cards: Cards,
    mailboxes: Mailboxes,
}

impl Stop {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), mailboxes: handles.mailboxes.clone() }
    }
}

#[async_trait]
impl Command for Stop {
    fn name(&self) -> &'static str {
        "stop"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        &texts.command_stop
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Chat)
    }

    /// A question that follows is not stopped.
    fn is_immediate(&self, _argument: &str) -> bool {
        true
    }

    fn run_without_room(&self, message: &Inbound) -> bool {
        self.mailboxes.stop(message.place.conversation())
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        let stopped = self.mailboxes.stop(request.asker.place.conversation());
        Ok(Card::text(if stopped { &texts.stop_done } else { &texts.stop_nothing }).into())
    }
}
