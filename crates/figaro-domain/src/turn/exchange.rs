//! The question that is tried again when a person asks for it.

use std::ops::ControlFlow;

use crate::conversation::{Message, Role};

/// Picks the last question of a session that a person asked, and what followed it, out of the session's messages. Prompts
/// of tasks and their answers are left out. The parts of the question are those of one turn; where older versions did
/// not keep the turn, they are what people said without an answer in between.
#[derive(Debug, Default)]
pub struct LastExchange {
    /// The messages picked so far, newest first.
    picked: Vec<Message>,
}

impl LastExchange {
    /// Takes the next older message. Breaks when it needs no further one.
    pub fn add(&mut self, message: Message) -> ControlFlow<()> {
        let is_before = self.picked.last().is_some_and(|later| {
            later.role == Role::User && (message.role != Role::User || message.turn != later.turn)
        });
        if is_before || message.replaced {
            return ControlFlow::Break(());
        }
        if message.task.is_some() {
            // What was picked answers a task: it stands.
            self.picked.clear();
        } else {
            self.picked.push(message);
        }
        ControlFlow::Continue(())
    }

    /// The exchange, oldest first; empty if no person asked anything.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.picked.reverse();
        // Without a question at its beginning it is no exchange.
        let is_asked = self.picked.first().is_some_and(|first| first.role == Role::User);
        if is_asked { self.picked } else { Vec::new() }
    }
}
