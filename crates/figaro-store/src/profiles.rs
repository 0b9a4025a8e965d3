//! The profiles of people.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{facts, pins};
use crate::{ProfileStore, Result};
use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_domain::profile::{Consent, PreferencesPatch, Seen, UserProfile};

impl ProfileStore {
    /// Takes in that somebody was seen, and gives their profile. It is written only where something of it has changed or an
    /// hour has passed, and is durable a moment later, with what the turn writes.
    pub async fn see(&self, seen: &Seen) -> Result<UserProfile> {
        let key = key::user(&seen.speaker.user);
        let known = self.0.read("read a profile", |tables| tables.profiles.find(&key)).await?;
        if let Some(known) = known
            && known.seen(seen).is_none()
        {
            return Ok(known);
        }
        self.0
            .change("store a profile", |tables, changes| {
                let profile = match tables.profiles.find(&key)? {
                    Some(known) => known.seen(seen).unwrap_or(known),
                    None => UserProfile::new(seen),
                };
                changes.put(&tables.profiles, &key, &profile)?;
                Ok(profile)
            })
            .await
    }

    /// The profile of a person; `None` if they were never seen.
    pub async fn find(&self, user: &UserId) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.0.read("read a profile", move |tables| tables.profiles.find(&key)).await
    }

    /// Takes in, durably, what a person asked for in a turn in a chat, and gives their profile then. Nothing is written of somebody who
    /// was never seen.
    pub async fn wish(
        &self,
        user: &UserId,
        chat: ChatId,
        change: PreferencesPatch,
        turn: RunId,
    ) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.0
            .change_durably("store a person's wish", move |tables, changes| {
                let Some(mut profile) = tables.profiles.get(&key)? else { return Ok(None) };
                profile.wish(chat, change, turn);
                changes.put(&tables.profiles, &key, &profile)?;
                Ok(Some(profile))
            })
            .await
    }

    /// Takes in, durably, what a person says to facts about them being remembered; a refusal also has no facts taken from what
    /// they have said so far, and that they were asked takes the place of no answer. Gives their profile then; nothing is written of somebody who was never seen.
    pub async fn set_consent(
        &self,
        user: &UserId,
        consent: Consent,
        now: DateTime<Utc>,
    ) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.0
            .change_durably("store a person's consent", move |tables, changes| {
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
