//! The port for summaries.

use std::fmt::Debug;

use async_trait::async_trait;

use super::error::StoreError;
use crate::domain::summary::Summary;
use crate::ids::SessionId;

type Result<T> = std::result::Result<T, StoreError>;

/// The summaries of sessions.
#[async_trait]
pub trait SummaryStore: Debug + Send + Sync {
    /// The summaries of a session, those of the oldest messages first.
    async fn summaries(&self, session: SessionId) -> Result<Vec<Summary>>;
}
