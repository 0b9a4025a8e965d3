//! The link that makes its first user the owner, while nobody owns the bot: shown in the log, renewed until used.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::parts::Parts;
use crate::clock::Clock;
use crate::config::{AccessSettings, Settings};
use crate::domain::access::{AccessChange, CLAIM_MINUTES, Claim};
use crate::policy::access::has_owner;
use crate::secret::{ExposeSecret, random_hex};
use crate::shutdown::Tasks;
use crate::store::{SettingsStore, StoreError};

/// Shows a link now and a new one whenever the last has expired, until the bot has an owner.
pub(super) fn offer(settings: &Settings, parts: &Parts, clock: &Clock, tasks: &Tasks) {
    if !settings.access.owners.is_empty() {
        return;
    }
    let (access, username) = (settings.access.clone(), parts.router.me.username.clone());
    let (store, clock, stop) = (Arc::clone(&parts.store), clock.clone(), tasks.clone());
    tasks.spawn("claim", async move {
        loop {
            match link(&access, &*store, &clock, &username).await {
                Ok(Some(words)) => tracing::warn!("{words}"),
                Ok(None) => return,
                Err(error) => tracing::error!(%error, "the link for a first owner could not be stored"),
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(CLAIM_MINUTES.unsigned_abs() * 60)) => {}
                () = stop.stopping() => return,
            }
        }
    });
}

/// A new link in a sentence; `None` when somebody owns the bot.
pub(super) async fn link(
    access: &AccessSettings,
    store: &dyn SettingsStore,
    clock: &Clock,
    username: &str,
) -> Result<Option<String>, StoreError> {
    if has_owner(access, &store.access().await?) {
        return Ok(None);
    }
    let code = random_hex(16)
        .map_err(|error| StoreError::Failed { operation: "make a claim code", reason: error.to_string() })?;
    let code = code.expose_secret().to_owned();
    let claim = Claim { code: code.clone(), expires_at: clock.now() + TimeDelta::minutes(CLAIM_MINUTES) };
    if !store.change_access(AccessChange::Offer(claim)).await? {
        return Ok(None);
    }
    Ok(Some(format!(
        "Nobody owns this bot yet. Open https://t.me/{username}?start={code} within {CLAIM_MINUTES} minutes to become its owner."
    )))
}
