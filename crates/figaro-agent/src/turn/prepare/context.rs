//! What of the conversation so far a request carries. The bot's turns are prepared by it, and `figaro memory` measures it.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use parking_lot::Mutex;

use super::super::report::Reporter;
use super::super::window::{
    Border, Choice, Context, Kept, KeptParts, Older, Pictures, Room, Showing, Stored, recent,
};
use figaro_base::ids::{SessionId, UserId};
use figaro_domain::chat::Place;
use figaro_domain::conversation::{EntryKey, Message, Role};
use figaro_memory::{Chats, Question};
use figaro_prompts::Prompts;

/// So many sessions are remembered by what their requests begin with.
const MAX_CHOICES: usize = 1_000;

/// What the requests of sessions begin with, and where their messages began when it was chosen. After a restart it is chosen
/// anew.
pub type Choices = Arc<Mutex<HashMap<SessionId, (Border, Choice)>>>;

/// Chooses what of a conversation so far a request carries.
#[derive(Debug, Clone)]
pub struct Contexts {
    /// The memory of chats.
    pub chats: Chats,
    /// The prompts that messages are rendered by.
    pub prompts: Arc<Prompts>,
    /// What requests begin with.
    pub choices: Choices,
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
    /// Pins, memories and summaries.
    pub kept: &'a Kept,
    /// Pictures of messages.
    pub pictures: &'a Pictures,
    /// Who asks it.
    pub user: &'a UserId,
    /// Whether older messages that bear on it are looked for.
    pub recalls: bool,
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
        let most = asking.kept.most_tokens(room.tokens);
        let stored = Stored { place, zone, pictures };
        let recent = recent(&self.prompts, history, stored, room.without(most), asked_at)?;
        let kept = self.kept(asking, Border { session, from: recent.from })?;
        let room = room.without(kept.tokens);
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
        let recalled = match asking.recalls {
            true => self.reporter.or_without(self.chats.recall(&question).await, "older messages"),
            false => Default::default(),
        };
        let older = Older::within(&self.prompts, recalled, zone, tokens)?;
        let is_cut = recent.from.is_some_and(|from| from > 0) || !older.messages.is_empty();
        let has_more =
            is_cut || self.reporter.or_without(self.chats.has_others(place.chat, session).await, "sessions");
        Ok(Context { kept, recent, older, has_more })
    }

    /// What is kept of before: chosen anew where the messages of the request begin elsewhere than those of the last one.
    fn kept(&self, asking: &Asking<'_>, border: Border) -> Result<KeptParts, String> {
        if asking.kept.is_empty() {
            return Ok(KeptParts::default());
        }
        let (now, tokens) = (asking.asked_at, asking.room.tokens);
        let kept = asking.kept.clone().before(border.from);
        let chosen = {
            let mut choices = self.choices.lock();
            match choices.get(&border.session) {
                Some((at, choice)) if *at == border => choice.clone(),
                _ => {
                    if choices.len() >= MAX_CHOICES {
                        choices.clear();
                    }
                    let choice = kept.choose(now, tokens);
                    choices.insert(border.session, (border, choice.clone()));
                    choice
                }
            }
        };
        kept.parts(&self.prompts, &chosen, Showing { now, zone: asking.zone, tokens })
    }
}
