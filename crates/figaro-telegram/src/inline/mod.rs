//! Answers in chats that the bot is no member of: to inline queries (`@bot question`) and to guest messages. Each is one
//! message, known by its `inline_message_id`, that grows by edits. Nothing of them is stored but what they cost.

mod content;
mod offers;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

pub(crate) use self::content::{InlineContent, quotation, with_question};
pub(crate) use self::offers::{Offers, guest_result};
use crate::views::InlineQueryView;
use figaro_base::ids::{RequestId, RunId, UpdateId, UserId};
use figaro_domain::conversation::ConversationId;
use figaro_markup::Formatted;

/// Number of the newest typed questions that a button can still have answered.
const MAX_TYPED: usize = 500;

/// Answers that are being written, and questions that people type. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub struct InlineAnswers(Arc<Mutex<InlineState>>);

#[derive(Debug, Default)]
struct InlineState {
    writing: HashMap<ConversationId, Arc<InlineAnswer>>,
    /// Newest query of each person that is being answered; `None` once it is taken.
    typing: HashMap<UserId, Option<InlineQueryView>>,
    typed: VecDeque<TypedQuestion>,
    last: u32,
}

/// Question that was offered to be asked.
#[derive(Debug)]
struct TypedQuestion {
    number: u32,
    user: UserId,
    words: String,
}

/// An answer that is being written.
#[derive(Debug)]
pub(crate) struct InlineAnswer {
    /// `inline_message_id` of its message.
    pub(crate) message: String,
    /// Update that asks for it.
    pub(crate) update: UpdateId,
    /// Conversation of its turn, which no other question shares.
    pub(crate) conversation: ConversationId,
    pub(crate) asker: UserId,
    /// Request of the question, by which it leaves the queue.
    pub(crate) request: RequestId,
    /// IETF tag of the asker's language.
    pub(crate) language: Option<String>,
    /// Question as it stands above the answer; empty if it stands in a message of its own.
    pub(crate) question: Formatted,
    run: Mutex<Option<RunId>>,
    is_stopped: AtomicBool,
    is_shown: AtomicBool,
}

impl InlineAnswer {
    pub(crate) fn new(
        message: String,
        update: UpdateId,
        conversation: ConversationId,
        asker: UserId,
    ) -> Self {
        Self {
            message,
            update,
            conversation,
            asker,
            request: RequestId::default(),
            language: None,
            question: Formatted::default(),
            run: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            is_shown: AtomicBool::new(false),
        }
    }

    /// Records that the asker stopped the answer.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Records that the message shows how the question ended.
    fn shown(&self) {
        self.is_shown.store(true, Ordering::Relaxed);
    }
}

impl InlineAnswers {
    /// Records an answer that a turn is about to write. Returns `false` if its message has one already.
    pub(crate) fn begin(&self, answer: Arc<InlineAnswer>) -> bool {
        let mut state = self.0.lock();
        let is_new = state.writing.values().all(|other| other.message != answer.message);
        if is_new {
            state.writing.insert(answer.conversation, answer);
        }
        is_new
    }

    /// Returns the answer that is being written in this conversation.
    pub(crate) fn of(&self, conversation: ConversationId) -> Option<Arc<InlineAnswer>> {
        self.0.lock().writing.get(&conversation).cloned()
    }

    /// Returns the answer that is being written in this message.
    pub(crate) fn in_message(&self, message: &str) -> Option<Arc<InlineAnswer>> {
        self.0.lock().writing.values().find(|answer| answer.message == message).cloned()
    }

    /// Records the turn of an answer. Returns the answer.
    pub(crate) fn began(&self, conversation: ConversationId, run: RunId) -> Option<Arc<InlineAnswer>> {
        let answer = self.of(conversation)?;
        *answer.run.lock() = Some(run);
        Some(answer)
    }

    /// Returns the answer that this turn is writing.
    pub(crate) fn of_run(&self, run: RunId) -> Option<Arc<InlineAnswer>> {
        self.0.lock().writing.values().find(|answer| *answer.run.lock() == Some(run)).cloned()
    }

    /// Forgets an answer. Returns its update if the message shows how the question ended; otherwise the next start asks it
    /// again.
    #[must_use]
    pub fn end(&self, conversation: ConversationId) -> Option<UpdateId> {
        let answer = self.0.lock().writing.remove(&conversation)?;
        answer.is_shown.load(Ordering::Relaxed).then_some(answer.update)
    }

    /// Takes a query that a person has typed. Returns `true` if the caller is to answer this person's queries until
    /// [`Self::next_query`] returns `None`: one at a time, and only the newest.
    pub(crate) fn types(&self, user: UserId, query: InlineQueryView) -> bool {
        self.0.lock().typing.insert(user, Some(query)).is_none()
    }

    /// Returns the newest query of a person that has no answer.
    pub(crate) fn next_query(&self, user: &UserId) -> Option<InlineQueryView> {
        let mut state = self.0.lock();
        let next = state.typing.get_mut(user)?.take();
        if next.is_none() {
            state.typing.remove(user);
        }
        next
    }

    /// Keeps a question that a button can ask, and returns its number.
    fn offer(&self, user: UserId, words: String) -> u32 {
        let mut state = self.0.lock();
        let number = state.last.wrapping_add(1);
        state.last = number;
        if state.typed.len() >= MAX_TYPED {
            state.typed.pop_front();
        }
        state.typed.push_back(TypedQuestion { number, user, words });
        number
    }

    /// Returns the question with this number and its writer; `None` if it is too old.
    pub(crate) fn offered(&self, number: u32) -> Option<(UserId, String)> {
        let state = self.0.lock();
        let typed = state.typed.iter().rev().find(|typed| typed.number == number)?;
        Some((typed.user.clone(), typed.words.clone()))
    }
}
