//! Requirements for approving calls that a rule asks about.

use figaro_mcp::table::Method;

use figaro_policy::tools::{AdminRight, Decided};

/// Reason for an approval, and its requirements.
pub(in crate::tools) struct ApprovalRequirement {
    /// Reason, to follow "not allowed:".
    pub(in crate::tools) reason: String,
    /// Name of the rule.
    pub(in crate::tools) rule: String,
    /// Right that an admin of the chats needs to approve, by its Bot API name; `None` if only an owner may.
    pub(in crate::tools) right: Option<&'static str>,
    /// `true` if somebody other than the requester must approve.
    pub(in crate::tools) needs_other: bool,
    /// `true` if it may be approved for an hour.
    pub(super) may_last: bool,
}

impl ApprovalRequirement {
    pub(super) fn of(decided: Decided, method: &Method) -> Self {
        Self {
            may_last: may_last(&decided, method),
            right: decided.right.map(AdminRight::name),
            needs_other: decided.people >= 2,
            rule: decided.rule.as_str().to_owned(),
            reason: decided.reason,
        }
    }

    /// Combines two requirements into the stricter one, with the reason of the first.
    pub(super) fn and(self, other: &Self) -> Self {
        Self {
            right: self.right.filter(|right| other.right == Some(right)),
            needs_other: self.needs_other || other.needs_other,
            may_last: self.may_last && other.may_last,
            ..self
        }
    }
}

/// Returns `true` if the call may be approved for an hour: an admin of one chat approves it, it can be undone, and it gives
/// nobody power.
fn may_last(decided: &Decided, method: &Method) -> bool {
    let lasting = [AdminRight::PinMessages, AdminRight::PostMessages, AdminRight::ManageTopics];
    let is_mild = decided.right.is_some_and(|right| lasting.contains(&right)) && !method.irreversible;
    let is_plain =
        ["default/other_chat", "default/others_message", "default/other"].contains(&decided.rule.as_str());
    is_mild && (is_plain || decided.rule.is_owners()) && decided.people < 2
}
