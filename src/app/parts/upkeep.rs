//! What looks after the store and the rules in the background.

use std::sync::Arc;

use super::base::Base;
use crate::app::policy::PolicyWatch;
use crate::delivery::Owners;
use crate::retention::{Retention, Rewriter};

/// What forgets by age.
pub(super) fn retention(base: &Base<'_>) -> Retention {
    Retention {
        inbox: base.store.clone(),
        settings: base.store.clone(),
        facts: base.store.clone(),
        audit: base.store.clone(),
        undos: base.store.clone(),
        tasks: base.store.clone(),
        receptions: base.store.clone(),
        audit_kept: base.settings.store.audit_kept,
        kept: base.settings.store.kept,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

/// What rewrites the store when something was erased.
pub(super) fn rewriter(base: &Base<'_>) -> Rewriter {
    Rewriter {
        erasures: base.store.clone(),
        after: base.settings.store.rewritten_after,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}

/// What has a change of the owner's rules hold.
pub(super) fn policy_watch(base: &Base<'_>, owners: Arc<dyn Owners>) -> PolicyWatch {
    PolicyWatch {
        file: base.settings.policy.file.clone(),
        text: base.policy_text.clone(),
        policy: base.policy.clone(),
        owners,
        languages: base.languages.clone(),
        background: base.groups.front.clone(),
    }
}
