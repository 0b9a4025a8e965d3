//! Finds what is known of a message: what became of it when it came in, and the exchange that it stands in.

use std::sync::Arc;

use super::super::asker::Asker;
use super::super::handles::Handles;
use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_domain::conversation::{EntryKey, Message, Role, begins_exchange};
use figaro_domain::reception::{Received, TurnTrace};
use figaro_store::{MemoryStore, PinStore, ReceptionStore, StoreError};

/// An exchange has at most so many messages on either side of the one that is asked about.
const AROUND: u32 = 200;

/// A question, and all that was said and done for it.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The question's parts.
    pub(super) question: Vec<Arc<Message>>,
    /// What followed: words, results of calls, the answer.
    pub(super) rest: Vec<Arc<Message>>,
}

impl Exchange {
    /// Takes it out of messages of its session, around the one with this index.
    fn around(messages: &[Arc<Message>], index: u32) -> Option<Self> {
        let at = messages.iter().position(|message| message.index == index)?;
        let begins = |at: &usize| begins_exchange(messages, *at);
        let first = (0..=at).rev().find(begins).unwrap_or(at);
        let end = (at + 1..messages.len()).find(begins).unwrap_or(messages.len());
        let all = messages.get(first..end).unwrap_or_default().iter().cloned();
        let (question, rest) = all.partition(|message| message.role == Role::User);
        Some(Self { question, rest })
    }

    /// The turn that the question led to.
    pub(super) fn run(&self) -> Option<RunId> {
        self.question.iter().find_map(|message| message.turn)
    }

    /// The answer, if it has one.
    pub(super) fn answer(&self) -> Option<&Message> {
        let is_answer =
            |message: &&Arc<Message>| message.role == Role::Assistant && message.model_id.is_some();
        self.rest.last().filter(is_answer).map(|message| &**message)
    }
}

/// What is known of a message.
#[derive(Debug)]
pub(super) struct Subject {
    /// What was decided when it came in.
    pub(super) received: Option<Received>,
    /// The exchange that it stands in.
    pub(super) exchange: Option<Exchange>,
}

impl Subject {
    /// Whoever wrote it; of an answer, whoever had asked. `None` where nobody is known, as of a task.
    pub(super) fn writer(&self) -> Option<&UserId> {
        let question = self.exchange.as_ref().and_then(|exchange| exchange.question.first());
        let asked = question.filter(|question| question.task.is_none());
        let asker = asked.and_then(|question| question.speaker.as_ref()).map(|speaker| &speaker.user);
        asker.or_else(|| self.received.as_ref().map(|received| &received.user))
    }

    /// The turn that it led to.
    pub(super) fn trace(&self) -> Option<&TurnTrace> {
        self.received.as_ref()?.turn.as_ref()
    }
}

/// Finds messages.
#[derive(Debug)]
pub(super) struct Finder {
    receptions: ReceptionStore,
    carried: PinStore,
    messages: MemoryStore,
}

impl Finder {
    pub(super) fn new(handles: &Handles) -> Self {
        let store = &handles.store;
        Self { receptions: store.receptions(), carried: store.pins(), messages: store.messages() }
    }

    /// What is known of a message of the chat that is asked in; `None` if that is nothing.
    pub(super) async fn find(
        &self,
        asker: &Asker,
        message: MessageId,
    ) -> Result<Option<Subject>, StoreError> {
        let chat = asker.place.chat;
        let carried = self.carried.carried_by(asker.place.conversation(), message).await?;
        let mut received = self.receptions.find(chat, message).await?;
        let Some(carried) = carried else {
            return Ok(received.map(|received| Subject { received: Some(received), exchange: None }));
        };
        let exchange = self.exchange(carried.key()).await?;
        let question = exchange.iter().flat_map(|exchange| &exchange.question);
        let asked = question.filter_map(|message| message.telegram.first().copied()).next();
        if let Some(asked) = asked.filter(|_| received.is_none()) {
            received = self.receptions.find(chat, asked).await?;
        }
        Ok(Some(Subject { received, exchange }))
    }

    /// What is known of a turn, wherever it was asked; `None` if that is nothing.
    pub(super) async fn turn(&self, run: RunId) -> Result<Option<Subject>, StoreError> {
        let Some(question) = self.messages.question_of(run).await? else { return Ok(None) };
        let exchange = self.exchange(question).await?;
        Ok(Some(Subject { received: None, exchange }))
    }

    /// The exchange that a stored message stands in.
    async fn exchange(&self, carried: EntryKey) -> Result<Option<Exchange>, StoreError> {
        let from = carried.index.saturating_sub(AROUND);
        let limit = usize::try_from(AROUND * 2).unwrap_or_default();
        let mut around = self.messages.messages_from(carried.session, from, limit).await?;
        // One that another took the place of is told of as itself; of the others what counts is what took their place.
        around.retain(|message| !message.replaced || message.index == carried.index);
        Ok(Exchange::around(&around, carried.index))
    }

    /// The last message of whoever asks, before the one that asks.
    pub(super) async fn last(&self, asker: &Asker) -> Result<Option<Subject>, StoreError> {
        let (chat, before) = (asker.place.chat, asker.message.unwrap_or(MessageId(i64::MAX)));
        match self.receptions.last(chat, &asker.speaker.user, before).await? {
            Some((message, _)) => self.find(asker, message).await,
            None => Ok(None),
        }
    }
}
