//! Sign-in of the owner on the machine itself: `figaro dashboard` asks the running bot for a link.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use figaro_agent::sign_in::SignIn;
use figaro_agent::sign_outs::{SignInGrant, SignOuts};
use figaro_base::ids::UserId;
use figaro_config::AccessSettings;
use figaro_store::SettingsStore;

/// Dashboards of the bots of the process, by the names of the bots. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct SignIns {
    all: Arc<Mutex<BTreeMap<String, OwnerSignIn>>>,
    sign_outs: SignOuts,
}

/// Sign-in to the dashboard of a bot.
#[derive(Debug)]
pub(super) struct OwnerSignIn {
    pub(super) sign_in: SignIn,
    /// Owners of the settings, and those in the store.
    pub(super) access: AccessSettings,
    pub(super) settings: SettingsStore,
}

/// A dashboard among those of the process, until this is dropped.
#[derive(Debug)]
pub(super) struct SignInEntry {
    all: SignIns,
    name: String,
}

impl Drop for SignInEntry {
    fn drop(&mut self) {
        self.all.all.lock().remove(&self.name);
    }
}

impl SignIns {
    /// Adds the dashboard of a bot.
    pub(super) fn add(&self, name: String, sign_in: OwnerSignIn) -> SignInEntry {
        self.all.lock().insert(name.clone(), sign_in);
        SignInEntry { all: self.clone(), name }
    }

    /// Makes a link for the first owner of a bot. `name` may be empty if there is one bot alone.
    ///
    /// # Errors
    /// The reason in words, with a remedy.
    pub(super) fn link(&self, name: &str) -> Result<String, String> {
        let all = self.all.lock();
        let names = || all.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let found = match (name, all.len()) {
            (_, 0) => return Err(
                "the dashboard is off: set HTTP_ADDR, such as 127.0.0.1:8080, and do not set DASHBOARD=off"
                    .to_owned(),
            ),
            ("", 1) => all.values().next(),
            ("", _) => return Err(format!("there are several bots, so name one: {}", names())),
            (name, _) => all.get(name),
        };
        let found = found
            .ok_or_else(|| format!("there is no bot `{name}` with a dashboard here, but: {}", names()))?;
        let owner =
            found.owner().ok_or("the bot has no owner yet: open the link that it shows when it starts")?;
        found.sign_in.link(&owner).ok_or_else(|| "the system has no random numbers".to_owned())
    }
}

impl SignIns {
    /// Returns `true` if a bot has a dashboard and this owner.
    pub(super) fn is_owner(&self, name: &str, user: &UserId) -> bool {
        self.all.lock().get(name).is_some_and(|found| found.is_owner(user))
    }

    /// Makes a link for an owner of a bot who is signed in at another; `None` if they own it not, or it has no dashboard.
    pub(super) fn link_of(&self, name: &str, grant: SignInGrant) -> Option<String> {
        let all = self.all.lock();
        all.get(name).filter(|found| found.is_owner(&grant.user))?.sign_in.link_of(grant)
    }

    /// Returns the sign-outs of the process.
    pub(super) fn sign_outs(&self) -> SignOuts {
        self.sign_outs.clone()
    }
}

impl OwnerSignIn {
    fn is_owner(&self, user: &UserId) -> bool {
        let is_named = || self.settings.access().is_ok_and(|list| list.owners.contains(user));
        self.access.owners.contains(user) || is_named()
    }

    fn owner(&self) -> Option<UserId> {
        let named = self.access.owners.first().cloned();
        named.or_else(|| self.settings.access().ok()?.owners.first().cloned())
    }
}
