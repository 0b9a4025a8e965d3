//! What it takes that calls are made which a rule asks about.

use figaro_mcp::table::Method;

use figaro_policy::tools::{AdminRight, Decided};

/// Why calls are not made before a person has approved them, and what that takes.
pub(in crate::tools) struct Asks {
    /// In words that follow "not allowed:".
    pub(in crate::tools) reason: String,
    /// The rule by its name.
    pub(in crate::tools) rule: String,
    /// The right by which an admin of the chats may approve, by its name in the Bot API; none where only an owner may.
    pub(in crate::tools) right: Option<&'static str>,
    /// Whether whoever asked may not approve.
    pub(in crate::tools) needs_other: bool,
    /// Whether it may be approved for a while.
    pub(super) may_last: bool,
}

impl Asks {
    pub(super) fn of(decided: Decided, method: &Method) -> Self {
        Self {
            may_last: may_last(&decided, method),
            right: decided.right.map(AdminRight::name),
            needs_other: decided.people >= 2,
            rule: decided.rule.as_str().to_owned(),
            reason: decided.reason,
        }
    }

    /// What an approval of both takes, told as the first of them.
    pub(super) fn and(self, other: &Self) -> Self {
        Self {
            right: self.right.filter(|right| other.right == Some(right)),
            needs_other: self.needs_other || other.needs_other,
            may_last: self.may_last && other.may_last,
            ..self
        }
    }
}

/// Whether what was approved may be approved for a while: only where an admin of one chat judges it, and what it does can be
/// taken back and gives nobody power.
fn may_last(decided: &Decided, method: &Method) -> bool {
    let lasting = [AdminRight::PinMessages, AdminRight::PostMessages, AdminRight::ManageTopics];
    let is_mild = decided.right.is_some_and(|right| lasting.contains(&right)) && !method.irreversible;
    let is_plain =
        ["default/other_chat", "default/others_message", "default/other"].contains(&decided.rule.as_str());
    is_mild && (is_plain || decided.rule.is_owners()) && decided.people < 2
}
