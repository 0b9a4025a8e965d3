//! Selection of the conversation so far for a request. Used to prepare turns, and measured by `figaro memory`.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;
use parking_lot::Mutex;

use super::super::report::Reporter;
use super::super::window::{
    Context, KeptData, KeptEntries, KeptParts, Older, Pictures, RenderContext, Showing, TokenBudget,
    WindowStart, recent,
};
use figaro_base::ids::SessionId;
use figaro_domain::chat::Place;
use figaro_domain::conversation::{EntryKey, Message, MessageRole};
use figaro_domain::usage::Payer;
use figaro_memory::{Chats, RecallQuery};
use figaro_prompts::Prompts;

/// Maximum number of sessions whose choice is remembered.
const MAX_CHOICES: usize = 1_000;

/// Entries at the beginning of each session's requests, and the border at which they were chosen. Chosen again after a
/// restart.
pub type Choices = Arc<Mutex<HashMap<SessionId, (WindowStart, KeptEntries)>>>;

/// Selects the parts of the conversation so far for a request.
#[derive(Debug, Clone)]
pub struct Contexts {
    /// Finds older messages of chats that relate to a question.
    pub chats: Chats,
    /// The prompt templates that messages and kept entries are rendered with.
    pub prompts: Arc<Prompts>,
    /// Entries at the beginning of requests, by session.
    pub choices: Choices,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

/// A question with its conversation, as input for the selection.
#[derive(Debug)]
pub struct ContextRequest<'a> {
    /// Chat and topic of the question.
    pub place: &'a Place,
    /// Time zone of the chat, for dates in the prompt.
    pub zone: Tz,
    /// Session that the question belongs to.
    pub session: SessionId,
    /// Messages of the session before the question, oldest first.
    pub history: &'a [Arc<Message>],
    /// Pins, memories and summaries of the chat.
    pub kept: &'a KeptData,
    /// Pictures of the messages in `history`.
    pub pictures: &'a Pictures,
    /// Payer of the vector of the question.
    pub payer: &'a Payer,
    /// `true` if older messages that relate to the question are searched.
    pub recalls: bool,
    /// Text of all parts of the question, one per line.
    pub text: &'a str,
    /// Time of the question, in UTC.
    pub asked_at: DateTime<Utc>,
    /// Room for the conversation in the request.
    pub room: TokenBudget,
}

impl Contexts {
    /// Returns the newest messages of the session, and older ones of the chat that relate to the question. Older
    /// messages that cannot be read are reported and left out.
    ///
    /// # Errors
    /// If a custom prompt template cannot be rendered.
    pub async fn of(&self, asking: &ContextRequest<'_>) -> Result<Context, String> {
        let ContextRequest { place, zone, session, history, pictures, room, asked_at, .. } = *asking;
        let most = asking.kept.most_tokens(room.tokens);
        let stored = RenderContext { place, zone, pictures };
        let recent = recent(&self.prompts, history, stored, room.without(most), asked_at)?;
        let kept = self.kept(asking, WindowStart { session, from: recent.from })?;
        let room = room.without(kept.tokens);
        let tokens = room.for_older(&recent, history, asked_at);
        let before = history.iter().rev().find(|message| message.role == MessageRole::User);
        let shown = recent.from.map(|index| EntryKey { session, index });
        let question = RecallQuery {
            chat: place.chat,
            session: Some(session),
            text: asking.text,
            before: before.map(|message| message.text.as_str()),
            asked_at,
            zone,
            shown,
            tokens,
            payer: asking.payer.clone(),
        };
        let recalled = match asking.recalls {
            true => self.reporter.or_without(self.chats.recall(&question).await, "older messages"),
            false => Default::default(),
        };
        let older = Older::within(&self.prompts, recalled, zone, tokens)?;
        let is_cut = recent.from.is_some_and(|from| from > 0) || !older.messages.is_empty();
        let has_more =
            is_cut || self.reporter.or_without(self.chats.has_others(place.chat, session), "sessions");
        Ok(Context { kept, recent, older, has_more })
    }

    /// Returns the kept entries. They are chosen again when the border of the request moves.
    fn kept(&self, asking: &ContextRequest<'_>, border: WindowStart) -> Result<KeptParts, String> {
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
