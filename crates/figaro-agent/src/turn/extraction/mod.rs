//! Takes facts about people from what they say, in the background: a model proposes, rules decide (`memory::facts`), and the
//! store changes in one commit that takes the marks of the messages away. No turn waits for it: messages are read together once
//! their writer is quiet. A mark is written with the message, so that what was said before a stop is read after it, once.

mod misfits;
mod pending;
mod view;

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

pub use self::misfits::Misfits;
pub use self::pending::Pending;
use self::view::view;
use crate::channel::Channel;
use crate::delivery::{Bus, TurnEventKind};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, EntryId, RunId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_domain::conversation::Message;
use figaro_domain::facts::{FactChange, FactCounts};
use figaro_domain::generation::Generation;
use figaro_domain::memory::Memory;
use figaro_domain::model::ModelName;
use figaro_domain::profile::Consent;
use figaro_domain::usage::Payer;
use figaro_ledger::{Ledger, LedgerError};
use figaro_memory::RecordBooks;
use figaro_memory::facts::{Known, Proposal, plan, read, schema};
use figaro_prompts::Prompts;
use figaro_provider::{AnswerSchema, Item, Request};
use figaro_store::{
    FactStore, ProfileStore, ReadFacts, Reading, SessionStore, SettingsStore, StoreError, UnreadBatch,
};

/// So much is read at once.
const READING: Reading = Reading { messages: 10, before: 6, tries: 4 };
/// So many records of the chat are seen with them.
const MAX_RECORDS: usize = 60;
/// The bound on the answer; models that reason do so before it.
const MAX_TOKENS: u32 = 2_000;
/// So long somebody who looks at their memories waits for what they have just said.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(90);
/// After a try in vain so many minutes pass, each time more; after a failure that is no try as many as after the first.
const PAUSES_MIN: [u64; 3] = [5, 60, 360];
/// So many people's messages are read at the same time.
pub const AT_ONCE: usize = 2;
/// What was left, because the budget was used up or nobody has agreed, is looked at again so often.
const AGAIN_AFTER: Duration = Duration::from_secs(300);

/// The records of a chat that facts are seen together with. There are none in a chat that has chosen no context pack.
#[async_trait]
pub trait Records: Debug + Send + Sync {
    /// A line for each.
    async fn lines(&self, chat: ChatId) -> Result<Vec<String>, StoreError>;
}

#[async_trait]
impl Records for RecordBooks {
    async fn lines(&self, chat: ChatId) -> Result<Vec<String>, StoreError> {
        let book = self.in_chat(chat).await?;
        let packs = self.prompts.packs();
        let entries = book.entries();
        Ok(entries.iter().take(MAX_RECORDS).map(|entry| packs.rendering().line(&book, entry)).collect())
    }
}

/// What is kept about people, by the settings.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    /// The most memories of a person; 0 for none.
    pub limit: usize,
    /// People are asked before.
    pub asks: bool,
}

/// Takes facts from what people say. Cheap to clone; the pipeline calls it when a turn has ended.
#[derive(Debug, Clone)]
pub struct Extractor {
    /// The memories, and the messages that are still to be read.
    pub facts: FactStore,
    /// What people have said to it.
    pub profiles: ProfileStore,
    /// The models of sessions.
    pub sessions: SessionStore,
    /// The models of chats.
    pub settings: SettingsStore,
    /// The records of chats.
    pub records: Arc<dyn Records>,
    /// Asks people whether they agree.
    pub channel: Arc<dyn Channel>,
    /// The way to the models.
    pub ledger: Arc<Ledger>,
    /// What the model is told.
    pub prompts: Arc<Prompts>,
    /// Publishes what has changed.
    pub bus: Bus,
    /// Gives the current time.
    pub clock: Clock,
    /// Tracks the jobs: they end when it is asked to stop.
    pub background: TaskTracker,
    /// What is kept.
    pub rules: MemoryRules,
    /// The people whose messages are to be read.
    pub pending: Pending,
    /// How well each model did.
    pub misfits: Misfits,
    /// The people who could not be asked.
    pub unreached: Arc<Mutex<HashSet<UserId>>>,
    /// Bounds how many are read at the same time.
    pub at_once: Arc<Semaphore>,
}

/// Why messages were not read.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] LedgerError),
    #[error("{0}")]
    Prompt(String),
    #[error("the answer is not what was asked for: {0}")]
    Answer(String),
    #[error("the answer was withheld, or ended in the middle")]
    Cut,
    /// The model has given no answer of use for a while.
    #[error("its answers were of no use; it is left alone until {0}")]
    Resting(DateTime<Utc>),
}

impl Failed {
    /// `true` for an answer of no use and for one that never came: they count as a try.
    const fn is_try(&self) -> bool {
        matches!(self, Self::Answer(_) | Self::Cut | Self::Store(_) | Self::Model(LedgerError::Slow))
    }
}

