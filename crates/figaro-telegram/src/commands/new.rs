//! `/new`: starts a session without the earlier messages, with a name if one is given.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{Command, CommandOutcome, CommandRequest, CommandSpec, Group};
use super::handles::Handles;
use figaro_agent::turn::parked::Parked;
use figaro_domain::session::{SessionChange, SessionName};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ConversationStore, SessionStore, StoreError};

#[derive(Debug)]
pub(super) struct NewCommand {
    cards: Cards,
    conversations: ConversationStore,
    sessions: SessionStore,
    parked: Parked,
}

impl NewCommand {
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
impl Command for NewCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("new", Texts::command_new)
            .group(Group::Chat)
            .arguments(&[("NAME", "start one with this name")])
    }

    /// Questions that follow belong to the new session.
    fn is_immediate(&self, _argument: &str) -> bool {
        true
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let (conversation, texts) = (request.asker.place.conversation(), self.cards.texts(request.asker));
        let is_others = self.parked.has_approval_of_others(conversation, &request.asker.speaker.user);
        if is_others && !self.cards.may_change(request.asker).await {
            return Ok(Card::text(texts.approval_waits_here()).into());
        }
        let session = self.conversations.new_session(conversation, self.cards.now()).await?;
        // The new session gave up turns that waited in the conversation.
        self.parked.reload(Some(&request.asker.speaker.name)).await?;
        let Some(name) = SessionName::by_person(request.argument()) else {
            return Ok(Card::text(texts.new_session()).into());
        };
        let change = SessionChange { name: Some(name.clone()), ..SessionChange::default() };
        self.sessions.change(session.id, change).await?;
        Ok(Card::text(fill(texts.new_session_named(), &[("name", &name.text)])).into())
    }
}
