//! Turns that wait for a person: who is asked what, where, and until when. The router asks here whether a message answers
//! one; what is stored is the truth, and this a copy of it, so that no message waits for a look at the disk.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::delivery::Delivery;
use crate::domain::conversation::{Conversation, Message};
use crate::domain::delivery::PendingDelivery;
use crate::domain::message::Inbound;
use crate::domain::turn::{ActiveTurn, ParkedTurn};
use crate::ids::{RunId, UserId};
use crate::prompts::texts::{Locales, fill};
use crate::shutdown::TaskTracker;
use crate::store::{ConversationStore, ParkedStore, StoreError};
use crate::text::one_line;

/// So many turns of a conversation wait at most.
pub const MAX_PARKED: usize = 5;
/// Words on a question that was given up name its first characters.
const NAMED_CHARS: usize = 80;
/// While the store fails it is asked again after this time.
const RETRY: std::time::Duration = std::time::Duration::from_secs(30);
/// It is never slept longer, since the machine's clock may be set.
const MAX_SLEEP: std::time::Duration = std::time::Duration::from_secs(60);

/// Turns that wait for a person. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Parked(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn ParkedStore>,
    conversations: Arc<dyn ConversationStore>,
    clock: Clock,
    /// The turns that wait, oldest first.
    waiting: Mutex<Vec<ParkedTurn>>,
    changed: Notify,
}

impl Parked {
    /// What this store holds, once [`Self::reload`] has read it.
    #[must_use]
    pub fn new(store: Arc<dyn ParkedStore>, conversations: Arc<dyn ConversationStore>, clock: Clock) -> Self {
        let (waiting, changed) = (Mutex::default(), Notify::new());
        Self(Arc::new(Inner { store, conversations, clock, waiting, changed }))
    }

    /// Reads anew what waits; gives the turns that were answered and have not gone on yet.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn reload(&self) -> Result<Vec<ParkedTurn>, StoreError> {
        let mut all = self.0.store.parked_turns().await?;
        all.sort_by_key(|parked| (parked.expires_at, parked.turn.id));
        let (answered, waiting) = all.into_iter().partition(|parked| parked.answer.is_some());
        *self.waiting() = waiting;
        self.0.changed.notify_one();
        Ok(answered)
    }

    /// Whether a further turn of this conversation may wait.
    #[must_use]
    pub fn has_room(&self, conversation: Conversation) -> bool {
        let is_here = |parked: &&ParkedTurn| parked.turn.conversation == conversation;
        self.waiting().iter().filter(is_here).count() < MAX_PARKED
    }

    /// The turn that a message answers: in a private chat the newest that takes free words, in a group the one whose question
    /// the message replies to. Only the person asked may answer.
    pub async fn answered_by(&self, part: &Inbound) -> Option<RunId> {
        if part.text.trim().is_empty() || !part.attachments.is_empty() || part.forwarded_from.is_some() {
            return None;
        }
        let conversation = part.place.conversation();
        let asks = |parked: &&ParkedTurn| {
            let is_asked = parked.turn.conversation == conversation && parked.asked == part.speaker.user;
            is_asked && parked.question.is_free
        };
        let open: Vec<ParkedTurn> = self.waiting().iter().rev().filter(asks).cloned().collect();
        if !part.place.is_group() {
            return open.into_iter().max_by_key(|parked| parked.turn.id).map(|parked| parked.turn.id);
        }
        let replied = part.quotes.as_ref()?.message?;
        for parked in open {
            let question = self.0.conversations.entry(part.place.chat, parked.question_key()).await;
            match question {
                Ok(Some(Message { telegram, .. })) if telegram.contains(&replied) => {
                    return Some(parked.turn.id);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "whether a reply answers a question could not be looked up");
                }
            }
        }
        None
    }

    /// The answer that a button stands for, if its question waits for this person; `None` if it does not wait any more.
    #[must_use]
    pub fn choice(&self, run: RunId, option: usize, user: &UserId) -> Option<Choice> {
        let waiting = self.waiting();
        let parked = waiting.iter().find(|parked| parked.turn.id == run)?;
        if parked.asked != *user {
            return Some(Choice::NotAsked);
        }
        let answer = parked.question.options.get(option)?.clone();
        Some(Choice::Answer { question: parked.question.text.clone(), answer })
    }

    /// Stores an answer; `false` if the turn does not wait for one any more.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn answer(&self, run: RunId, part: &Inbound) -> Result<bool, StoreError> {
        let is_first = self.0.store.answer_parked(run, part).await?;
        self.forget(run);
        Ok(is_first)
    }

    /// Goes on with a turn that was answered; gives its record and its question.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn take_out(
        &self,
        run: RunId,
        now: DateTime<Utc>,
    ) -> Result<Option<(ActiveTurn, Vec<Message>)>, StoreError> {
        self.0.store.unpark(run, now).await
    }

    /// Gives up the turn of a conversation that was put away last, without a word; `false` if none waits there.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn stop(&self, conversation: Conversation) -> Result<bool, StoreError> {
        let of_here = |parked: &&ParkedTurn| parked.turn.conversation == conversation;
        let newest = self.waiting().iter().filter(of_here).map(|parked| parked.turn.id).max();
        let Some(run) = newest else { return Ok(false) };
        self.give_up(run, None).await
    }

    pub(super) async fn give_up(
        &self,
        run: RunId,
        words: Option<PendingDelivery>,
    ) -> Result<bool, StoreError> {
        let given_up = self.0.store.give_up_parked(run, words).await?;
        self.forget(run);
        Ok(given_up)
    }

    /// Gives up what has waited too long, with a word to the person, until the bot stops.
    pub async fn expire(self, delivery: Arc<dyn Delivery>, locales: Arc<Locales>, tasks: TaskTracker) {
        loop {
            let now = self.0.clock.now();
            let first = self.waiting().first().map(|parked| (parked.expires_at, parked.clone()));
            let sleep = match first {
                None => None,
                Some((at, parked)) if at <= now => {
                    match self.expire_one(&parked, &*delivery, &locales).await {
                        Ok(()) => continue,
                        Err(error) => {
                            tracing::error!(%error, label = error.label(), "a question could not be given up");
                            Some(RETRY)
                        }
                    }
                }
                Some((at, _)) => Some((at - now).to_std().unwrap_or_default().min(MAX_SLEEP)),
            };
            let slept = async {
                match sleep {
                    Some(sleep) => tokio::time::sleep(sleep).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = tasks.stopping() => return,
                () = self.0.changed.notified() => {}
                () = slept => {}
            }
        }
    }

    async fn expire_one(
        &self,
        parked: &ParkedTurn,
        delivery: &dyn Delivery,
        locales: &Locales,
    ) -> Result<(), StoreError> {
        tracing::info!(run = %parked.turn.id, "a question was not answered in time");
        let texts = locales.of(parked.language.as_deref());
        let question = one_line(&parked.question.text, NAMED_CHARS);
        let words = PendingDelivery {
            language: parked.language.clone(),
            ..PendingDelivery::new(
                parked.turn.id,
                parked.place.clone(),
                fill(&texts.question_expired, &[("question", &question)]),
                self.0.clock.now(),
            )
        };
        if self.give_up(parked.turn.id, Some(words.clone())).await? {
            delivery.deliver(words, &tokio_util::sync::CancellationToken::new()).await;
        }
        Ok(())
    }

    fn forget(&self, run: RunId) {
        self.waiting().retain(|parked| parked.turn.id != run);
        self.0.changed.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<ParkedTurn>> {
        // A lock whose holder panicked still guards whole turns: every change is one call.
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
