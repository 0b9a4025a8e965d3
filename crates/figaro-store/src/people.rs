//! The store of who wrote in groups.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::ChatId;
use figaro_domain::message::Speaker;
use figaro_domain::people::Seen;

/// Who wrote in a group. It is noted together with what they wrote.
#[async_trait]
pub trait PeopleStore: Debug + Send + Sync {
    /// Who was seen writing in a chat, the last to write first: at most [`MAX_PEOPLE`](figaro_domain::people::MAX_PEOPLE).
    async fn people(&self, chat: ChatId) -> Result<Vec<Seen>, StoreError>;
    /// Notes people who came into a group and have not written yet; those who are known stay as they are.
    async fn came(&self, chat: ChatId, people: Vec<Speaker>, now: DateTime<Utc>) -> Result<(), StoreError>;
}
