//! Summarises sessions in the background, without delaying turns. The work follows from the store alone: the messages
//! that no summary covers, and the summaries that must be renewed. So it continues after a restart, and nothing is done
//! twice. The pipeline reports each turn that has ended.

mod ask;
mod now;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use parking_lot::Mutex;

pub use self::ask::Summarizer;
use self::ask::{SummaryDraft, SummaryError};
pub use self::now::{NextSummary, SummaryRange, Unmade};
use super::extraction::Extractor;
use figaro_base::clock::Clock;
use figaro_base::ids::SessionId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::budget::BudgetAxis;
use figaro_domain::conversation::Message;
use figaro_domain::summary::{MessageRange, Summary, SummaryJob, SummaryRules, extract, is_said, next_run};
use figaro_domain::turn::ActiveTurn;
use figaro_ledger::LedgerError;
use figaro_store::{StoreError, SummaryStore, Unsummarised};

/// Minimum number of uncovered messages that are read at a time.
const READ: usize = 300;
/// Maximum number of jobs that are loaded at a time; the next constant is the number of parallel jobs.
const JOBS: usize = 500;
const AT_ONCE: usize = 2;
/// A session is checked after every `rules.every / LOOKS` turns. A turn has at least two messages.
const LOOKS: u32 = 16;
/// Number of failed tries after which a summary is extracted without a model.
const TRIES: u8 = 6;
/// Pauses after consecutive failed tries, in minutes.
const PAUSES_MIN: [i64; 5] = [1, 5, 30, 120, 360];
/// Maximum pause of a session without a budget: the limit may be raised meanwhile.
const MAX_REST: TimeDelta = TimeDelta::hours(1);
/// Maximum backlog of a session, in summaries, that is sent to a model. Older messages, such as from a store of an
/// older version, are not worth the cost: they are extracted without a model.
const BACKLOG: u32 = 20;
/// Interval between checks if no work is reported.
const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(10);

/// Summarises sessions. Cheap to clone; clones share the data.
#[derive(Debug, Clone)]
pub struct Summariser {
    /// The store of summaries and their jobs.
    pub store: SummaryStore,
    /// Asks a model for a summary.
    pub asking: Summarizer,
    /// Extracts facts from messages, at the latest before they are summarised.
    pub facts: Extractor,
    /// Rules for when a session is summarised.
    pub rules: SummaryRules,
    /// Source of the time of jobs and summaries.
    pub clock: Clock,
    /// Ends the work at a shutdown.
    pub background: TaskTracker,
    /// Number of turns that have ended since the last check, by session.
    pub ended: Arc<Mutex<HashMap<SessionId, u32>>>,
}

impl Summariser {
    /// Counts a turn that has ended, and requests a check of its session when enough have. A check reads all uncovered
    /// messages. Returns at once.
    pub(super) fn after(&self, turn: &ActiveTurn) {
        if self.rules.every > 0 {
            let many = self.rules.every / LOOKS;
            let is_due = self.with_ended(|ended| {
                let turns = ended.entry(turn.session).or_default();
                *turns += 1;
                *turns >= many
            });
            if is_due {
                self.store.news().notify_one();
            }
        }
    }

