//! Link that makes its first user the owner while the bot has none. Shown in the terminal of the bot, renewed until used.

use std::fmt;

use chrono::TimeDelta;

use super::parts::AppParts;
use super::terminal::{say, show_code};
use figaro_base::clock::Clock;
use figaro_base::secret::{ExposeSecret, random_hex};
use figaro_base::shutdown::TaskTracker;
use figaro_config::{AccessSettings, Settings};
use figaro_domain::access::{AccessChange, INVITE_BYTES, INVITE_MINUTES, OwnerInvite};
use figaro_domain::audit::AuditActor;
use figaro_policy::access::has_owner;
use figaro_store::{SettingsStore, StoreError};

/// Owner link, valid for [`INVITE_MINUTES`].
pub(super) struct Link(pub(super) String);

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = &self.0;
        write!(
            f,
            "Nobody owns this bot yet. Open {link} within {INVITE_MINUTES} minutes to become its owner."
        )
    }
}

/// Voids the links that were shown before the settings named owners.
///
/// # Errors
/// When the store cannot be changed.
pub(super) async fn void(access: &AccessSettings, store: &SettingsStore) -> Result<(), StoreError> {
    if !access.owners.is_empty() && store.change_access(AccessChange::VoidInvites, AuditActor::Bot).await? {
        tracing::info!("OWNER_IDS names the owners: links that were to make one are void");
    }
    Ok(())
}

/// Shows a link now, and a new one whenever the last expires, until the bot has an owner. Prints it to standard output as a
/// plain line to copy; never to the log, which others may read.
pub(super) fn offer(settings: &Settings, parts: &AppParts, clock: &Clock, background: &TaskTracker) {
    if !settings.access.owners.is_empty() {
        return;
    }
    let (access, username) = (settings.access.clone(), parts.router.me.username.clone());
    let (store, clock, stop) = (parts.store.clone(), clock.clone(), background.clone());
    background.spawn("owner_invite", async move {
        loop {
            match link(&access, &store.settings(), &clock, &username).await {
                Ok(Some(link)) => {
                    tracing::info!(
                        "nobody owns this bot yet: standard output shows a link to become its owner"
                    );
                    say(&link.to_string());
                    show_code(&link.0);
                }
                Ok(None) => return,
                Err(error) => tracing::error!(%error, "the link for a first owner could not be stored"),
            }
            tokio::select! {
                () = tokio::time::sleep(TimeDelta::minutes(INVITE_MINUTES).to_std().unwrap_or_default()) => {}
                () = stop.stopping() => return,
            }
        }
    });
}

/// Creates a link that makes its first user the owner; `None` if the bot has an owner. The store keeps only the hash of the
/// code, so an earlier link cannot be shown again. Earlier links stay valid until they expire.
pub(super) async fn link(
    access: &AccessSettings,
    store: &SettingsStore,
    clock: &Clock,
    username: &str,
) -> Result<Option<Link>, StoreError> {
    if has_owner(access, &*store.access()?) {
        return Ok(None);
    }
    let code = random_hex(INVITE_BYTES).map_err(|error| StoreError::Failed {
        operation: "make an owner invite",
        reason: error.to_string(),
    })?;
    let (code, at) = (code.expose_secret(), clock.now());
    let invite = AccessChange::Invite { invite: OwnerInvite::new(code, at), at };
    let is_stored = store.change_access(invite, AuditActor::Bot).await?;
    Ok(is_stored.then(|| Link(format!("https://t.me/{username}?start={code}"))))
}
