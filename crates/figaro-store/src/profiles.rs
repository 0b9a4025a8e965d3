//! Profiles of people.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{facts, pins};
use crate::{ProfileStore, Result};
use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_domain::profile::{Consent, PersonSnapshot, PreferencesPatch, UserProfile};

impl ProfileStore {
    /// Records that a person was seen, and returns their profile. Writes only if something changed or an hour has passed;
    /// durable a moment later, with the writes of the turn.
    pub fn see(&self, seen: &PersonSnapshot) -> Result<UserProfile> {
        let key = key::user(&seen.speaker.user);
        let known = self.0.read("read a profile", |tables| tables.profiles.find(&key))?;
        if let Some(known) = known
            && known.seen(seen).is_none()
        {
            return Ok(known);
        }
        self.0.change("store a profile", |tables, changes| {
            let profile = match tables.profiles.find(&key)? {
                Some(known) => known.seen(seen).unwrap_or(known),
                None => UserProfile::new(seen),
            };
            changes.put(&tables.profiles, &key, &profile)?;
            Ok(profile)
        })
    }

    /// Returns the person who had this username, without `@`, at their last question. Letter case does not matter.
    pub fn named(&self, username: &str) -> Result<Option<UserId>> {
        self.0.read("find a person by name", |tables| {
            let profiles = tables.profiles.list(&[])?.into_iter();
            let mut named = profiles.filter(|profile| {
                profile.names.username.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(username))
            });
            Ok(named.next().map(|profile| profile.user))
        })
    }

    /// Returns all profiles, the person who was seen last first.
    pub fn all(&self) -> Result<Vec<UserProfile>> {
        self.0.read("read the profiles", |tables| {
            let mut all = tables.profiles.list(&[])?;
            all.sort_by_key(|profile| std::cmp::Reverse(profile.last_seen));
            Ok(all)
        })
    }

    /// Returns the profile of a person; `None` if they were never seen.
    pub fn find(&self, user: &UserId) -> Result<Option<UserProfile>> {
        let key = key::user(user);
        self.0.read("read a profile", move |tables| tables.profiles.find(&key))
    }

    /// Stores the wishes of a person from a turn in a chat, durably, and returns their profile. Writes nothing for a
    /// person who was never seen.
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

    /// Stores a person's consent to remembering facts, durably. A refusal also stops the reading of messages so far;
    /// `Asked` only replaces a missing answer. Returns the profile; writes nothing for a person who was never seen.
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
                // A quick answer may arrive before the record that they were asked.
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
