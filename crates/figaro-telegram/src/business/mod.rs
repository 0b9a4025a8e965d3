//! Replies to customers of people who connected the bot to their own account: [`Drafter`] has them drafted by turns, and
//! [`Desk`] shows the drafts to the person and sends those that they want. Called by the router and by `/business`.

mod content;
mod desk;
mod drafter;
mod refused;
mod sending;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub(crate) use self::content::{about, names_chat};
pub use self::desk::Desk;
pub(crate) use self::desk::DropReason;
pub use self::drafter::Drafter;
pub(crate) use self::drafter::SkippedCard;
pub use self::refused::RefusedConnections;
use figaro_base::ids::{ChatId, ConnectionId, MessageId, RequestId, RunId, UpdateId};
use figaro_domain::business::BusinessAccount;
use figaro_domain::conversation::ConversationId;

/// Time after which a draft begins at the latest, however often the customer writes.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// A chat of a connected account with a customer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CustomerKey {
    pub(crate) connection: ConnectionId,
    pub(crate) chat: ChatId,
}

impl CustomerKey {
    pub(crate) fn of(account: &BusinessAccount, chat: ChatId) -> Self {
        Self { connection: account.connection.clone(), chat }
    }
}

/// Drafts that are being written or sent. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Drafts(Arc<Mutex<DraftsState>>);

#[derive(Debug, Default)]
struct DraftsState {
    writing: HashMap<CustomerKey, AwaitedDraft>,
    sending: HashSet<CustomerKey>,
    /// Number of the last wait.
    rounds: u64,
}

/// Draft that is awaited or being written.
#[derive(Debug)]
pub(crate) struct AwaitedDraft {
    /// Update that is settled once the draft stands: that of the last message.
    pub(crate) update: Option<UpdateId>,
    /// Number of the last wait, so that only its pause ends it.
    round: u64,
    /// Time by which the draft begins, however often the customer writes.
    begins_by: Instant,
    /// Turn that writes it; `None` until the customer pauses.
    pub(crate) turn: Option<DraftTurn>,
}

/// Turn that writes a draft.
#[derive(Debug, Clone)]
pub(crate) struct DraftTurn {
    pub(crate) conversation: ConversationId,
    pub(crate) request: RequestId,
    /// Last message that it answers.
    pub(crate) answers: MessageId,
    run: Option<RunId>,
    /// Words that the turn would show, also those of an error.
    words: String,
    end: Option<DraftEnd>,
}

/// End of a turn that writes a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DraftEnd {
    /// The model wrote this.
    Written(String),
    /// There is no draft, for this reason in words for the person.
    Failed(String),
}

impl DraftTurn {
    pub(crate) const fn new(conversation: ConversationId, request: RequestId, answers: MessageId) -> Self {
        Self { conversation, request, answers, run: None, words: String::new(), end: None }
    }

    /// Ends before it has begun, for this reason in words for the person.
    pub(crate) fn failed(self, words: String) -> Self {
        Self { end: Some(DraftEnd::Failed(words)), ..self }
    }
}

/// Wait for the customer's pause.
#[derive(Debug)]
pub(crate) struct DraftWait {
    pub(crate) round: u64,
    /// Time by which the draft begins.
    pub(crate) begins_by: Instant,
    /// Turn that is no longer wanted.
    pub(crate) stopped: Option<DraftTurn>,
    /// Update of the message before, which the new draft answers too.
    pub(crate) earlier: Option<UpdateId>,
}

/// Reason to send a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendCause {
    /// A person pressed a button of this card.
    Press(MessageId),
    /// The standing rule of the chat.
    Rule,
}

/// Outcome of sending a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SendEnd {
    Sent,
    /// Another press is sending it.
    Busy,
    /// There is no such draft.
    Gone,
    /// The standing rule does not send it: the rule has ended or reached its bound, or the customer wrote something since.
    Held,
    /// The connection does not give the right to reply.
    NoRight,
    /// It is unknown whether it was sent.
    Unclear,
    /// Telegram refused it or could not be reached. The draft stays.
    Refused,
    /// The bot is stopping. The draft stays.
    Stopping,
}

/// A turn that has ended.
#[derive(Debug)]
pub(crate) struct EndedDraft {
    pub(crate) key: CustomerKey,
    pub(crate) answers: MessageId,
    pub(crate) end: DraftEnd,
}

/// Marks a draft as being sent until it is dropped.
#[derive(Debug)]
pub(crate) struct SendingMark {
    drafts: Drafts,
    key: CustomerKey,
}

impl Drop for SendingMark {
    fn drop(&mut self) {
        self.drafts.0.lock().sending.remove(&self.key);
    }
}

