//! The profiles of people.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::records::{facts, pins};
use super::{KvStore, key};
use crate::{ProfileStore, Result};
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::profile::{Consent, Seen, UserProfile, WishesPatch};

#[async_trait]
impl ProfileStore for KvStore {
    async fn see(&self, seen: &Seen) -> Result<UserProfile> {
        let key = key::user(&seen.speaker.user);
        let known = self.read("read a profile", |tables| tables.profiles.find(&key)).await?;
        if let Some(known) = known
            && known.seen(seen).is_none()
        {
            return Ok(known);
        }
        self.change("store a profile", |tables, changes| {
            let profile = match tables.profiles.find(&key)? {
                Some(known) => known.seen(seen).unwrap_or(known),
                None => UserProfile::new(seen),
            };
            changes.put(&tables.profiles, &key, &profile)?;
            Ok(profile)
        })
        .await
    }

    async fn profile(&self, user: &UserId) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.read("read a profile", move |tables| tables.profiles.find(&key)).await
    }

    async fn wish(&self, user: &UserId, chat: ChatId, change: WishesPatch) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.change_durably("store a person's wish", move |tables, changes| {
            let Some(mut profile) = tables.profiles.get(&key)? else { return Ok(None) };
            profile.wish(chat, change);
            changes.put(&tables.profiles, &key, &profile)?;
            Ok(Some(profile))
        })
        .await
    }

    async fn set_consent(
        &self,
        user: &UserId,
        consent: Consent,
        now: DateTime<Utc>,
    ) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.change_durably("store a person's consent", move |tables, changes| {
            if consent == Consent::Refused {
                facts::skip(tables, changes, &key)?;
            }
            let Some(mut profile) = tables.profiles.get(&key)? else { return Ok(None) };
            // Whoever answers at once may do so before it is noted that they were asked.
            if consent == Consent::Asked && profile.consent != Consent::Unasked {
                return Ok(Some(profile));
            }
            profile.consent = consent;
            changes.put(&tables.profiles, &key, &profile)?;
            pins::consent_changed(tables, changes, &profile, now)?;
            Ok(Some(profile))
        })
        .await
    }
}
