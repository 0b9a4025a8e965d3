//! The port for what is known of people.

use std::fmt::Debug;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::error::StoreError;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::profile::{Consent, Seen, UserProfile, WishesPatch};

type Result<T> = std::result::Result<T, StoreError>;

/// The profiles of people.
#[async_trait]
pub trait ProfileStore: Debug + Send + Sync {
    /// Takes in that somebody was seen, and gives their profile. It is written only where something of it has changed or an
    /// hour has passed, and is durable a moment later, with what the turn writes.
    async fn see(&self, seen: &Seen) -> Result<UserProfile>;
    /// The profile of a person; `None` if they were never seen.
    async fn profile(&self, user: &UserId) -> Result<Option<UserProfile>>;
    /// Takes in, durably, what a person asked for in a chat, and gives their profile then. Nothing is written of somebody who
    /// was never seen.
    async fn wish(&self, user: &UserId, chat: ChatId, change: WishesPatch) -> Result<Option<UserProfile>>;
    /// Takes in, durably, what a person says to facts about them being remembered; a refusal also has no facts taken from what
    /// they have said so far, and that they were asked takes the place of no answer. Gives their profile then; nothing is written of somebody who was never seen.
    async fn set_consent(
        &self,
        user: &UserId,
        consent: Consent,
        now: DateTime<Utc>,
    ) -> Result<Option<UserProfile>>;
}
