//! Approvers of calls and their undoing, and approvals for an hour.

use std::collections::HashSet;
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
use figaro_policy::tools::{CallerRole, Rules};
use figaro_store::{SettingsStore, StoreError};

/// Maximum number of grants. Beyond it the oldest are dropped, and people are asked again.
const MAX_GRANTS: usize = 1_000;

/// Approvals for an hour. Not stored: after a restart people are asked again. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Grants(Arc<Mutex<Vec<Grant>>>);

impl Grants {
    /// Adds grants given by a person.
    pub fn add(&self, grants: Vec<Grant>, now: DateTime<Utc>) {
        let mut all = self.0.lock();
        all.retain(|grant| now < grant.until);
        all.extend(grants);
        let excess = all.len().saturating_sub(MAX_GRANTS);
        all.drain(..excess);
    }

    /// Returns the current grants, oldest first: the first of each turn, since [`Self::end`] revokes all of a turn.
    #[must_use]
    pub fn open(&self, now: DateTime<Utc>) -> Vec<Grant> {
        let (all, mut turns) = (self.0.lock(), HashSet::new());
        let open = all.iter().filter(|grant| now < grant.until);
        open.filter(|grant| turns.insert(grant.run)).cloned().collect()
    }

    /// Revokes the grants of a turn's call and returns them.
    pub fn end(&self, run: RunId, now: DateTime<Utc>) -> Vec<Grant> {
        let mut all = self.0.lock();
        let ended = all.extract_if(.., |grant| grant.run == run);
        ended.filter(|grant| now < grant.until).collect()
    }

    /// Returns the grants that cover all calls of this approval; empty if one call is not covered.
    fn letting(&self, wanted: &Approval, now: DateTime<Utc>) -> Vec<Grant> {
        let all = self.0.lock();
        let find = |method: &str| all.iter().find(|grant| grant.lets(method, wanted, now)).cloned();
        let found = wanted.calls.iter().map(|call| find(&call.method));
        found.collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// Decides who may approve, deny or undo a call.
#[derive(Debug, Clone)]
pub struct Approvers {
    /// Owners named by the settings, and the access mode.
    pub access: AccessSettings,
    /// Owners who opened an invite, and the access list.
    pub settings: SettingsStore,
    /// Admin rights in chats.
    pub admins: Arc<dyn Admins>,
    /// Approvals that hold for an hour; not stored.
    pub grants: Grants,
}

impl Approvers {
    /// Returns the role of the requester. Admins are looked up only if a rule needs it.
    pub(in crate::tools) async fn role(&self, rules: &Rules, context: &ToolContext) -> CallerRole {
        let is_admin = || self.admins.is_admin(context.place.chat, &context.speaker.user);
        match context.standing {
            Standing::Owner => CallerRole::Owner,
            Standing::Borrowed | Standing::Guest => CallerRole::Guest,
            Standing::Admin => CallerRole::Admin,
            Standing::Member if rules.tells_admins() && is_admin().await => CallerRole::Admin,
            Standing::Member => CallerRole::Member,
        }
    }

    /// Returns `true` if an owner has made the requester a guest by now.
    ///
    /// # Errors
    /// If the store fails.
    pub(in crate::tools) fn is_guest(&self, context: &ToolContext) -> Result<bool, StoreError> {
        let (list, user) = (self.settings.access()?, &context.speaker.user);
        let verdict = judge(&self.access, &list, &context.place, user, context.now);
        Ok(verdict == Verdict::Allow(Standing::Guest))
    }

    /// Checks that a person may rule on a call now. The inner error is the reason why not.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn may_rule(
        &self,
        ruled: Ruled,
        user: &UserId,
        approval: &Approval,
    ) -> Result<Result<(), NotAllowed>, StoreError> {
        let is_owner = is_owner(&self.access, &*self.settings.access()?, user);
        Ok(may_rule(ruled, user, is_owner, approval, &*self.admins).await)
    }

    /// Checks that a person may undo a turn's calls now. The inner error is the reason why not.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn may_undo(
        &self,
        user: &UserId,
        undo: &TurnUndo,
    ) -> Result<Result<(), NotAllowed>, StoreError> {
        let is_owner = is_owner(&self.access, &*self.settings.access()?, user);
        Ok(may_undo(user, is_owner, undo, &*self.admins).await)
    }

    /// Returns `true` if a person may revoke a grant: an owner, its giver or requester, or an admin of each chat with the
    /// required right.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn may_end(&self, user: &UserId, grant: &Grant) -> Result<bool, StoreError> {
        if grant.by == *user || grant.requester.user == *user {
            return Ok(true);
        }
        let is_owner = is_owner(&self.access, &*self.settings.access()?, user);
        Ok(is_owner || holds(user, grant.right.as_deref(), &grant.targets, &*self.admins).await.is_ok())
    }

    /// Returns `true` if these calls are covered by grants whose givers may still give them.
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

#[cfg(test)]
mod tests {
    use figaro_base::ids::ChatId;
    use figaro_domain::approval::{Fingerprint, MethodCall, Ruling};
    use figaro_domain::message::Speaker;

    use super::*;

    #[test]
    fn a_turn_with_several_grants_is_listed_once_and_revoked_whole() {
        let now = DateTime::UNIX_EPOCH;
        let approval = Approval {
            fingerprint: Fingerprint::of(RunId::new(), "c", &[]),
            calls: vec![MethodCall { method: "pinChatMessage".into(), arguments: serde_json::Map::new() }],
            server: None,
            targets: vec![],
            people: vec![],
            about: None,
            right: None,
            needs_other: false,
            may_last: true,
            rule: "default/other".into(),
            reason: None,
            read: None,
            asked_in: ChatId(-5),
            requester: Speaker { user: UserId::telegram(1), name: "Ann".into(), username: None },
        };
        let ruling = Ruling { ruled: Ruled::Hour, by: UserId::telegram(2), name: "Bob".into(), at: now };
        let (first, second) = (RunId::new(), RunId::new());
        let grants = Grants::default();
        for run in [first, second, first] {
            grants.add(approval.grants(run, &ruling), now);
        }
        let open = |grants: &Grants| grants.open(now).iter().map(|grant| grant.run).collect::<Vec<_>>();
        assert_eq!(open(&grants), [first, second]);
        assert_eq!(grants.end(first, now).len(), 2);
        assert_eq!(open(&grants), [second]);
    }
}
