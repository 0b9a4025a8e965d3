//! What of the conversation so far a request carries. The bot's turns are prepared by it, and `figaro memory` measures it.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::report::Reporter;
use super::super::window::{Context, Older, Pictures, Room, Stored, recent};
use crate::domain::chat::Place;
use crate::domain::conversation::{EntryKey, Message, Role};
use crate::ids::{SessionId, UserId};
use crate::memory::{Chats, Question};
use crate::prompts::Prompts;

/// Chooses what of a conversation so far a request carries.
#[derive(Debug, Clone)]
pub struct Contexts {
    /// The memory of chats.
    pub chats: Chats,
    /// The prompts that messages are rendered by.
    pub prompts: Arc<Prompts>,
    /// Reports what cannot be read.
    pub reporter: Reporter,
}

/// A question, and the conversation that it is asked in.
#[derive(Debug)]
pub struct Asking<'a> {
    /// The chat and topic.
    pub place: &'a Place,
    /// The zone of the chat.
    pub zone: Tz,
    /// The session.
    pub session: SessionId,
    /// What was said in it before the question, oldest first.
    pub history: &'a [Arc<Message>],
    /// Pictures of messages.
    pub pictures: &'a Pictures,
    /// Who asks it.
    pub user: &'a UserId,
    /// The words of the question.
    pub text: &'a str,
    /// When it is asked, UTC.
    pub asked_at: DateTime<Utc>,
    /// How many tokens of the conversation are carried.
    pub room: Room,
}

impl Contexts {
    /// The newest messages of the session, and older ones of the chat that bear on the question. Where these cannot be read it
    /// goes without them, which is reported.
    ///
    /// # Errors
    /// A prompt template of the owner's that does not render.
    pub async fn of(&self, asking: &Asking<'_>) -> Result<Context, String> {
        let Asking { place, zone, session, history, pictures, room, asked_at, .. } = *asking;
        let recent = recent(&self.prompts, history, Stored { place, zone, pictures }, room, asked_at)?;
        let tokens = room.for_older(&recent, history, asked_at);
        let before = history.iter().rev().find(|message| message.role == Role::User);
        let shown = recent.from.map(|index| EntryKey { session, index });
        let question = Question {
            chat: place.chat,
            session: Some(session),
            text: asking.text,
            before: before.map(|message| message.text.as_str()),
            asked_at,
            zone,
            shown,
            tokens,
            user: asking.user.clone(),
        };
        let recalled = self.reporter.or_without(self.chats.recall(&question).await, "older messages");
        let older = Older::within(&self.prompts, recalled, zone, tokens)?;
        let is_cut = recent.from.is_some_and(|from| from > 0) || !older.messages.is_empty();
        let has_more =
            is_cut || self.reporter.or_without(self.chats.has_others(place.chat, session).await, "sessions");
        Ok(Context { recent, older, has_more })
    }
}
