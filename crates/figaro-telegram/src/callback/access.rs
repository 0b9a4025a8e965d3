//! The buttons by which an owner decides whether somebody may talk to the bot.

use super::Short;
use super::buttons::{as_word, buttons};
use figaro_base::ids::ChatId;
use figaro_domain::role::AccessRole;

/// What an owner decides about somebody who wants to talk to the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// They may talk to the bot.
    Allow,
    /// They may not, and ask nobody again for a while.
    Ignore,
    /// They are denied everywhere.
    Block,
}

impl Decision {
    /// All of them, in the order of their buttons.
    pub(crate) const ALL: [Self; 3] = [Self::Allow, Self::Ignore, Self::Block];

    const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ignore => "ignore",
            Self::Block => "block",
        }
    }
}

buttons! {
    /// A button under the question whether somebody may talk to the bot.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Admit = "admit" {
        /// What is decided.
        pub(crate) decision: Decision,
        /// The number of the person's Telegram account.
        pub(crate) person: i64,
        /// The IETF tag of the language to greet them in; none for the bot's own.
        pub(crate) language: Option<Short<12>>,
    }
}

/// What an owner decides about a group that the bot was brought into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupDecision {
    /// Everybody there may talk to the bot.
    Allow,
    /// The bot leaves, and nobody there may talk to it.
    Leave,
    /// The bot stays and is silent.
    Ignore,
}

impl GroupDecision {
    /// All of them, in the order of their buttons.
    pub(crate) const ALL: [Self; 3] = [Self::Allow, Self::Leave, Self::Ignore];

    const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Leave => "leave",
            Self::Ignore => "ignore",
        }
    }
}

buttons! {
    /// A button under the question whether a group may talk to the bot.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct AdmitGroup = "group" {
        /// What is decided.
        pub(crate) decision: GroupDecision,
        /// The group that an owner lets in, leaves or ignores.
        pub(crate) chat: ChatId,
    }
}

buttons! {
    /// The button that makes a code which lets somebody in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct MakeCode = "code", "new"
}

buttons! {
    /// The buttons under the question whether nobody in the group may talk to the bot any more, and the way to the card of `/deny`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum DenyHere = "deny" {
        /// The whole group is shut out: yes, after the question.
        Yes = "yes",
        /// It stays as it is.
        No = "no",
        /// Opens the list of people and groups that are shut out.
        Show = "show",
    }
}

buttons! {
    /// A button that gives somebody a role.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct GiveRole = "role" {
        /// The role that they are given.
        pub(crate) role: AccessRole,
        /// The number of the person's Telegram account.
        pub(crate) person: i64,
        /// Where it holds; everywhere without one.
        pub(crate) chat: Option<ChatId>,
    }
}

as_word!(Decision, GroupDecision, AccessRole);
