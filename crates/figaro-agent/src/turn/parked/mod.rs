//! Turns that wait for a person: who is asked what, where, and until when. The router asks here whether a message answers
//! one; what is stored is the truth, and this a copy of it, so that no message waits for a look at the disk.

mod approvals;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use self::waiting::{Closing, Waiting};
use super::queue::{Job, Mailboxes};
use crate::languages::Languages;
use figaro_base::clock::Clock;
use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::text::one_line;
use figaro_domain::conversation::{Conversation, Message};
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::turn::{GoneOn, ParkedTurn};
use figaro_prompts::texts::fill;
use figaro_store::{ConversationStore, ParkedStore, StoreError};

/// So many turns of a conversation wait at most.
pub(crate) const MAX_PARKED: usize = 5;
/// So many more wait where an owner or an admin of the chat asks: members leave room for them.
pub(crate) const RESERVED: usize = 2;
/// So many of them wait for one person.
pub(crate) const MAX_PARKED_OF_PERSON: usize = 3;
/// Words on a question that was given up name its first characters.
const NAMED_CHARS: usize = 80;
/// While the store fails it is asked again after this time.
const RETRY: Duration = Duration::from_secs(30);
/// After a start, answers that were sent while the bot was down come in before anything is given up.
const START_PAUSE: Duration = Duration::from_secs(5);
/// Words that arrive while a question is on its way wait at most so long until it is known which message shows it: Telegram may
/// bring them before it confirms that message.
const SHOWN_WAIT: Duration = Duration::from_millis(300);
/// It is never slept longer, since the machine's clock may be set.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Turns that wait for a person. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Parked(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: ParkedStore,
    conversations: ConversationStore,
    clock: Clock,
    waiting: Mutex<Vec<Waiting>>,
    /// Held while the copy is read anew, so that none added meanwhile is lost.
    reading: tokio::sync::Mutex<()>,
    changed: Notify,
    /// A question is shown.
    has_shown: Notify,
    /// Questions with buttons that do not wait any more, on their way to [`Parked::next_closed`].
    closing: Closing,
}

impl Parked {
    /// What this store holds, once [`Self::reload`] has read it.
    #[must_use]
    pub fn new(store: ParkedStore, conversations: ConversationStore, clock: Clock) -> Self {
        let (waiting, reading, changed, has_shown, closing) = Default::default();
        Self(Arc::new(Inner { store, conversations, clock, waiting, reading, changed, has_shown, closing }))
    }