impl Extractor {
    /// Whether anything is remembered about people.
    #[must_use]
    pub(crate) const fn is_on(&self) -> bool {
        self.rules.limit > 0
    }

    /// Notes that a person has said something: it is read once the person is quiet, or when there is much. Returns at once.
    pub(super) fn said(&self, user: &UserId) {
        if self.is_on() && self.pending.said(user) {
            self.attend_to(user);
        }
    }

    /// Has the messages of a person read now that were not read yet. Returns at once.
    pub fn look(&self, user: &UserId) {
        if self.is_on() && self.pending.hurry(user) {
            self.attend_to(user);
        }
    }

    /// Has what these people have said read now, where it still waits: their messages are about to be summarised.
    pub(super) fn look_before(&self, messages: &[Arc<Message>]) {
        let people: HashSet<_> =
            messages.iter().filter_map(|message| Some(&message.speaker.as_ref()?.user)).collect();
        people.into_iter().filter(|user| self.pending.has(user)).for_each(|user| self.look(user));
    }

    /// Has the messages of a person read now, as they want to see what is remembered; waits for it, but not long.
    pub async fn catch_up(&self, user: &UserId) {
        self.look(user);
        let reading = async {
            while self.pending.is_reading(user) {
                tokio::time::sleep(PATIENCE / 100).await;
            }
        };
        drop(tokio::time::timeout(PATIENCE, reading).await);
    }