    /// Summarises until the bot stops. Does nothing if summaries are switched off; existing ones stay.
    pub async fn run(self) {
        if self.rules.every == 0 {
            return;
        }
        let news = self.store.news();
        loop {
            // Before the check, so that no notification is missed.
            let told = news.notified();
            let again_at = tokio::select! {
                () = self.background.stopping() => return,
                again_at = self.look() => again_at,
            };
            let pause = (again_at - self.clock.now()).to_std().unwrap_or_default();
            tokio::select! {
                () = self.background.stopping() => return,
                () = told => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Runs the due jobs. Returns the time of the next check.
    async fn look(&self) -> DateTime<Utc> {
        let mut rests_until = DateTime::UNIX_EPOCH;
        loop {
            let now = self.clock.now();
            let due = match self.jobs() {
                Ok(jobs) => jobs,
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "it cannot be read what is to be summarised");
                    return now + TimeDelta::minutes(PAUSES_MIN[0]);
                }
            };
            let next = due.iter().map(|job| job.not_before).min().unwrap_or(now + LOOK_AGAIN);
            let due = due.into_iter().filter(|job| job.not_before <= now);
            let works: Vec<_> = due.take(AT_ONCE).map(|job| self.work(job)).collect();
            if works.is_empty() || rests_until > now {
                return next.max(rests_until).min(now + LOOK_AGAIN);
            }
            for rests in join_all(works).await.into_iter().flatten() {
                rests_until = rests_until.max(rests);
            }
        }
    }

    /// Returns the jobs, with new ones for sessions in which turns have ended.
    fn jobs(&self) -> Result<Vec<SummaryJob>, StoreError> {
        let many = self.rules.every / LOOKS;
        let ended: Vec<SessionId> = self.with_ended(|ended| {
            ended.extract_if(|_, turns| *turns >= many).map(|(session, _)| session).collect()
        });
        let mut jobs = self.store.jobs(JOBS)?;
        for session in ended {
            if jobs.iter().any(|job| job.session == session) {
                continue;
            }
            let open = self.store.unsummarised(session, self.read_at_once())?;
            if open.is_some_and(|open| self.next(&open).is_some()) {
                let job = SummaryJob::new(session);
                self.store.put_job(&job)?;
                jobs.push(job);
            }
        }
        Ok(jobs)
    }

    fn read_at_once(&self) -> usize {
        READ.max(usize::try_from(self.rules.every).unwrap_or(READ) * 2)
    }

    /// Returns the run of messages to summarise now.
    fn next(&self, open: &Unsummarised) -> Option<MessageRange> {
        open.again.or_else(|| next_run(&open.messages, open.has_more, self.rules))
    }

    /// Summarises one run of a session, or counts a failed try. Returns a time if no job can be done before it.
    async fn work(&self, job: SummaryJob) -> Option<DateTime<Utc>> {
        let error = match self.summarise(&job).await {
            Ok(()) => return None,
            Err(SummaryError::Model(LedgerError::OverBudget(over))) => {
                tracing::debug!(%over, session = %job.session, "a session is summarised later");
                let until = over.until.to_utc();
                // Other sessions may have a budget.
                return match over.axis {
                    BudgetAxis::Bot => Some(until),
                    _ => {
                        self.put_off(SummaryJob { not_before: until.min(self.clock.now() + MAX_REST), ..job })
                    }
                };
            }
            Err(error) => error,
        };
        let tries = job.tries.saturating_add(error.tries());
        tracing::warn!(%error, session = %job.session, tries, "a session could not be summarised");
        let pause = PAUSES_MIN.get(usize::from(job.tries)).or(PAUSES_MIN.last()).copied().unwrap_or_default();
        let not_before = self.clock.now() + TimeDelta::minutes(pause);
        self.put_off(SummaryJob { tries, not_before, ..job })
    }

    /// Stores when a job is tried again. Returns a time if no job can be done before it.
    fn put_off(&self, job: SummaryJob) -> Option<DateTime<Utc>> {
        match self.store.put_job(&job) {
            Ok(()) => None,
            // Without the time it would be retried at once, for ever.
            Err(error) => {
                tracing::error!(%error, label = error.label(), "a try to summarise could not be counted");
                Some(job.not_before)
            }
        }
    }

    async fn summarise(&self, job: &SummaryJob) -> Result<(), SummaryError> {
        let open = self.store.unsummarised(job.session, self.read_at_once())?;
        let Some((open, run)) = open.and_then(|open| self.next(&open).map(|run| (open, run))) else {
            return Ok(self.store.end_job(job.session)?);
        };
        let within = |message: &&Arc<Message>| (run.start..=run.end).contains(&message.index);
        let covered: Vec<Arc<Message>> = open.messages.iter().filter(within).cloned().collect();
        self.facts.look_before(&covered);
        let is_empty = !covered.iter().any(|message| is_said(message));
        let rests = self.asking.model_rests(&covered, &self.facts.trials, self.clock.now());
        let made = match is_empty || rests || job.tries >= TRIES || open.left > self.rules.every * BACKLOG {
            true => {
                let (summary, importance) = extract(&covered);
                SummaryDraft { summary, importance }
            }
            false => self.asking.ask(&open.session, &covered, None).await?,
        };
        let summary = self.summary(&open, run, &covered, made);
        let is_stored = self.store.put(&summary, &covered)?;
        tracing::debug!(session = %job.session, run.start, run.end, is_stored, "summarised");
        let mut next = SummaryJob::new(job.session);
        if !is_stored {
            // The session has changed: retry a little later, with a counted try, so that this ends.
            next.tries = job.tries.saturating_add(1);
            next.not_before = self.clock.now() + TimeDelta::seconds(1);
        }
        Ok(self.store.put_job(&next)?)
    }

    fn summary(
        &self,
        open: &Unsummarised,
        run: MessageRange,
        covered: &[Arc<Message>],
        made: SummaryDraft,
    ) -> Summary {
        let now = self.clock.now();
        let (first, last) = (covered.first(), covered.last());
        let id = |message: Option<&Arc<Message>>| message.map(|message| message.id).unwrap_or_default();
        let written = |message: Option<&Arc<Message>>| message.map_or(now, |message| message.created_at);
        Summary {
            id: run.id,
            session: open.session.id,
            summary: made.summary,
            message_count: run.end - run.start + 1,
            start_message_id: id(first),
            start: run.start,
            end_message_id: id(last),
            end: run.end,
            from: written(first),
            until: written(last),
            importance: made.importance,
            created_at: now,
        }
    }

    fn with_ended<T>(&self, work: impl FnOnce(&mut HashMap<SessionId, u32>) -> T) -> T {
        work(&mut self.ended.lock())
    }
}
