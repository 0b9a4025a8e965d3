//! Summarises what was said in sessions, in the background and at no turn's cost of time. What is to be done follows from the store
//! alone: the messages that no summary covers, and the summaries that are to be made anew. So it goes on after a restart, and
//! nothing is done twice. The pipeline tells it of each turn that has ended.

mod ask;
mod now;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use parking_lot::Mutex;

pub use self::ask::Asking;
use self::ask::{Failed, Made};
pub use self::now::{Next, Unmade, Wanted};
use super::extraction::Extractor;
use figaro_base::clock::Clock;
use figaro_base::ids::SessionId;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::conversation::Message;
use figaro_domain::summary::{Rules, Run, Summary, SummaryJob, extract, is_said, next_run};
use figaro_domain::turn::ActiveTurn;
use figaro_ledger::LedgerError;
use figaro_store::{StoreError, SummaryStore, Unsummarised};

/// So many messages that no summary covers are read at a time, at least.
const READ: usize = 300;
/// So many sessions are looked at for work at a time, and so many are worked on.
const JOBS: usize = 500;
const AT_ONCE: usize = 2;
/// A session is looked at so many times while as much is said as a summary covers; turns have two messages at least.
const LOOKS: u32 = 16;
/// With so many tries in vain, what matters is taken out of a run without a model.
const TRIES: u8 = 6;
/// After a try in vain so many minutes pass, each time more.
const PAUSES_MIN: [i64; 5] = [1, 5, 30, 120, 360];
/// So many summaries of a session are asked for at once. What lies further back, as in a store of an older version, is not worth
/// their cost: what matters is taken out of it likewise.
const BACKLOG: u32 = 20;
/// Nothing told of work, it looks again.
const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(10);

/// Summarises sessions. Cheap to clone; clones are one.
#[derive(Debug, Clone)]
pub struct Summariser {
    /// The summaries, and what is to be done.
    pub store: SummaryStore,
    /// Asks the model.
    pub asking: Asking,
    /// Reads what people have said for facts; before it is summarised at the latest.
    pub facts: Extractor,
    /// When a session is summarised.
    pub rules: Rules,
    /// Gives the current time.
    pub clock: Clock,
    /// It ends when this is asked to stop.
    pub background: TaskTracker,
    /// The sessions in which turns have ended since they were looked at, and how many.
    pub ended: Arc<Mutex<HashMap<SessionId, u32>>>,
}

impl Summariser {
    /// Has the session of a turn that has ended looked at, now or after some more: a look reads all that no summary covers.
    /// Returns at once.
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

    /// Summarises until it is asked to stop. Without rules it does nothing: what there is stays.
    pub async fn run(self) {
        if self.rules.every == 0 {
            return;
        }
        let news = self.store.news();
        loop {
            // Before the look, so that nothing is missed in between.
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

    /// Does what is due. Gives when the next is.
    async fn look(&self) -> DateTime<Utc> {
        let mut rests_until = DateTime::UNIX_EPOCH;
        loop {
            let now = self.clock.now();
            let due = match self.jobs().await {
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

    /// What is to be done, with what the turns that have ended since bring.
    async fn jobs(&self) -> Result<Vec<SummaryJob>, StoreError> {
        let many = self.rules.every / LOOKS;
        let ended: Vec<SessionId> = self.with_ended(|ended| {
            ended.extract_if(|_, turns| *turns >= many).map(|(session, _)| session).collect()
        });
        let mut jobs = self.store.jobs(JOBS).await?;
        for session in ended {
            if jobs.iter().any(|job| job.session == session) {
                continue;
            }
            let open = self.store.unsummarised(session, self.read_at_once()).await?;
            if open.is_some_and(|open| self.next(&open).is_some()) {
                let job = SummaryJob::new(session);
                self.store.put_job(&job).await?;
                jobs.push(job);
            }
        }
        Ok(jobs)
    }

    fn read_at_once(&self) -> usize {
        READ.max(usize::try_from(self.rules.every).unwrap_or(READ) * 2)
    }

    /// The run of a session that is to be summarised now.
    fn next(&self, open: &Unsummarised) -> Option<Run> {
        open.again.or_else(|| next_run(&open.messages, open.has_more, self.rules))
    }

    /// Summarises one run of a session, or counts that it could not. Gives until when nothing more can be done at all.
    async fn work(&self, job: SummaryJob) -> Option<DateTime<Utc>> {
        let error = match self.summarise(&job).await {
            Ok(()) => return None,
            Err(Failed::Model(LedgerError::OverBudget)) => {
                tracing::debug!("today's share of background work is used up; summaries are made tomorrow");
                return Some(self.asking.ledger.resets_at().0.to_utc());
            }
            Err(error) => error,
        };
        let tries = job.tries.saturating_add(error.tries());
        tracing::warn!(%error, session = %job.session, tries, "a session could not be summarised");
        let pause = PAUSES_MIN.get(usize::from(job.tries)).or(PAUSES_MIN.last()).copied().unwrap_or_default();
        let not_before = self.clock.now() + TimeDelta::minutes(pause);
        let counted = self.store.put_job(&SummaryJob { tries, not_before, ..job }).await;
        match counted {
            Ok(()) => None,
            // Without the count it would be tried at once, for ever.
            Err(error) => {
                tracing::error!(%error, label = error.label(), "a try to summarise could not be counted");
                Some(not_before)
            }
        }
    }

    async fn summarise(&self, job: &SummaryJob) -> Result<(), Failed> {
        let open = self.store.unsummarised(job.session, self.read_at_once()).await?;
        let Some((open, run)) = open.and_then(|open| self.next(&open).map(|run| (open, run))) else {
            return Ok(self.store.end_job(job.session).await?);
        };
        let within = |message: &&Arc<Message>| (run.start..=run.end).contains(&message.index);
        let covered: Vec<Arc<Message>> = open.messages.iter().filter(within).cloned().collect();
        self.facts.look_before(&covered);
        let is_empty = !covered.iter().any(|message| is_said(message));
        let rests = self.asking.model_rests(&covered, &self.facts.misfits, self.clock.now());
        let made = match is_empty || rests || job.tries >= TRIES || open.left > self.rules.every * BACKLOG {
            true => {
                let (summary, importance) = extract(&covered);
                Made { summary, importance }
            }
            false => self.asking.ask(&open.session, &covered, &|_spent| {}).await?,
        };
        let summary = self.summary(&open, run, &covered, made);
        let is_stored = self.store.put(&summary, &covered).await?;
        tracing::debug!(session = %job.session, run.start, run.end, is_stored, "summarised");
        let mut next = SummaryJob::new(job.session);
        if !is_stored {
            // Things are other than they were: they are looked at anew, a little later should it be so again, and not for ever.
            next.tries = job.tries.saturating_add(1);
            next.not_before = self.clock.now() + TimeDelta::seconds(1);
        }
        Ok(self.store.put_job(&next).await?)
    }

    fn summary(&self, open: &Unsummarised, run: Run, covered: &[Arc<Message>], made: Made) -> Summary {
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
