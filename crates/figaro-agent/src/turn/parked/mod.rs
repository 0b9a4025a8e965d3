//! Turns that wait for a person, with the question, its place and its deadline. The router checks here whether a
//! message answers one. This is a copy of the stored data, so that no message waits for the disk.

mod approvals;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

pub use self::waiting::ClosedBy;
use self::waiting::{Closing, WaitingTurn};
use super::queue::{Job, Mailboxes};
use crate::languages::Languages;
use figaro_base::clock::Clock;
use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::one_line;
use figaro_domain::conversation::{ConversationId, Message};
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::turn::{GoneOn, ParkedTurn};
use figaro_prompts::texts::fill;
use figaro_store::{ConversationStore, ParkedStore, StoreError};

/// Maximum number of waiting turns in a conversation.
pub(crate) const MAX_PARKED: usize = 5;
/// Additional waiting turns for questions of owners and of admins of the chat; members cannot use them.
pub(crate) const RESERVED: usize = 2;
/// Maximum number of waiting turns in a conversation for one person.
pub(crate) const MAX_PARKED_OF_PERSON: usize = 3;
/// Maximum length of the quoted question in a message about giving it up, in characters.
const NAMED_CHARS: usize = 80;
/// Pause before a retry when the store fails.
const RETRY: Duration = Duration::from_secs(30);
/// Pause after a start before anything is given up, for answers that were sent while the bot was down.
const START_PAUSE: Duration = Duration::from_secs(5);
/// Maximum wait of a message for the ids of the messages that show a question. Telegram may deliver the message before
/// it confirms those.
const SHOWN_WAIT: Duration = Duration::from_millis(300);
/// Longest sleep, because the clock of the machine may be changed.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Turns that wait for a person. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Parked(Arc<ParkedInner>);

#[derive(Debug)]
struct ParkedInner {
    store: ParkedStore,
    conversations: ConversationStore,
    clock: Clock,
    waiting: Mutex<Vec<WaitingTurn>>,
    /// Held while the copy is reloaded, so that no turn added meanwhile is lost.
    reading: tokio::sync::Mutex<()>,
    changed: Notify,
    /// Notified when a message that shows a question is known.
    has_shown: Notify,
    /// Closed questions with buttons, on their way to [`Parked::next_closed`].
    closing: Closing,
}

impl Parked {
    /// Creates an empty copy of this store; [`Self::reload`] fills it.
    #[must_use]
    pub fn new(store: ParkedStore, conversations: ConversationStore, clock: Clock) -> Self {
        let (waiting, reading, changed, has_shown, closing) = Default::default();
        let inner =
            ParkedInner { store, conversations, clock, waiting, reading, changed, has_shown, closing };
        Self(Arc::new(inner))
    }

