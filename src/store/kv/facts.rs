//! [`FactStore`].

use async_trait::async_trait;

use super::{KvStore, key};
use crate::domain::memory::Memory;
use crate::ids::UserId;
use crate::store::{FactStore, Result};

#[async_trait]
impl FactStore for KvStore {
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>> {
        let of = key::user(user);
        self.read("read the memories", move |tables| tables.memories.list(&of)).await
    }
}
