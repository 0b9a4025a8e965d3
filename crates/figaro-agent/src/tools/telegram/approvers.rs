//! Who may approve a call and take one back, and what was approved for the next hour.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use crate::tools::ToolContext;
use figaro_base::ids::{RunId, UserId};
use figaro_config::AccessSettings;
use figaro_domain::approval::{Approval, Grant, Ruled};
use figaro_domain::undo::TurnUndo;
use figaro_policy::access::{Admins, Standing, Verdict, is_owner, judge};
use figaro_policy::approval::{NotAllowed, holds, may_rule, may_undo};
use figaro_policy::tools::{Role, Rules};
use figaro_store::{SettingsStore, StoreError};

/// So many grants are kept; the oldest go first, and what they were for is asked again.
const MAX_GRANTS: usize = 1_000;

/// What was approved for an hour. It is not stored: after a restart a person is asked again. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Grants(Arc<Mutex<Vec<Grant>>>);

impl Grants {
    /// Adds what a person has approved for a while.
    pub fn add(&self, grants: Vec<Grant>, now: DateTime<Utc>) {
        let mut all = self.0.lock();
        all.retain(|grant| now < grant.until);
        all.extend(grants);
        let excess = all.len().saturating_sub(MAX_GRANTS);
        all.drain(..excess);
    }

    /// What is approved now, the oldest first.
    #[must_use]
    pub fn open(&self, now: DateTime<Utc>) -> Vec<Grant> {
        let all = self.0.lock();
        all.iter().filter(|grant| now < grant.until).cloned().collect()
    }

    /// Takes back what was approved with the call of a turn; gives what that was.
    pub fn end(&self, run: RunId, now: DateTime<Utc>) -> Vec<Grant> {
        let mut all = self.0.lock();
        let ended = all.extract_if(.., |grant| grant.run == run);
        ended.filter(|grant| now < grant.until).collect()
    }

    /// Those by which all calls of this approval may be made now; none where one of them may not.
    fn letting(&self, wanted: &Approval, now: DateTime<Utc>) -> Vec<Grant> {
        let all = self.0.lock();
        let find = |method: &str| all.iter().find(|grant| grant.lets(method, wanted, now)).cloned();
        let found = wanted.calls.iter().map(|call| find(&call.method));
        found.collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// Judges who may say what to a call that takes an approval.
#[derive(Debug, Clone)]
pub struct Approvers {
    /// The owners that the settings name.
    pub access: AccessSettings,
    /// The owners that opened an invite.
    pub settings: SettingsStore,
    /// Who holds which right in a chat.
    pub admins: Arc<dyn Admins>,
    /// What was approved for the next hour.
    pub grants: Grants,
}

impl Approvers {
    /// The role of whoever asks. Who administers the chat is looked up only where a rule asks for it.
    pub(in crate::tools) async fn role(&self, rules: &Rules, context: &ToolContext) -> Role {
        let is_admin = || self.admins.is_admin(context.place.chat, &context.speaker.user);
        match context.standing {
            Standing::Owner => Role::Owner,
            Standing::Borrowed | Standing::Guest => Role::Guest,
            Standing::Admin => Role::Admin,
            Standing::Member if rules.tells_admins() && is_admin().await => Role::Admin,
            Standing::Member => Role::Member,
        }
    }

    /// Whether an owner has made whoever asks a guest by now.
    ///
    /// # Errors
    /// When the store fails.
    pub(in crate::tools) async fn is_guest(&self, context: &ToolContext) -> Result<bool, StoreError> {
        let (list, user) = (self.settings.access().await?, &context.speaker.user);
        let verdict = judge(&self.access, &list, &context.place, user, context.now);
        Ok(verdict == Verdict::Allow(Standing::Guest))
    }

    /// Whether somebody may say this to a call now; if not, why.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn may_rule(
        &self,
        ruled: Ruled,
        user: &UserId,
        approval: &Approval,
    ) -> Result<Result<(), NotAllowed>, StoreError> {
        let is_owner = is_owner(&self.access, &*self.settings.access().await?, user);
        Ok(may_rule(ruled, user, is_owner, approval, &*self.admins).await)
    }

    /// Whether somebody may take back now what a turn did; if not, why.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn may_undo(
        &self,
        user: &UserId,
        undo: &TurnUndo,
    ) -> Result<Result<(), NotAllowed>, StoreError> {
        let is_owner = is_owner(&self.access, &*self.settings.access().await?, user);
        Ok(may_undo(user, is_owner, undo, &*self.admins).await)
    }

    /// Whether somebody may take back now what was approved for a while: an owner, whoever approved it or asked for it, or an
    /// admin of each chat who holds its right.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn may_end(&self, user: &UserId, grant: &Grant) -> Result<bool, StoreError> {
        if grant.by == *user || grant.requester.user == *user {
            return Ok(true);
        }
        let is_owner = is_owner(&self.access, &*self.settings.access().await?, user);
        Ok(is_owner || holds(user, grant.right.as_deref(), &grant.targets, &*self.admins).await.is_ok())
    }

    /// Whether somebody has approved these calls for a while, and might still do so.
    pub(in crate::tools) async fn has_granted(
        &self,
        wanted: &Approval,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let grants = self.grants.letting(wanted, now);
        for grant in &grants {
            if self.may_rule(Ruled::Hour, &grant.by, wanted).await?.is_err() {
                return Ok(false);
            }
        }
        Ok(!grants.is_empty())
    }
}
