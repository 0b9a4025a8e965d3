//! Buttons with which an owner lets people and groups talk to the bot, or denies it.

use super::Short;
use super::buttons::{as_word, buttons};
use figaro_base::ids::ChatId;
use figaro_domain::role::AccessRole;

/// Decision of an owner about a person who wants to talk to the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessDecision {
    /// The person may talk to the bot.
    Allow,
    /// The person may not talk to the bot, and cannot ask again for a while.
    Ignore,
    /// The person is denied in every chat.
    Block,
}

impl AccessDecision {
    /// All decisions, in the order of their buttons.
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
    /// Button under an owner's question about a person who wants to talk to the bot.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct AdmitButton = "admit" {
        pub(crate) decision: AccessDecision,
        /// Telegram user id of the person.
        pub(crate) person: i64,
        /// IETF tag of the language to greet the person in; `None` for the bot's own.
        pub(crate) language: Option<Short<12>>,
    }
}

/// Decision of an owner about a group that the bot was added to.
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
    /// All decisions, in the order of their buttons.
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
    /// Button under an owner's question about a group that the bot was added to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct AdmitGroupButton = "group" {
        pub(crate) decision: GroupDecision,
        /// Id of the group in question.
        pub(crate) chat: ChatId,
    }
}

buttons! {
    /// Button that creates a code which lets one person in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct MakeCodeButton = "code", "new"
}

buttons! {
    /// Buttons under the question to deny the whole group, and the button that opens the card of `/deny`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum DenyHereButton = "deny" {
        /// Confirms the question: the whole group is denied.
        Yes = "yes",
        No = "no",
        /// Opens the list of denied people and groups.
        Show = "show",
    }
}

buttons! {
    /// Button that gives a person a role.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct GiveRoleButton = "role" {
        pub(crate) role: AccessRole,
        /// Telegram user id of the person.
        pub(crate) person: i64,
        /// Chat in which the role holds; `None` for every chat.
        pub(crate) chat: Option<ChatId>,
    }
}

as_word!(AccessDecision, GroupDecision, AccessRole);
