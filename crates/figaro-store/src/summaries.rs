//! The port for summaries, and for the work that is to be done on them.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::error::StoreError;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::{Message, Session};
use figaro_domain::summary::{Run, Summary, SummaryJob};

type Result<T> = std::result::Result<T, StoreError>;

/// What is to be summarised of a session.
#[derive(Debug, Clone)]
pub struct Unsummarised {
    /// The session as it is stored when the messages were read.
    pub session: Session,
    /// The run that comes before all others: its summary is to be made anew, or is missing.
    pub again: Option<Run>,
    /// The messages of that run or, without one, the oldest that no summary covers. Those that may still be taken back are not
    /// among them, those that a later try replaced are.
    pub messages: Vec<Arc<Message>>,
    /// Others stand behind these.
    pub has_more: bool,
    /// How many messages that is in all.
    pub left: u32,
}

/// The summaries of sessions.
#[async_trait]
pub trait SummaryStore: Debug + Send + Sync {
    /// The summaries of a session, those of the oldest messages first. Among them are those that are to be made anew and have
    /// no words.
    async fn summaries(&self, session: SessionId) -> Result<Vec<Summary>>;
    /// What is to be summarised of a session, at most `limit` messages; `None` if there is no such session.
    async fn unsummarised(&self, session: SessionId, limit: usize) -> Result<Option<Unsummarised>>;
    /// Stores a summary if it [fits](Summary::fits) beside the others of its session, and the messages that it was made of still
    /// say the same, in the same change; `false` if not. Places before them that hold no message any more are covered too. It is durable a moment later; what is lost is made again.
    async fn put_summary(&self, summary: &Summary, made_of: &[Arc<Message>]) -> Result<bool>;
    /// Takes the words of the summary that covers this message away, and has it made anew. `false` if none covers it.
    async fn stale(&self, session: SessionId, index: u32) -> Result<bool>;
    /// The sessions in which there is something to be done, at most so many.
    async fn summary_jobs(&self, limit: usize) -> Result<Vec<SummaryJob>>;
    /// Notes that there is something to be done in a session, or how it went. It is durable a moment later.
    async fn put_summary_job(&self, job: &SummaryJob) -> Result<()>;
    /// Notes that nothing is to be done in a session; that a summary is to be made anew is not forgotten.
    async fn end_summary_job(&self, session: SessionId) -> Result<()>;
    /// Told when there may be something to be done.
    fn summary_news(&self) -> Arc<Notify>;
}
