//! Decision about a call, and the rule behind it.

use std::fmt;
use std::sync::Arc;

use super::right::AdminRight;

/// Name of the rule that asks about calls again after a text by others was read.
pub const AFTER_READING: &str = "default/after_reading";
/// Prefix of the names of an owner's rules.
pub const OWNERS: &str = "owner/";

/// Decision of a rule. The later of two is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The call is made.
    Allow,
    /// A person has to approve the call.
    Ask,
    /// The call is refused, whoever asks.
    Deny,
}

impl Decision {
    /// All decisions, the mildest first.
    pub(crate) const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Returns the name of the decision in rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Name of a rule: `limit/…` for a limit that no rule lifts, `default/…` for a built-in rule, `owner/…` for a rule of the
/// owner's file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuleName(Arc<str>);

impl RuleName {
    /// Names a rule that is part of the code.
    pub(super) fn limit(name: &str) -> Self {
        Self(format!("limit/{name}").into())
    }

    /// Names a built-in rule.
    pub(super) fn built_in(name: &str) -> Self {
        Self(format!("default/{name}").into())
    }

    /// Names a rule of the owner's file.
    pub(super) fn of_owner(name: &str) -> Self {
        Self(format!("{OWNERS}{name}").into())
    }

    /// Returns the full name, as shown and recorded.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the rule is in the owner's file.
    #[must_use]
    pub fn is_owners(&self) -> bool {
        self.0.starts_with(OWNERS)
    }
}

impl fmt::Display for RuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A decision about a call and its grounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Allow, ask or deny.
    pub decision: Decision,
    /// Name of the rule that decided.
    pub rule: RuleName,
    /// Reason that follows "not allowed:"; empty if the call is allowed.
    pub reason: String,
    /// For [`Decision::Ask`]: the right that an approver other than an owner needs in each chat that the call names.
    /// `None` if only an owner may approve.
    pub right: Option<AdminRight>,
    /// For [`Decision::Ask`]: the number of people needed, requester included; with 2 nobody approves their own request.
    pub people: u8,
    /// For [`Decision::Ask`]: `true` in the run of a task, where nobody can be asked.
    pub unattended: bool,
}

impl Decided {
    /// Asks about a call that a rule would allow: the turn has read a text by others, which may have turned the model.
    pub(super) fn after_reading(read: Option<&str>, task: bool) -> Self {
        let read = read.unwrap_or_default();
        Self {
            decision: Decision::Ask,
            rule: RuleName(AFTER_READING.into()),
            reason: format!("it acts elsewhere, and this turn has read a text by others before ({read})"),
            right: None,
            people: 1,
            unattended: task,
        }
    }

    /// Builds a refusal that no rule lifts.
    pub(super) fn limit(name: &str, reason: String) -> Self {
        Self {
            decision: Decision::Deny,
            rule: RuleName::limit(name),
            reason,
            right: None,
            people: 1,
            unattended: false,
        }
    }
}