impl Drafts {
    /// Records that a chat needs a new draft, which also settles this update.
    pub(crate) fn wait(&self, key: &CustomerKey, update: Option<UpdateId>) -> DraftWait {
        let mut state = self.0.lock();
        state.rounds += 1;
        let (round, begins_by) = (state.rounds, Instant::now() + MAX_WAIT);
        let new = || AwaitedDraft { update: None, round, begins_by, turn: None };
        let drafting = state.writing.entry(key.clone()).or_insert_with(new);
        drafting.round = round;
        let earlier = update.and_then(|update| drafting.update.replace(update));
        DraftWait { round, begins_by: drafting.begins_by, stopped: drafting.turn.take(), earlier }
    }

    /// Records the turn that writes the draft. Returns `false` if the customer wrote something since this wait.
    pub(crate) fn begin(&self, key: &CustomerKey, round: u64, turn: DraftTurn) -> bool {
        let mut state = self.0.lock();
        let drafting = state.writing.get_mut(key).filter(|drafting| drafting.round == round);
        drafting.map(|drafting| drafting.turn = Some(turn)).is_some()
    }

    /// Removes the draft of a chat that is awaited or being written.
    pub(crate) fn cancel(&self, key: &CustomerKey) -> Option<AwaitedDraft> {
        self.0.lock().writing.remove(key)
    }

    /// Removes the drafts of an account that are awaited or being written.
    pub(crate) fn cancel_all(&self, connection: &ConnectionId) -> Vec<AwaitedDraft> {
        let mut state = self.0.lock();
        state
            .writing
            .extract_if(|key, _| key.connection == *connection)
            .map(|(_, drafting)| drafting)
            .collect()
    }

    /// Changes the turn of this conversation, unless it is no longer wanted.
    fn with_turn(&self, is_it: impl Fn(&DraftTurn) -> bool, change: impl FnOnce(&mut DraftTurn)) {
        let mut state = self.0.lock();
        let mut turns = state.writing.values_mut().filter_map(|drafting| drafting.turn.as_mut());
        if let Some(turn) = turns.find(|turn| is_it(turn)) {
            change(turn);
        }
    }

    /// Records the run of a turn.
    pub(crate) fn began(&self, conversation: ConversationId, run: RunId) {
        self.with_turn(|turn| turn.conversation == conversation, |turn| turn.run = Some(run));
    }

    /// Records the words that a turn shows.
    pub(crate) fn said(&self, conversation: ConversationId, words: &str) {
        self.with_turn(|turn| turn.conversation == conversation, |turn| words.clone_into(&mut turn.words));
    }

    /// Records that a turn was refused.
    pub(crate) fn declined(&self, conversation: ConversationId, words: &str) {
        let end = Some(DraftEnd::Failed(words.to_owned()));
        self.with_turn(|turn| turn.conversation == conversation, |turn| turn.end = end);
    }

    /// Records the end of a run: with the text of the model, or `None` if it failed.
    pub(crate) fn closed(&self, run: RunId, written: Option<String>) {
        let end = |turn: &DraftTurn| {
            written.map_or_else(|| DraftEnd::Failed(turn.words.clone()), DraftEnd::Written)
        };
        self.with_turn(|turn| turn.run == Some(run), |turn| turn.end = Some(end(turn)));
    }

    /// Returns how the turn of this conversation ended; `None` if it is no longer wanted, or goes on at the next start.
    pub(crate) fn ended(&self, conversation: ConversationId) -> Option<EndedDraft> {
        let state = self.0.lock();
        state.writing.iter().find_map(|(key, drafting)| {
            let turn = drafting.turn.as_ref().filter(|turn| turn.conversation == conversation)?;
            Some(EndedDraft { key: key.clone(), answers: turn.answers, end: turn.end.clone()? })
        })
    }

    /// Removes the draft of this conversation, and returns its update. If the customer wrote something since, there is none to
    /// settle.
    pub(crate) fn finish(&self, key: &CustomerKey, conversation: ConversationId) -> Option<UpdateId> {
        let mut state = self.0.lock();
        let is_it = |drafting: &AwaitedDraft| {
            drafting.turn.as_ref().is_some_and(|turn| turn.conversation == conversation)
        };
        if !state.writing.get(key).is_some_and(is_it) {
            return None;
        }
        state.writing.remove(key)?.update
    }

    /// Marks the draft of a chat as being sent; `None` if it is already.
    pub(crate) fn sending(&self, key: &CustomerKey) -> Option<SendingMark> {
        let is_new = self.0.lock().sending.insert(key.clone());
        is_new.then(|| SendingMark { drafts: self.clone(), key: key.clone() })
    }
}
