//! Finds the data about a message: the decision when it was received, and its exchange.

use std::sync::Arc;

use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_domain::conversation::{ConversationId, EntryKey, Message, MessageRole, begins_exchange};
use figaro_domain::reception::{ReceivedMessage, TurnTrace};
use figaro_store::{MemoryStore, PinStore, ReceptionStore, SessionStore, Store, StoreError};

/// Maximum number of messages of an exchange that are read on either side of a message.
const AROUND: u32 = 200;

/// A question, with all messages that followed for it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) question: Vec<Arc<Message>>,
    /// Messages that followed: texts, results of tool calls, the answer.
    pub(super) rest: Vec<Arc<Message>>,
    /// `true` if no later question follows.
    pub(super) is_last: bool,
}

impl Exchange {
    /// Finds the exchange around the message with this index in messages of its session.
    fn around(messages: &[Arc<Message>], index: u32) -> Option<Self> {
        let at = messages.iter().position(|message| message.index == index)?;
        let begins = |at: &usize| begins_exchange(messages, *at);
        let first = (0..=at).rev().find(begins).unwrap_or(at);
        let end = (at + 1..messages.len()).find(begins).unwrap_or(messages.len());
        let all = messages.get(first..end).unwrap_or_default().iter().cloned();
        let (question, rest) = all.partition(|message| message.role == MessageRole::User);
        Some(Self { question, rest, is_last: end == messages.len() })
    }

    /// Returns the turn of the question.
    pub(super) fn run(&self) -> Option<RunId> {
        self.question.iter().find_map(|message| message.turn)
    }

    pub(super) fn answer(&self) -> Option<&Message> {
        let is_answer =
            |message: &&Arc<Message>| message.role == MessageRole::Assistant && message.model_id.is_some();
        self.rest.last().filter(is_answer).map(|message| &**message)
    }
}

/// Stored data about a message and its exchange.
#[derive(Debug)]
pub struct ExplainedMessage {
    /// Conversation of the message.
    pub(super) conversation: ConversationId,
    /// Decision when the message was received.
    pub(super) received: Option<ReceivedMessage>,
    /// Exchange that the message belongs to.
    pub(super) exchange: Option<Exchange>,
}

impl ExplainedMessage {
    /// Returns the author of the message, or of the question for an answer; `None` if unknown, as for a task.
    pub(super) fn writer(&self) -> Option<&UserId> {
        let question = self.exchange.as_ref().and_then(|exchange| exchange.question.first());
        let asked = question.filter(|question| question.task.is_none());
        let asker = asked.and_then(|question| question.speaker.as_ref()).map(|speaker| &speaker.user);
        asker.or_else(|| self.received.as_ref().map(|received| &received.user))
    }

    /// Returns the trace of the turn of the message.
    pub(super) fn trace(&self) -> Option<&TurnTrace> {
        self.received.as_ref()?.turn.as_ref()
    }
}

#[derive(Debug)]
pub(super) struct Finder {
    receptions: ReceptionStore,
    carried: PinStore,
    messages: MemoryStore,
    sessions: SessionStore,
}

impl Finder {
    pub(super) fn new(store: &Store) -> Self {
        Self {
            receptions: store.receptions(),
            carried: store.pins(),
            messages: store.messages(),
            sessions: store.sessions(),
        }
    }

    /// Finds the data about a message of a conversation in Telegram; `None` if there is none.
    pub(super) fn find(
        &self,
        conversation: ConversationId,
        message: MessageId,
    ) -> Result<Option<ExplainedMessage>, StoreError> {
        let carried = self.carried.carried_by(conversation, message)?;
        if let Some(carried) = carried
            && let Some(found) = self.entry(conversation, carried.key())?
        {
            return Ok(Some(found));
        }
        let received = self.receptions.find(conversation.chat, message)?;
        let found = |received| ExplainedMessage { conversation, received: Some(received), exchange: None };
        Ok(received.map(found))
    }

    /// Finds the data about a turn in any chat; `None` if there is none.
    pub(super) fn turn(&self, run: RunId) -> Result<Option<ExplainedMessage>, StoreError> {
        let Some(question) = self.messages.question_of(run)? else { return Ok(None) };
        let Some(session) = self.sessions.find(question.session)? else { return Ok(None) };
        self.entry(session.conversation, question)
    }

    /// Finds the data about a stored message of a conversation; `None` if it is gone.
    pub(super) fn entry(
        &self,
        conversation: ConversationId,
        entry: EntryKey,
    ) -> Result<Option<ExplainedMessage>, StoreError> {
        let Some(exchange) = self.exchange(entry)? else { return Ok(None) };
        let asked = exchange.question.iter().filter_map(|message| message.telegram.first().copied()).next();
        // Tells how the turn ended. A turn of a task or over HTTP has none.
        let mut received = match asked {
            Some(asked) => self.receptions.find(conversation.chat, asked)?,
            None => None,
        };
        // That of another try says nothing about this one.
        let run = exchange.run();
        if let Some(received) = received.as_mut() {
            received.turn = received.turn.take().filter(|turn| run.is_none_or(|run| run == turn.run));
        }
        Ok(Some(ExplainedMessage { conversation, received, exchange: Some(exchange) }))
    }

    /// Returns the exchange that a stored message belongs to.
    fn exchange(&self, carried: EntryKey) -> Result<Option<Exchange>, StoreError> {
        let from = carried.index.saturating_sub(AROUND);
        let limit = usize::try_from(AROUND * 2).unwrap_or_default();
        let mut around = self.messages.messages_from(carried.session, from, limit)?;
        // Keeps the requested message even if it was replaced; of the others, only the replacements count.
        around.retain(|message| !message.replaced || message.index == carried.index);
        Ok(Exchange::around(&around, carried.index))
    }

    /// Finds the last message of a person before another one.
    pub(super) fn last(
        &self,
        conversation: ConversationId,
        user: &UserId,
        before: MessageId,
    ) -> Result<Option<ExplainedMessage>, StoreError> {
        match self.receptions.last(conversation.chat, user, before)? {
            Some((message, _)) => self.find(conversation, message),
            None => Ok(None),
        }
    }
}
