//! The exchanges of a session: a question, and all that followed it up to the next one.

use std::collections::BTreeSet;

use super::super::super::fault::Fault;
use super::super::super::key;
use super::super::super::tables::Tables;
use crate::domain::conversation::{Message, Role};
use crate::ids::{MessageId, RunId, SessionId, UserId};

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
}

/// The exchanges of a session, oldest first.
pub(super) fn of_session(tables: &Tables<'_>, session: SessionId) -> Result<Vec<Exchange>, Fault> {
    let mut exchanges = vec![Exchange::default()];
    for item in tables.messages.scan(&key::id(session))? {
        let (_, message) = item?;
        if exchanges.last().is_some_and(|last| !last.takes(&message)) {
            exchanges.push(Exchange::default());
        }
        let Some(last) = exchanges.last_mut() else { continue };
        if message.role == Role::User { last.question.push(message) } else { last.rest.push(message) }
    }
    Ok(exchanges)
}
