//! The link that makes its first user the owner, while nobody owns the bot: shown in the log, renewed until used.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::parts::Parts;
use crate::clock::Clock;
use crate::config::{AccessSettings, Settings};
use crate::domain::access::{AccessChange, CLAIM_MINUTES, Claim};
use crate::policy::access::has_owner;
use crate::secret::{ExposeSecret, random_hex};
use crate::shutdown::Tasks;
use crate::store::{SettingsStore, StoreError};

/// A link that ends sooner gives way to a new one.
const WORTH_SHOWING: TimeDelta = TimeDelta::minutes(5);

/// Shows a link now and a new one whenever the last has expired, until the bot has an owner.
pub(super) fn offer(settings: &Settings, parts: &Parts, clock: &Clock, tasks: &Tasks) {
    if !settings.access.owners.is_empty() {
        return;
    }
    let (access, username) = (settings.access.clone(), parts.router.me.username.clone());
    let (store, clock, stop) = (Arc::clone(&parts.store), clock.clone(), tasks.clone());
    tasks.spawn("claim", async move {
        loop {
            let mut good_for = TimeDelta::minutes(CLAIM_MINUTES);
            match link(&access, &*store, &clock, &username).await {
                Ok(Some(link)) => {
                    tracing::warn!("{}", link.words);
                    good_for = link.good_for;
                }
                Ok(None) => return,
                Err(error) => tracing::error!(%error, "the link for a first owner could not be stored"),
            }
            tokio::select! {
                () = tokio::time::sleep(good_for.to_std().unwrap_or_default()) => {}
                () = stop.stopping() => return,
            }
        }
    });
}

/// A link that makes its first user the owner.
pub(super) struct Link {
    /// It, in a sentence.
    pub(super) words: String,
    /// How long it works.
    good_for: TimeDelta,
}

/// The open link while it works for a while yet, so that the one `figaro check` showed is good once the bot runs; else
/// a new one. `None` when somebody owns the bot.
pub(super) async fn link(
    access: &AccessSettings,
    store: &dyn SettingsStore,
    clock: &Clock,
    username: &str,
) -> Result<Option<Link>, StoreError> {
    let list = store.access().await?;
    if has_owner(access, &list) {
        return Ok(None);
    }
    let now = clock.now();
    let claim = match list.claim.filter(|open| open.expires_at - now >= WORTH_SHOWING) {
        Some(open) => open,
        None => {
            let claim = new_claim(now)?;
            if !store.change_access(AccessChange::Offer(claim.clone())).await? {
                return Ok(None);
            }
            claim
        }
    };
    let good_for = claim.expires_at - now;
    let (code, minutes) = (claim.code, good_for.num_minutes());
    let words = format!(
        "Nobody owns this bot yet. Open https://t.me/{username}?start={code} within {minutes} minutes to become its owner."
    );
    Ok(Some(Link { words, good_for }))
}

fn new_claim(now: DateTime<Utc>) -> Result<Claim, StoreError> {
    let code = random_hex(16)
        .map_err(|error| StoreError::Failed { operation: "make a claim code", reason: error.to_string() })?;
    Ok(Claim { code: code.expose_secret().to_owned(), expires_at: now + TimeDelta::minutes(CLAIM_MINUTES) })
}
