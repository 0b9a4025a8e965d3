//! Extracts facts about people from their messages, in the background. A model proposes, rules decide
//! (`memory::facts`), and the store changes in one commit that also unmarks the messages. No turn waits for it:
//! messages are read together once their writer stops writing. The mark is stored with the message, so a message from
//! before a restart is read after it, once.

mod error;
mod pending;
mod view;

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use self::error::ExtractionError;
pub use self::pending::UnreadQueue;
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
use figaro_ledger::Ledger;
use figaro_memory::RecordBooks;
use figaro_memory::facts::{Proposal, ProposalContext, plan, read, schema};
use figaro_prompts::Prompts;
use figaro_provider::trials::ModelTrials;
use figaro_provider::{AnswerSchema, Item, Request};
use figaro_store::{
    ExtractionLimits, FactStore, ProfileStore, ReadFacts, SessionStore, SettingsStore, StoreError,
    UnreadBatch,
};

/// Limits of one reading: messages, earlier messages as context, and tries per message.
const READING: ExtractionLimits = ExtractionLimits { messages: 10, before: 6, tries: 4 };
/// Maximum number of the chat's records in the prompt.
const MAX_RECORDS: usize = 60;
/// Token limit of the answer. Reasoning models need tokens before it.
const MAX_TOKENS: u32 = 2_000;
/// Maximum wait for unread messages when a person opens their memories.
const PATIENCE: Duration = Duration::from_secs(2);
/// Timeout of a model call, and of the wait for its slot.
const LIMIT: Duration = Duration::from_secs(90);
/// Pauses after consecutive failed tries, in minutes. A failure that does not count as a try has the first pause.
const PAUSES_MIN: [u64; 3] = [5, 60, 360];
/// Maximum number of people whose messages are read at the same time.
pub const AT_ONCE: usize = 2;
/// Interval between checks for messages that were left unread, for lack of budget or consent.
const AGAIN_AFTER: Duration = Duration::from_secs(300);

/// Configured limits of the memory about people.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    /// Maximum number of memories per person; 0 switches memory off.
    pub limit: usize,
    /// `true` if people must consent first.
    pub asks: bool,
}

/// Extracts facts from people's messages. Cheap to clone. The pipeline calls it when a turn has ended.
#[derive(Debug, Clone)]
pub struct Extractor {
    /// The store of memories and of unread messages.
    pub facts: FactStore,
    /// The store of profiles, with people's consent.
    pub profiles: ProfileStore,
    /// The store of sessions; gives the model of a session.
    pub sessions: SessionStore,
    /// The store of chat settings; gives the model of a chat.
    pub settings: SettingsStore,
    /// Records of chats, as context for the model.
    pub records: RecordBooks,
    /// Asks people in their private chat for consent.
    pub channel: Arc<dyn Channel>,
    /// Calls the models and records their cost.
    pub ledger: Arc<Ledger>,
    /// The prompt templates, among them those for extraction.
    pub prompts: Arc<Prompts>,
    /// Publishes the changes of memories as events of the turns.
    pub bus: Bus,
    /// Source of the time of changes and suspensions.
    pub clock: Clock,
    /// Tracks the jobs in the background; ends them at a shutdown.
    pub background: TaskTracker,
    /// Limits of the memory, from the configuration.
    pub rules: MemoryRules,
    /// People with unread messages, and the times of their next reading.
    pub pending: UnreadQueue,
    /// Unusable answers and suspensions by model.
    pub trials: ModelTrials,
    /// People who could not be asked for consent.
    pub unreached: Arc<Mutex<HashSet<UserId>>>,
    /// Limits the number of people whose messages are read at the same time, to [`AT_ONCE`].
    pub at_once: Arc<Semaphore>,
}

impl Extractor {
    /// Returns `true` if memory about people is switched on.
    #[must_use]
    pub(crate) const fn is_on(&self) -> bool {
        self.rules.limit > 0
    }