    /// Reloads the waiting turns. Returns the answered turns that have not continued yet. `by` is the name of the
    /// person who ended the waiting of the turns that are gone.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn reload(&self, by: Option<&str>) -> Result<Vec<ParkedTurn>, StoreError> {
        let _reading = self.0.reading.lock().await;
        let all = self.0.store.all()?;
        let (answered, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|parked| parked.answer.is_some());
        let mut waiting = self.waiting();
        let known = std::mem::take(&mut *waiting);
        *waiting = open
            .into_iter()
            .map(|parked| {
                let shown = known.iter().find(|one| one.run() == parked.turn.id);
                let shown = shown.map(|one| one.shown.clone()).unwrap_or_default();
                WaitingTurn { stored: Some(parked.question_key()), shown, parked, closed_by: None }
            })
            .collect();
        let waits = |run| waiting.iter().any(|one| one.run() == run);
        let gone: Vec<WaitingTurn> = known.into_iter().filter(|one| !waits(one.run())).collect();
        let closed_by = by.map(ClosedBy::stopping);
        gone.into_iter()
            .for_each(|one| self.0.closing.close(WaitingTurn { closed_by: closed_by.clone(), ..one }));
        drop(waiting);
        self.0.changed.notify_one();
        Ok(answered)
    }

    /// Adds a parked turn, before its question is sent.
    pub(super) async fn add(&self, parked: ParkedTurn) {
        let _reading = self.0.reading.lock().await;
        let mut waiting = self.waiting();
        waiting.retain(|one| one.run() != parked.turn.id);
        waiting.push(WaitingTurn { parked, shown: Vec::new(), stored: None, closed_by: None });
        drop(waiting);
        self.0.changed.notify_one();
    }

    /// Adds a message that shows a part of a turn's question. Does nothing for a turn that is not known.
    pub fn shown(&self, run: RunId, message: MessageId) {
        let mut waiting = self.waiting();
        match waiting.iter_mut().find(|one| one.run() == run) {
            Some(one) => one.shown.push(message),
            None => self.0.closing.shown(run, message),
        }
        drop(waiting);
        self.0.has_shown.notify_waiters();
    }

    /// Returns `true` if the turn waits for a person.
    #[must_use]
    pub fn waits(&self, run: RunId) -> bool {
        self.waiting().iter().any(|one| one.run() == run)
    }

    /// Returns `true` if a further turn of this conversation may wait for this person. `is_trusted` is `true` for an
    /// owner or an admin of the chat.
    #[must_use]
    pub(crate) fn has_room(&self, conversation: ConversationId, user: &UserId, is_trusted: bool) -> bool {
        let most = if is_trusted { MAX_PARKED + RESERVED } else { MAX_PARKED };
        let waiting = self.waiting();
        let here = waiting.iter().filter(|one| one.parked.turn.conversation == conversation);
        let of_person = here.clone().filter(|one| one.parked.asked == *user).count();
        here.count() < most && of_person < MAX_PARKED_OF_PERSON
    }

    /// Returns the turn that a message answers: the one whose question it replies to; otherwise, in a private chat, the
    /// one with the latest question before this message that takes its words. Only the person asked may answer. A message with
    /// further parts, one that is not the person's own text, or one that replies to something else from the bot, is no
    /// answer.
    pub async fn answered_by(&self, part: &Inbound) -> Option<RunId> {
        let is_plain = part.attachments.is_empty() && part.forwarded_from.is_none() && part.joins.is_none();
        if part.text.trim().is_empty() || !is_plain {
            return None;
        }
        let conversation = part.place.conversation();
        let asks = |one: &&WaitingTurn| {
            let parked = &one.parked;
            let is_asked = parked.turn.conversation == conversation && parked.asked == part.speaker.user;
            is_asked && parked.question.takes(&part.text)
        };
        let find = || -> Vec<WaitingTurn> { self.waiting().iter().filter(asks).cloned().collect() };
        let mut open = self.once_shown(find).await;
        open.sort_by_key(|one| std::cmp::Reverse((one.parked.parked_at, one.run())));
        let replied = part.quotes.as_ref().and_then(|quoted| quoted.message);
        let mut newest = None;
        for one in open {
            let shown = self.shown_in(&one);
            if replied.is_some_and(|replied| shown.contains(&replied)) {
                return Some(one.run());
            }
            let is_before = shown
                .first()
                .copied()
                .zip(part.origin.message())
                .is_some_and(|(first, answer)| first < answer);
            if is_before && !part.place.is_group() && !part.reply_to_bot {
                newest.get_or_insert(one.run());
            }
        }
        newest
    }

    /// Returns the found turns as soon as all of them are shown, or after a short wait.
    async fn once_shown(&self, find: impl Fn() -> Vec<WaitingTurn>) -> Vec<WaitingTurn> {
        let deadline = Instant::now() + SHOWN_WAIT;
        loop {
            let next = self.0.has_shown.notified();
            let open = find();
            let is_shown = open.iter().all(WaitingTurn::is_shown);
            if is_shown || timeout_at(deadline, next).await.is_err() {
                return open;
            }
        }
    }

    /// Returns the ids of the messages that show a question.
    fn shown_in(&self, one: &WaitingTurn) -> Vec<MessageId> {
        let Some(key) = one.stored.filter(|_| one.shown.is_empty()) else { return one.shown.clone() };
        match self.0.conversations.entry(one.parked.place.chat, key) {
            Ok(Some(Message { telegram, .. })) => telegram,
            Ok(None) => Vec::new(),
            Err(error) => {
                tracing::error!(%error, label = error.label(), "whether a message answers a question could not be looked up");
                Vec::new()
            }
        }
    }

    /// Returns the answer of a button, if its question waits for this person; `None` if it no longer waits.
    #[must_use]
    pub fn choice(&self, run: RunId, option: usize, user: &UserId) -> Option<AnswerChoice> {
        let waiting = self.waiting();
        let parked = &waiting.iter().find(|one| one.run() == run)?.parked;
        if parked.asked != *user {
            return Some(AnswerChoice::NotAsked);
        }
        let answer = parked.question.options.get(option)?.clone();
        Some(AnswerChoice::Answer { question: parked.question.text.clone(), answer })
    }

    /// Stores a text answer. Returns the conversation in which the turn continues; `None` if it no longer waits for an
    /// answer.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn answer(&self, run: RunId, part: &Inbound) -> Result<Option<ConversationId>, StoreError> {
        let conversation = self.0.store.answer(run, part).await?;
        self.forget(run, |one| self.0.closing.close(one));
        Ok(conversation)
    }

    /// Stores the answer of a button press, like [`Self::answer`]. The handler of the press updates the message itself.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn choose(&self, run: RunId, part: &Inbound) -> Result<Option<ConversationId>, StoreError> {
        let conversation = self.0.store.answer(run, part).await?;
        self.forget(run, drop);
        Ok(conversation)
    }

    /// Takes an answered turn from the store, to continue it; `None` if it is not there.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn take_out(
        &self,
        run: RunId,
        now: DateTime<Utc>,
    ) -> Result<Option<GoneOn>, StoreError> {
        self.0.store.unpark(run, now).await
    }

    /// Gives up the turn of a conversation that was parked last, without a message. Returns the start of its question;
    /// `None` if no turn waits there. `by` is the person who stops it; they may stop approvals that others asked for
    /// only with `may_all`.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn stop(
        &self,
        conversation: ConversationId,
        by: &Speaker,
        may_all: bool,
    ) -> Result<Option<String>, StoreError> {
        let newest = {
            let waiting = self.waiting();
            let here = waiting.iter().filter(|one| one.parked.turn.conversation == conversation);
            let here = here.filter(|one| may_all || !one.is_approval_of_others(&by.user));
            let newest = here.max_by_key(|one| (one.parked.parked_at, one.run()));
            newest.map(|one| (one.run(), one_line(one.first_line(), NAMED_CHARS)))
        };
        let Some((run, question)) = newest else { return Ok(None) };
        Ok(self.give_up(run, None, Some(&by.name)).await?.then_some(question))
    }

    pub(super) async fn give_up(
        &self,
        run: RunId,
        words: Option<PendingDelivery>,
        by: Option<&str>,
    ) -> Result<bool, StoreError> {
        let given_up = self.0.store.give_up(run, words).await?;
        let closed_by = by.map(ClosedBy::stopping);
        self.forget(run, |one| self.0.closing.close(WaitingTurn { closed_by, ..one }));
        Ok(given_up)
    }

    /// Gives up turns that have waited too long, with a message to the person. Runs until the bot stops.
    pub async fn expire(self, mailboxes: Mailboxes, languages: Languages, background: TaskTracker) {
        tokio::select! {
            () = background.stopping() => return,
            () = tokio::time::sleep(START_PAUSE) => {}
        }
        loop {
            let pause = self.expire_due(&mailboxes, &languages).await;
            let slept = async {
                match pause {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = background.stopping() => return,
                () = self.0.changed.notified() => {}
                () = slept => {}
            }
        }
    }

    /// Gives up the turns that are due. Returns the time until the next one; `None` if no turn waits.
    async fn expire_due(&self, mailboxes: &Mailboxes, languages: &Languages) -> Option<Duration> {
        loop {
            let first = self.waiting().iter().min_by_key(|one| one.parked.expires_at).cloned()?.parked;
            let now = self.0.clock.now();
            if first.expires_at > now {
                return Some((first.expires_at - now).to_std().unwrap_or_default().min(MAX_SLEEP));
            }
            if let Err(error) = self.expire_one(&first, mailboxes, languages).await {
                tracing::error!(%error, label = error.label(), "a question could not be given up");
                return Some(RETRY);
            }
        }
    }

    async fn expire_one(
        &self,
        parked: &ParkedTurn,
        mailboxes: &Mailboxes,
        languages: &Languages,
    ) -> Result<(), StoreError> {
        tracing::info!(run = %parked.turn.id, "a question was not answered in time");
        let texts = languages.texts(parked.place.chat, parked.language.as_deref());
        let question = one_line(&parked.question.text, NAMED_CHARS);
        let words = match parked.question.approval {
            // The chat got another id and the approval could not be adapted to it.
            Some(_) if parked.expires_at == parked.parked_at => texts.approval_moved(),
            Some(_) => texts.approval_expired(),
            None => texts.question_expired(),
        };
        let words = fill(words, &[("question", &question)]);
        let words = PendingDelivery::new(parked.turn.id, parked.place.clone(), words, self.0.clock.now());
        let words = PendingDelivery { language: parked.language.clone(), ..words };
        if self.give_up(parked.turn.id, Some(words.clone()), None).await? {
            mailboxes.post(parked.turn.conversation, Job::Deliver(words));
        }
        Ok(())
    }

    /// Returns the next message with buttons under a closed question: it was answered in text, given up or asked again.
    /// Messages are kept until the next call, but not over a restart.
    pub async fn next_closed(&self) -> Option<ClosedQuestion> {
        loop {
            let one = self.0.closing.next().await?;
            // The buttons are under the last message.
            if let Some(message) = self.shown_in(&one).pop() {
                return Some(ClosedQuestion { parked: one.parked, message, closed_by: one.closed_by });
            }
        }
    }

    /// Removes a turn that no longer waits, and passes it to `close`.
    fn forget(&self, run: RunId, close: impl FnOnce(WaitingTurn)) {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(|one| one.run() == run);
        // Under the lock, so that no message is added in between.
        at.map(|at| waiting.remove(at)).map(close);
        drop(waiting);
        self.0.changed.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<WaitingTurn>> {
        // The data stays consistent even if a holder of the lock panics: every change is one call.
        self.0.waiting.lock()
    }
}

/// Message with the buttons of a closed question.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedQuestion {
    /// Turn that waited, with its question.
    pub parked: ParkedTurn,
    /// Last message of the question; it has the buttons.
    pub message: MessageId,
    /// Person who closed it elsewhere than with its buttons; `None` if nobody did.
    pub closed_by: Option<ClosedBy>,
}

/// Meaning of a press on an answer button; nothing is stored yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerChoice {
    /// An answer by the person asked.
    Answer {
        /// Text of the question, in Markdown.
        question: String,
        /// Text on the pressed button, which is the answer.
        answer: String,
    },
    /// The press is by somebody other than the person asked.
    NotAsked,
}
