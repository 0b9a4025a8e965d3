//! The port for memories: facts about people.

use std::fmt::Debug;

use async_trait::async_trait;

use super::error::StoreError;
use crate::domain::memory::Memory;
use crate::ids::UserId;

type Result<T> = std::result::Result<T, StoreError>;

/// What is remembered of people.
#[async_trait]
pub trait FactStore: Debug + Send + Sync {
    /// All memories of a person that were not erased, also those that were removed, oldest first.
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>>;
}
