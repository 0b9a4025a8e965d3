//! Summaries of sessions, and the work to be done on them.

use std::sync::Arc;

use tokio::sync::Notify;

use super::key;
use super::records::summaries;
use super::records::summaries::Unsummarised;
use crate::{Result, SummaryStore};
use figaro_base::ids::{SessionId, SummaryId};
use figaro_domain::conversation::Message;
use figaro_domain::summary::{Summary, SummaryJob};

impl SummaryStore {
    /// Returns the summaries of a session, those of the oldest messages first. Stale ones without words are included.
    pub fn of_session(&self, session: SessionId) -> Result<Vec<Summary>> {
        self.0.read("read the summaries", move |tables| tables.summaries.list(&key::id(session)))
    }

    /// Returns the messages of a session to summarise, at most `limit`, with long results of tools shortened as
    /// models see them; `None` if there is no such session.
    pub fn unsummarised(&self, session: SessionId, limit: usize) -> Result<Option<Unsummarised>> {
        let decoded = &self.0.shared.messages;
        self.0.read("read what is to be summarised", move |tables| {
            summaries::unsummarised(tables, decoded, session, limit)
        })
    }

    /// Stores a summary if it [fits](Summary::fits) beside the others of its session and its messages are unchanged, in
    /// one change; `false` if not. Empty places before its messages are covered too. Durable a moment later; a lost
    /// summary is made again.
    pub fn put(&self, summary: &Summary, made_of: &[Arc<Message>]) -> Result<bool> {
        let decoded = &self.0.shared.messages;
        self.0.change("store a summary", move |tables, changes| {
            summaries::put(tables, changes, decoded, summary, made_of)
        })
    }

    /// Erases the words of the summary with this id, so that it is made anew. `false` if the session has none: it was erased
    /// or made anew meanwhile.
    pub async fn erase(&self, session: SessionId, id: SummaryId) -> Result<bool> {
        let is_erased = self
            .0
            .change_durably("take a summary's words away", move |tables, changes| {
                summaries::erase(tables, changes, session, id)
            })
            .await?;
        if is_erased {
            self.0.shared.summary_news.notify_one();
        }
        Ok(is_erased)
    }

    /// Returns sessions with summary work, at most `limit`.
    pub fn jobs(&self, limit: usize) -> Result<Vec<SummaryJob>> {
        self.0.read("read what sessions are to be summarised", move |tables| {
            tables.summary_jobs.scan(&[])?.take(limit).map(|item| item.map(|(_, job)| job)).collect()
        })
    }

    /// Stores the state of summary work in a session. Durable a moment later.
    pub fn put_job(&self, job: &SummaryJob) -> Result<()> {
        let job = job.clone();
        self.0.change("note that a session is to be summarised", move |tables, changes| {
            // A session deleted meanwhile gets no job.
            match tables.sessions.contains(&key::id(job.session))? {
                true => changes.put(&tables.summary_jobs, key::id(job.session), &job),
                false => Ok(()),
            }
        })
    }

    /// Ends the summary work of a session; stale summaries stay marked.
    pub fn end_job(&self, session: SessionId) -> Result<()> {
        self.0.change("note that a session is summarised", move |tables, changes| {
            let has_stale = tables.summaries.list(&key::id(session))?.iter().any(Summary::is_stale);
            if !has_stale {
                changes.remove(&tables.summary_jobs, key::id(session));
            }
            Ok(())
        })
    }

    /// Returns the notification sent when there may be summary work.
    pub fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.shared.summary_news)
    }
}
