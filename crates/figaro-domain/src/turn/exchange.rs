//! Question to be repeated on a person's request.

use std::ops::ControlFlow;

use crate::conversation::{Message, MessageRole};

/// Picks the last question that a person asked in a session, with the messages after it. Prompts of tasks and their answers
/// are left out. The parts of a question belong to one turn. Older versions did not store the turn; there they are the
/// person's messages without an answer in between.
#[derive(Debug, Default)]
pub struct LastExchange {
    /// Messages picked so far, newest first.
    picked: Vec<Message>,
}

impl LastExchange {
    /// Takes the next older message. Breaks if no further message is needed.
    pub fn add(&mut self, message: Message) -> ControlFlow<()> {
        let is_before = self.picked.last().is_some_and(|later| {
            later.role == MessageRole::User
                && (message.role != MessageRole::User || message.turn != later.turn)
        });
        if is_before {
            return ControlFlow::Break(());
        }
        if message.replaced {
            // Behind the attempt that is shown, later ones may stand.
            return if self.picked.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        }
        if message.task.is_some() {
            // The picked messages answer a task; they are not repeated.
            self.picked.clear();
        } else {
            self.picked.push(message);
        }
        ControlFlow::Continue(())
    }

    /// Returns the exchange, oldest first; empty if no person asked anything.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.picked.reverse();
        // An exchange must begin with a question.
        let is_asked = self.picked.first().is_some_and(|first| first.role == MessageRole::User);
        if is_asked { self.picked } else { Vec::new() }
    }
}
