//! [`SummaryStore`].

use async_trait::async_trait;

use super::{KvStore, key};
use crate::domain::summary::Summary;
use crate::ids::SessionId;
use crate::store::{Result, SummaryStore};

#[async_trait]
impl SummaryStore for KvStore {
    async fn summaries(&self, session: SessionId) -> Result<Vec<Summary>> {
        self.read("read the summaries", move |tables| tables.summaries.list(&key::id(session))).await
    }
}