    /// Records that a person wrote a message. It is read once the person stops writing, or when there are many. Returns
    /// at once.
    pub(super) fn said(&self, user: &UserId) {
        if self.is_on() && self.pending.said(user) {
            self.attend_to(user);
        }
    }

    /// Starts reading the unread messages of a person now. Returns at once.
    pub fn look(&self, user: &UserId) {
        if self.is_on() && self.pending.hurry(user) {
            self.attend_to(user);
        }
    }

    /// Starts reading the unread messages of these people now, because their messages are about to be summarised.
    pub(super) fn look_before(&self, messages: &[Arc<Message>]) {
        let people: HashSet<_> =
            messages.iter().filter_map(|message| Some(&message.speaker.as_ref()?.user)).collect();
        people.into_iter().filter(|user| self.pending.has(user)).for_each(|user| self.look(user));
    }

    /// Reads the messages of a person who is about to see their memories. Waits for it, but only for a short time.
    pub async fn catch_up(&self, user: &UserId) {
        self.look(user);
        let reading = async {
            while self.pending.is_reading(user) {
                tokio::time::sleep(PATIENCE / 100).await;
            }
        };
        drop(tokio::time::timeout(PATIENCE, reading).await);
    }

    /// Retries messages that were left unread after a restart or for lack of budget or consent. Runs until the bot
    /// stops.
    pub async fn tend(self) {
        let mut is_start = true;
        while self.is_on() && !self.background.is_stopping() {
            match self.facts.people_with_unread() {
                Ok(people) => {
                    let is_first = std::mem::take(&mut is_start);
                    for user in people.iter().filter(|user| !self.pending.has(user)) {
                        // After the start, a turn of this person may be in progress.
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

    /// Starts the job of a person. The caller ensures that only one job per person runs at a time.
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
            if !error.is_known() {
                tracing::warn!(%error, minutes, "no facts were taken from messages; they are read again later");
            }
            self.pending.rest(user, Duration::from_secs(minutes * 60));
        }
    }

    /// Reads the next messages of a person. Returns `false` if nothing is left or nothing may be read now.
    async fn next(&self, user: &UserId) -> Result<bool, ExtractionError> {
        if !self.ledger.has_spare() {
            return Ok(false);
        }
        let profile = self.profiles.find(user)?;
        let consent = profile.map(|profile| profile.consent).unwrap_or_default();
        if consent == Consent::Refused {
            self.facts.skip_unread(user).await?;
            return Ok(false);
        }
        if !consent.allows(self.rules.asks) && consent != Consent::Unasked {
            return Ok(false);
        }
        let Some(batch) = self.facts.take_unread(user, READING)? else { return Ok(false) };
        if !consent.allows(self.rules.asks) {
            return self.ask(user, &batch).await;
        }
        let read = self.read(user, &batch).await;
        if read.as_ref().is_err_and(|error| !error.is_try()) {
            self.facts.return_unread(user, &ids(&batch))?;
        }
        read.map(|()| true)
    }

    /// Asks a person once for consent, after they wrote a message that may hold a fact.
    async fn ask(&self, user: &UserId, batch: &UnreadBatch) -> Result<bool, ExtractionError> {
        self.facts.return_unread(user, &ids(batch))?;
        // A person who could not be reached from a group is asked when they write to the bot themselves.
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

    async fn read(&self, user: &UserId, batch: &UnreadBatch) -> Result<(), ExtractionError> {
        let mut memories = self.facts.of_person(user)?;
        memories.retain(|memory| memory.is_shown_to(user, batch.chat));
        let proposals = self.propose(user, batch, &memories).await?;
        let known = ProposalContext { chat: batch.chat, messages: &batch.messages, memories: &memories };
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

    /// Returns the model's proposals. An unusable answer is sent back once for correction.
    async fn propose(
        &self,
        user: &UserId,
        batch: &UnreadBatch,
        known: &[Memory],
    ) -> Result<Vec<Proposal>, ExtractionError> {
        let model = self.model(batch)?;
        if let Some(until) = self.trials.rests(&model, self.clock.now()) {
            return Err(ExtractionError::Resting(until));
        }
        let mut request = self.request(&model, user, batch, known)?;
        let payer = Payer::new(batch.chat, user.clone());
        let answer = self.ask_model(&model, &request, &payer).await?;
        let complaint = match read(&answer) {
            Ok(proposals) => {
                self.trials.fits(&model);
                return Ok(proposals);
            }
            Err(complaint) => complaint,
        };
        self.note_misfit(&model).map_or(Ok(()), |until| Err(ExtractionError::Resting(until)))?;
        request.items.push(Item::Assistant { text: answer, calls: Vec::new(), private: Vec::new() });
        request
            .items
            .push(Item::user(format!("That cannot be read: {complaint}. Reply with the JSON alone.")));
        let answer = self.ask_model(&model, &request, &payer).await?;
        let proposals = read(&answer).map_err(ExtractionError::Answer);
        if proposals.is_ok() {
            self.trials.fits(&model);
        } else {
            self.note_misfit(&model);
        }
        proposals
    }

    /// Records an unusable answer. Returns the end of the suspension if the model is suspended from now on.
    fn note_misfit(&self, model: &ModelName) -> Option<DateTime<Utc>> {
        let until = self.trials.misfits(model, self.clock.now())?;
        tracing::warn!(%model, %until, "the model cannot be used to take facts from messages; it is left alone");
        Some(until)
    }

    async fn ask_model(
        &self,
        model: &ModelName,
        request: &Request,
        payer: &Payer,
    ) -> Result<String, ExtractionError> {
        let written = self.ledger.background_text(model, request.clone(), payer.clone(), LIMIT).await?;
        written.ok_or(ExtractionError::Cut)
    }

    /// Returns the model request for a batch of messages.
    fn request(
        &self,
        model: &ModelName,
        user: &UserId,
        batch: &UnreadBatch,
        known: &[Memory],
    ) -> Result<Request, ExtractionError> {
        let view = view(user, batch, known, record_lines(&self.records, batch.chat)?);
        let instructions = self.prompts.extraction().map_err(ExtractionError::Prompt)?;
        let text = self.prompts.unread(&view).map_err(ExtractionError::Prompt)?;
        Ok(Request {
            settings: Generation { max_tokens: Some(MAX_TOKENS), ..Generation::default() },
            schema: Some(AnswerSchema { name: "memories".to_owned(), schema: schema() }),
            ..Request::new(model.model.clone(), instructions, vec![Item::user(text)])
        })
    }

    /// Returns the model of the session. Its messages are not sent to any other model.
    fn model(&self, batch: &UnreadBatch) -> Result<ModelName, ExtractionError> {
        let config = self.settings.chat_config(batch.chat)?;
        let session = self.sessions.find(batch.session)?;
        let chosen = session.and_then(|session| session.model).or(config.model);
        Ok(chosen.unwrap_or_else(|| self.ledger.models.default_model().clone()))
    }

    fn with_unreached<T>(&self, work: impl FnOnce(&mut HashSet<UserId>) -> T) -> T {
        work(&mut self.unreached.lock())
    }
}

/// Returns one line per record of the chat; none if the chat has no context pack.
fn record_lines(books: &RecordBooks, chat: ChatId) -> Result<Vec<String>, StoreError> {
    let book = books.in_chat(chat)?;
    let packs = books.prompts.packs();
    let entries = book.entries();
    Ok(entries.iter().take(MAX_RECORDS).map(|entry| packs.rendering().line(&book, entry)).collect())
}

fn ids(batch: &UnreadBatch) -> Vec<EntryId> {
    batch.messages.iter().map(|(unread, _)| unread.id).collect()
}