    /// Goes on with what a stop, a used budget or a missing consent has left, until the bot stops.
    pub async fn tend(self) {
        let mut is_start = true;
        while self.is_on() && !self.background.is_stopping() {
            match self.facts.people_with_unread().await {
                Ok(people) => {
                    let is_first = std::mem::take(&mut is_start);
                    for user in people.iter().filter(|user| !self.pending.has(user)) {
                        // Later on somebody's turn may be under way.
                        if is_first { self.look(user) } else { self.said(user) }
                    }
                }
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "what is still to be read could not be looked up");
                }
            }
            tokio::select! {
                () = self.background.stopping() => {}
                () = tokio::time::sleep(AGAIN_AFTER) => {}
            }
        }
    }

    /// Of one person one job runs at a time.
    fn attend_to(&self, user: &UserId) {
        let (this, user) = (self.clone(), user.clone());
        self.background.spawn("extraction", async move {
            tokio::select! {
                () = this.background.stopping() => {}
                () = this.work(&user) => {}
            }
        });
    }

    async fn work(&self, user: &UserId) {
        let mut tries = 0;
        loop {
            self.pending.due(user).await;
            let Ok(_permit) = self.at_once.acquire().await else { return };
            let error = match self.next(user).await {
                Ok(has_more) => {
                    tries = 0;
                    if has_more {
                        self.pending.hurry(user);
                    } else if self.pending.end(user) {
                        return;
                    }
                    continue;
                }
                Err(error) => error,
            };
            let minutes = PAUSES_MIN.get(tries).or(PAUSES_MIN.last()).copied().unwrap_or_default();
            let minutes = if error.is_try() { minutes } else { PAUSES_MIN[0] };
            tries += usize::from(error.is_try());
            if !matches!(error, Failed::Resting(_)) {
                tracing::warn!(%error, minutes, "no facts were taken from messages; they are read again later");
            }
            self.pending.rest(user, Duration::from_secs(minutes * 60));
        }
    }

    /// Reads the next messages of a person; `false` if nothing is left or nothing may be read now.
    async fn next(&self, user: &UserId) -> Result<bool, Failed> {
        if !self.ledger.has_spare() {
            return Ok(false);
        }
        let profile = self.profiles.find(user).await?;
        let consent = profile.map(|profile| profile.consent).unwrap_or_default();
        if consent == Consent::Refused {
            self.facts.skip_unread(user).await?;
            return Ok(false);
        }
        if !consent.allows(self.rules.asks) && consent != Consent::Unasked {
            return Ok(false);
        }
        let Some(batch) = self.facts.take_unread(user, READING).await? else { return Ok(false) };
        if !consent.allows(self.rules.asks) {
            return self.ask(user, &batch).await;
        }
        let read = self.read(user, &batch).await;
        if read.as_ref().is_err_and(|error| !error.is_try()) {
            self.facts.return_unread(user, &ids(&batch)).await?;
        }
        read.map(|()| true)
    }

    /// Asks a person whether facts may be remembered, as they have said something that may be one; they are asked once.
    async fn ask(&self, user: &UserId, batch: &UnreadBatch) -> Result<bool, Failed> {
        self.facts.return_unread(user, &ids(batch)).await?;
        // Who could not be written to from a group is asked once they write to the bot themselves.
        if batch.chat.is_group() && self.with_unreached(|unreached| unreached.contains(user)) {
            return Ok(false);
        }
        if self.channel.ask_consent(user).await {
            self.profiles.set_consent(user, Consent::Asked, self.clock.now()).await?;
        } else {
            self.with_unreached(|unreached| unreached.insert(user.clone()));
        }
        Ok(false)
    }

    async fn read(&self, user: &UserId, batch: &UnreadBatch) -> Result<(), Failed> {
        let mut memories = self.facts.of_person(user).await?;
        memories.retain(|memory| memory.is_shown_to(user, batch.chat));
        let proposals = self.propose(user, batch, &memories).await?;
        let known = Known { chat: batch.chat, messages: &batch.messages, memories: &memories };
        let planned = plan(known, &proposals);
        for (at, refusal) in &planned.refused {
            tracing::debug!(at, ?refusal, "what a model proposed to remember was refused");
        }
        let counts = self.end(user, batch, planned.changes).await?;
        let FactCounts { added, changed, removed } = counts.unwrap_or_default();
        let turns: HashSet<RunId> = batch.messages.iter().filter_map(|(_, message)| message.turn).collect();
        for run in turns {
            let user = user.clone();
            self.bus.publish(run, TurnEventKind::MemoryUpdated { user, added, changed, removed });
        }
        Ok(())
    }

    async fn end(
        &self,
        user: &UserId,
        batch: &UnreadBatch,
        changes: Vec<FactChange>,
    ) -> Result<Option<FactCounts>, StoreError> {
        let facts = ReadFacts { read: ids(batch), changes, limit: self.rules.limit, now: self.clock.now() };
        self.facts.end_reading(user, facts).await
    }

    /// What a model proposes. An answer that cannot be read is complained of, once.
    async fn propose(
        &self,
        user: &UserId,
        batch: &UnreadBatch,
        known: &[Memory],
    ) -> Result<Vec<Proposal>, Failed> {
        let model = self.model(batch).await?;
        if let Some(until) = self.misfits.rests(&model, self.clock.now()) {
            return Err(Failed::Resting(until));
        }
        let mut request = self.request(&model, user, batch, known).await?;
        let payer = Payer { chat: batch.chat, user: user.clone() };
        let answer = self.ask_model(&model, &request, &payer).await?;
        let complaint = match read(&answer) {
            Ok(proposals) => {
                self.misfits.fits(&model);
                return Ok(proposals);
            }
            Err(complaint) => complaint,
        };
        self.note_misfit(&model).map_or(Ok(()), |until| Err(Failed::Resting(until)))?;
        request.items.push(Item::Assistant { text: answer, calls: Vec::new(), private: Vec::new() });
        request
            .items
            .push(Item::user(format!("That cannot be read: {complaint}. Reply with the JSON alone.")));
        let answer = self.ask_model(&model, &request, &payer).await?;
        let proposals = read(&answer).map_err(Failed::Answer);
        if proposals.is_ok() {
            self.misfits.fits(&model);
        } else {
            self.note_misfit(&model);
        }
        proposals
    }

    /// Notes an answer that could not be used; gives until when the model is left alone from now on, if it is.
    fn note_misfit(&self, model: &ModelName) -> Option<DateTime<Utc>> {
        let until = self.misfits.misfits(model, self.clock.now())?;
        tracing::warn!(%model, %until, "the model cannot be used to take facts from messages; it is left alone");
        Some(until)
    }

    async fn ask_model(&self, model: &ModelName, request: &Request, payer: &Payer) -> Result<String, Failed> {
        let written = self.ledger.background_text(model, request.clone(), payer.clone(), LIMIT).await?;
        written.text.ok_or(Failed::Cut)
    }

    /// What a model is asked.
    async fn request(
        &self,
        model: &ModelName,
        user: &UserId,
        batch: &UnreadBatch,
        known: &[Memory],
    ) -> Result<Request, Failed> {
        let view = view(user, batch, known, self.records.lines(batch.chat).await?);
        let instructions = self.prompts.extraction().map_err(Failed::Prompt)?;
        let text = self.prompts.unread(&view).map_err(Failed::Prompt)?;
        Ok(Request {
            settings: Generation { max_tokens: Some(MAX_TOKENS), ..Generation::default() },
            schema: Some(AnswerSchema { name: "memories".to_owned(), schema: schema() }),
            ..Request::new(model.model.clone(), instructions, vec![Item::user(text)])
        })
    }

    /// The model that answers in the session: what is said there goes to no other.
    async fn model(&self, batch: &UnreadBatch) -> Result<ModelName, Failed> {
        let (config, session) =
            futures::try_join!(self.settings.chat_config(batch.chat), self.sessions.find(batch.session),)?;
        let chosen = session.and_then(|session| session.model).or(config.model);
        Ok(chosen.unwrap_or_else(|| self.ledger.models.default_model().clone()))
    }

    fn with_unreached<T>(&self, work: impl FnOnce(&mut HashSet<UserId>) -> T) -> T {
        work(&mut self.unreached.lock())
    }
}

fn ids(batch: &UnreadBatch) -> Vec<EntryId> {
    batch.messages.iter().map(|(unread, _)| unread.id).collect()
}
