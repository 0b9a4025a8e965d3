//! Exchanges of a session: a question, and all messages up to the next one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::super::super::fault::StoreFault;
use super::parts::{self, Looks};
use figaro_base::ids::{MessageId, RunId, SessionId, UserId};
use figaro_domain::conversation::{Message, MessageRole};

/// A question and the messages after it. Messages before the first question of a session have an empty question.
#[derive(Debug, Default)]
pub(super) struct ErasureExchange {
    /// Messages of the question, all of one turn.
    pub(super) question: Vec<Message>,
    /// Answers, and results of calls.
    pub(super) rest: Vec<Message>,
}

impl ErasureExchange {
    /// Returns the turn of the question.
    pub(super) fn turn(&self) -> Option<RunId> {
        self.question.first().and_then(|message| message.turn)
    }

    /// Returns the author of the question.
    pub(super) fn asker(&self) -> Option<&UserId> {
        self.question.iter().find_map(|message| message.speaker.as_ref()).map(|speaker| &speaker.user)
    }

    /// Returns the Telegram messages of the question.
    pub(super) fn asked_in(&self) -> BTreeSet<MessageId> {
        self.question.iter().flat_map(|message| message.telegram.iter().copied()).collect()
    }

    fn takes(&self, message: &Message) -> bool {
        match self.question.last() {
            _ if message.role != MessageRole::User => true,
            Some(last) => self.rest.is_empty() && last.turn == message.turn,
            None => self.rest.is_empty(),
        }
    }

    fn take(&mut self, message: Message) {
        if message.role == MessageRole::User { self.question.push(message) } else { self.rest.push(message) }
    }
}

/// Iterates over the exchanges of a session, oldest first.
pub(super) fn each(
    store: &impl Looks,
    session: SessionId,
    mut each: impl FnMut(ErasureExchange) -> Result<(), StoreFault>,
) -> Result<(), StoreFault> {
    let mut last = ErasureExchange::default();
    parts::each(store, session, 0, |tables, (key, bytes)| {
        let Some(message) = tables.messages.decode(&key, bytes) else { return Ok(ControlFlow::Continue(())) };
        if !last.takes(&message) {
            each(std::mem::take(&mut last))?;
        }
        last.take(message);
        Ok(ControlFlow::Continue(()))
    })?;
    each(last)
}

/// Returns the exchange whose question begins at this index.
pub(super) fn at(store: &impl Looks, session: SessionId, index: u32) -> Result<ErasureExchange, StoreFault> {
    let mut found = ErasureExchange::default();
    parts::each(store, session, index, |tables, (key, bytes)| {
        let Some(message) = tables.messages.decode(&key, bytes) else { return Ok(ControlFlow::Continue(())) };
        if !found.takes(&message) {
            return Ok(ControlFlow::Break(()));
        }
        found.take(message);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