    /// Reads anew what waits; gives the turns that were answered and have not gone on yet. `by` is the name of whoever has ended
    /// the waiting of those that are gone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn reload(&self, by: Option<&str>) -> Result<Vec<ParkedTurn>, StoreError> {
        let _reading = self.0.reading.lock().await;
        let all = self.0.store.all().await?;
        let (answered, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|parked| parked.answer.is_some());
        let mut waiting = self.waiting();
        let known = std::mem::take(&mut *waiting);
        *waiting = open
            .into_iter()
            .map(|parked| {
                let shown = known.iter().find(|one| one.run() == parked.turn.id);
                let shown = shown.map(|one| one.shown.clone()).unwrap_or_default();
                Waiting { stored: Some(parked.question_key()), shown, parked, stopped_by: None }
            })
            .collect();
        let waits = |run| waiting.iter().any(|one| one.run() == run);
        let gone: Vec<Waiting> = known.into_iter().filter(|one| !waits(one.run())).collect();
        let stopped_by = by.map(str::to_owned);
        gone.into_iter()
            .for_each(|one| self.0.closing.close(Waiting { stopped_by: stopped_by.clone(), ..one }));
        drop(waiting);
        self.0.changed.notify_one();
        Ok(answered)
    }

    /// Learns of a turn that has been put away, before its question is sent.
    pub(super) async fn add(&self, parked: ParkedTurn) {
        let _reading = self.0.reading.lock().await;
        let mut waiting = self.waiting();
        waiting.retain(|one| one.run() != parked.turn.id);
        waiting.push(Waiting { parked, shown: Vec::new(), stored: None, stopped_by: None });
        drop(waiting);
        self.0.changed.notify_one();
    }

    /// Learns which message shows a part of the question of a turn; nothing happens where that does not wait.
    pub fn shown(&self, run: RunId, message: MessageId) {
        let mut waiting = self.waiting();
        match waiting.iter_mut().find(|one| one.run() == run) {
            Some(one) => one.shown.push(message),
            None => self.0.closing.shown(run, message),
        }
        drop(waiting);
        self.0.has_shown.notify_waiters();
    }

    /// Whether a turn waits.
    #[must_use]
    pub fn waits(&self, run: RunId) -> bool {
        self.waiting().iter().any(|one| one.run() == run)
    }

    /// Whether a further turn of this conversation may wait for this person; `is_trusted`: an owner, or an admin of the chat.
    #[must_use]
    pub(crate) fn has_room(&self, conversation: Conversation, user: &UserId, is_trusted: bool) -> bool {
        let most = if is_trusted { MAX_PARKED + RESERVED } else { MAX_PARKED };
        let waiting = self.waiting();
        let here = waiting.iter().filter(|one| one.parked.turn.conversation == conversation);
        let of_person = here.clone().filter(|one| one.parked.asked == *user).count();
        here.count() < most && of_person < MAX_PARKED_OF_PERSON
    }

    /// The turn that a message answers: the one whose question it replies to, or else, in a private chat, the one that asked
    /// last for free words, by a message before this one. Only the person asked may answer. What has further parts, is not the
    /// person's own words, or replies to something else that the bot said, is no answer.
    pub async fn answered_by(&self, part: &Inbound) -> Option<RunId> {
        let is_plain = part.attachments.is_empty() && part.forwarded_from.is_none() && part.joins.is_none();
        if part.text.trim().is_empty() || !is_plain {
            return None;
        }
        let conversation = part.place.conversation();
        let asks = |one: &&Waiting| {
            let parked = &one.parked;
            let is_asked = parked.turn.conversation == conversation && parked.asked == part.speaker.user;
            is_asked && parked.question.is_free
        };
        let find = || -> Vec<Waiting> { self.waiting().iter().filter(asks).cloned().collect() };
        let mut open = self.once_shown(find).await;
        open.sort_by_key(|one| std::cmp::Reverse((one.parked.parked_at, one.run())));
        let replied = part.quotes.as_ref().and_then(|quoted| quoted.message);
        let mut newest = None;
        for one in open {
            let shown = self.shown_in(&one).await;
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

    /// What waits, as soon as all of it is shown, or after a little.
    async fn once_shown(&self, find: impl Fn() -> Vec<Waiting>) -> Vec<Waiting> {
        let deadline = Instant::now() + SHOWN_WAIT;
        loop {
            let next = self.0.has_shown.notified();
            let open = find();
            let is_shown = open.iter().all(Waiting::is_shown);
            if is_shown || timeout_at(deadline, next).await.is_err() {
                return open;
            }
        }
    }

    /// The messages that show a question.
    async fn shown_in(&self, one: &Waiting) -> Vec<MessageId> {
        let Some(key) = one.stored.filter(|_| one.shown.is_empty()) else { return one.shown.clone() };
        match self.0.conversations.entry(one.parked.place.chat, key).await {
            Ok(Some(Message { telegram, .. })) => telegram,
            Ok(None) => Vec::new(),
            Err(error) => {
                tracing::error!(%error, label = error.label(), "whether a message answers a question could not be looked up");
                Vec::new()
            }
        }
    }

    /// The answer that a button stands for, if its question waits for this person; `None` if it does not wait any more.
    #[must_use]
    pub fn choice(&self, run: RunId, option: usize, user: &UserId) -> Option<Choice> {
        let waiting = self.waiting();
        let parked = &waiting.iter().find(|one| one.run() == run)?.parked;
        if parked.asked != *user {
            return Some(Choice::NotAsked);
        }
        let answer = parked.question.options.get(option)?.clone();
        Some(Choice::Answer { question: parked.question.text.clone(), answer })
    }

    /// Stores words that answer; gives the conversation in which the turn goes on, `None` if it does not wait for an answer
    /// any more.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn answer(&self, run: RunId, part: &Inbound) -> Result<Option<Conversation>, StoreError> {
        let conversation = self.0.store.answer(run, part).await?;
        self.forget(run, |one| self.0.closing.close(one));
        Ok(conversation)
    }

    /// The same for the press of a button. Whoever handles the press changes the message with the buttons.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn choose(&self, run: RunId, part: &Inbound) -> Result<Option<Conversation>, StoreError> {
        let conversation = self.0.store.answer(run, part).await?;
        self.forget(run, drop);
        Ok(conversation)
    }

    /// Goes on with a turn that was answered.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn take_out(
        &self,
        run: RunId,
        now: DateTime<Utc>,
    ) -> Result<Option<GoneOn>, StoreError> {
        self.0.store.unpark(run, now).await
    }

    /// Gives up the turn of a conversation that was put away last, without a word; gives the first words of its question, `None` if
    /// none waits there. `by` is whoever stops it, who may do so with what others want approved only where `may_all`.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn stop(
        &self,
        conversation: Conversation,
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
        let stopped_by = by.map(str::to_owned);
        self.forget(run, |one| self.0.closing.close(Waiting { stopped_by, ..one }));
        Ok(given_up)
    }

    /// Gives up what has waited too long, with a word to the person, until the bot stops.
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

    /// Gives up what is due; gives how long nothing more is.
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
        let texts = languages.texts(parked.place.chat, parked.language.as_deref()).await;
        let question = one_line(&parked.question.text, NAMED_CHARS);
        let words = match parked.question.approval {
            // Its time was ended where the numbers of its messages were.
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

    /// The next message whose buttons stand under a question that does not wait any more: it was answered in words, given
    /// up or asked again. What is closed while nobody listens is kept for the next call, not over a restart.
    pub async fn next_closed(&self) -> Option<ClosedQuestion> {
        loop {
            let one = self.0.closing.next().await?;
            // The buttons stand under its last part.
            if let Some(message) = self.shown_in(&one).await.pop() {
                return Some(ClosedQuestion { parked: one.parked, message, stopped_by: one.stopped_by });
            }
        }
    }

    /// Forgets what waits no more, and closes it unless whoever answers does that.
    fn forget(&self, run: RunId, close: impl FnOnce(Waiting)) {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(|one| one.run() == run);
        // Under the lock, so that no message is learnt of in between.
        at.map(|at| waiting.remove(at)).map(close);
        drop(waiting);
        self.0.changed.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        // A lock whose holder panicked still guards whole turns: every change is one call.
        self.0.waiting.lock()
    }
}

/// The message with the buttons of a question that does not wait any more.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedQuestion {
    /// The turn that waited, with the question.
    pub parked: ParkedTurn,
    /// The last message that shows the question: its buttons stand there.
    pub message: MessageId,
    /// The name of whoever ended the waiting without an answer; none where nobody has.
    pub stopped_by: Option<String>,
}

/// What a press of an answer's button is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// An answer, by the person asked.
    Answer {
        /// The text of the question.
        question: String,
        /// The text on the button that was pressed.
        answer: String,
    },
    /// The person who pressed is not the one who was asked.
    NotAsked,
}
