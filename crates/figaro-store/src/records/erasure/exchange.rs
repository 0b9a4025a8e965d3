//! The exchanges of a session: a question, and all that followed it up to the next one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::super::super::fault::Fault;
use super::parts::{self, Looks};
use figaro_base::ids::{MessageId, RunId, SessionId, UserId};
use figaro_domain::conversation::{Message, Role};

/// A question and what followed it; before the first question of a session there is none.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The messages of the question, which are those of one turn.
    pub(super) question: Vec<Message>,
    /// What was answered, and the results of calls.
    pub(super) rest: Vec<Message>,
}

impl Exchange {
    /// The turn of the question.
    pub(super) fn turn(&self) -> Option<RunId> {
        self.question.first().and_then(|message| message.turn)
    }

    /// Who asked.
    pub(super) fn asker(&self) -> Option<&UserId> {
        self.question.iter().find_map(|message| message.speaker.as_ref()).map(|speaker| &speaker.user)
    }

    /// The messages of Telegram that asked.
    pub(super) fn asked_in(&self) -> BTreeSet<MessageId> {
        self.question.iter().flat_map(|message| message.telegram.iter().copied()).collect()
    }

    fn takes(&self, message: &Message) -> bool {
        match self.question.last() {
            _ if message.role != Role::User => true,
            Some(last) => self.rest.is_empty() && last.turn == message.turn,
            None => self.rest.is_empty(),
        }
    }

    fn take(&mut self, message: Message) {
        if message.role == Role::User { self.question.push(message) } else { self.rest.push(message) }
    }
}

/// Goes through the exchanges of a session, oldest first.
pub(super) fn each(
    store: &impl Looks,
    session: SessionId,
    mut each: impl FnMut(Exchange) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut last = Exchange::default();
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

/// The exchange whose question begins at this index.
pub(super) fn at(store: &impl Looks, session: SessionId, index: u32) -> Result<Exchange, Fault> {
    let mut found = Exchange::default();
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
