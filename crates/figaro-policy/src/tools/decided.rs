//! What was decided about a call, and by which rule.

use std::fmt;
use std::sync::Arc;

use super::right::AdminRight;

/// What the names of an owner's rules begin with.
pub const OWNERS: &str = "owner/";

/// What becomes of a call. The later of two is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The call is made.
    Allow,
    /// A person has to approve it.
    Ask,
    /// It is never made.
    Deny,
}

impl Decision {
    /// All of them, from the mildest.
    pub(crate) const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The word for it in rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The name of a rule: `limit/…` for one that nobody can open, `default/…` for one that is built in, `owner/…` for one of
/// the owner's file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuleName(Arc<str>);

impl RuleName {
    /// A rule that is part of the code.
    pub(super) fn limit(name: &str) -> Self {
        Self(format!("limit/{name}").into())
    }

    /// A rule that is built in as data.
    pub(super) fn built_in(name: &str) -> Self {
        Self(format!("default/{name}").into())
    }

    /// A rule of the owner's file.
    pub(super) fn of_owner(name: &str) -> Self {
        Self(format!("{OWNERS}{name}").into())
    }

    /// The name as it is told and recorded.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands in the owner's file.
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

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What becomes of it.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: RuleName,
    /// Why, in words that follow "not allowed:"; empty where it is allowed.
    pub reason: String,
    /// For [`Decision::Ask`]: the right that somebody else than an owner needs in each chat that the call names. `None` where
    /// only an owner may approve.
    pub right: Option<AdminRight>,
    /// For [`Decision::Ask`]: how many people it takes with the one who asked; with 2 nobody approves what they asked for.
    pub people: u8,
    /// For [`Decision::Ask`]: nobody can be asked, as it is the run of a task.
    pub unattended: bool,
}

impl Decided {
    /// A refusal that no rule opens.
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
