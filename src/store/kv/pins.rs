//! [`PinStore`].

use async_trait::async_trait;

use super::{KvStore, key};
use crate::domain::pin::Pin;
use crate::ids::ChatId;
use crate::store::{PinStore, Result};

#[async_trait]
impl PinStore for KvStore {
    async fn pins(&self, chat: ChatId) -> Result<Vec<Pin>> {
        self.read("read the pins", move |tables| tables.pins.list(&key::chat(chat))).await
    }
}
