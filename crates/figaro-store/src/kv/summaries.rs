//! [`SummaryStore`].

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::records::summaries;
use super::{KvStore, key};
use crate::{Result, SummaryStore, Unsummarised};
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Message;
use figaro_domain::summary::{Summary, SummaryJob};

#[async_trait]
impl SummaryStore for KvStore {
    async fn summaries(&self, session: SessionId) -> Result<Vec<Summary>> {
        self.read("read the summaries", move |tables| tables.summaries.list(&key::id(session))).await
    }

    async fn unsummarised(&self, session: SessionId, limit: usize) -> Result<Option<Unsummarised>> {
        self.read("read what is to be summarised", move |tables| {
            summaries::unsummarised(tables, session, limit)
        })
        .await
    }

    async fn put_summary(&self, summary: &Summary, made_of: &[Arc<Message>]) -> Result<bool> {
        let (summary, made_of) = (summary.clone(), made_of.to_vec());
        self.change("store a summary", move |tables, changes| {
            summaries::put(tables, changes, &summary, &made_of)
        })
        .await
    }

    async fn stale(&self, session: SessionId, index: u32) -> Result<bool> {
        let is_covered = self
            .change_durably("take a summary's words away", move |tables, changes| {
                summaries::make_stale(tables, changes, session, index)
            })
            .await?;
        if is_covered {
            self.0.summary_news.notify_one();
        }
        Ok(is_covered)
    }

    async fn summary_jobs(&self, limit: usize) -> Result<Vec<SummaryJob>> {
        self.read("read what sessions are to be summarised", move |tables| {
            tables.summary_jobs.scan(&[])?.take(limit).map(|item| item.map(|(_, job)| job)).collect()
        })
        .await
    }

    async fn put_summary_job(&self, job: &SummaryJob) -> Result<()> {
        let job = job.clone();
        self.change("note that a session is to be summarised", move |tables, changes| {
            // One that was deleted meanwhile leaves nothing.
            match tables.sessions.contains(&key::id(job.session))? {
                true => changes.put(&tables.summary_jobs, key::id(job.session), &job),
                false => Ok(()),
            }
        })
        .await
    }

    async fn end_summary_job(&self, session: SessionId) -> Result<()> {
        self.change("note that a session is summarised", move |tables, changes| {
            let has_stale = tables.summaries.list(&key::id(session))?.iter().any(Summary::is_stale);
            if !has_stale {
                changes.remove(&tables.summary_jobs, key::id(session));
            }
            Ok(())
        })
        .await
    }

    fn summary_news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.summary_news)
    }
}
