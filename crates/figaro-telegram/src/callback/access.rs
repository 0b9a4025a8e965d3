//! The buttons by which an owner decides whether somebody may talk to the bot.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Short};
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

/// A button under the question whether somebody may talk to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Admit {
    /// What is decided.
    pub(crate) decision: Decision,
    /// The number of the person's Telegram account.
    pub(crate) person: i64,
    /// The IETF tag of the language to greet them in; none for the bot's own.
    pub(crate) language: Option<Short<12>>,
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

/// A button under the question whether a group may talk to the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AdmitGroup {
    /// What is decided.
    pub(crate) decision: GroupDecision,
    /// The group that an owner lets in, leaves or ignores.
    pub(crate) chat: ChatId,
}

impl Family for AdmitGroup {
    const NAME: &'static str = "group";
}

impl Display for AdmitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", Self::NAME, self.decision.word(), self.chat.0)
    }
}

impl FromStr for AdmitGroup {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let word = fields.word()?;
        let decision = GroupDecision::ALL.into_iter().find(|one| one.word() == word).ok_or(Gone)?;
        let chat = ChatId(fields.parse()?);
        fields.end(Self { decision, chat })
    }
}

impl Family for Admit {
    const NAME: &'static str = "admit";
}

impl Display for Admit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", Self::NAME, self.decision.word(), self.person)?;
        self.language.as_ref().map_or(Ok(()), |language| write!(f, ":{language}"))
    }
}

impl FromStr for Admit {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let word = fields.word()?;
        let decision = Decision::ALL.into_iter().find(|decision| decision.word() == word).ok_or(Gone)?;
        let (person, language) = (fields.parse()?, fields.parse().ok());
        fields.end(Self { decision, person, language })
    }
}

/// The button that makes a code which lets somebody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MakeCode;

impl Family for MakeCode {
    const NAME: &'static str = "code";
}

impl Display for MakeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:new", Self::NAME)
    }
}

impl FromStr for MakeCode {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        if fields.word()? == "new" { fields.end(Self) } else { Err(Gone) }
    }
}

/// The buttons under the question whether nobody in the group may talk to the bot any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DenyHere {
    /// The whole group is shut out: yes, after the question.
    Yes,
    /// It stays as it is.
    No,
}

impl Family for DenyHere {
    const NAME: &'static str = "deny";
}

impl Display for DenyHere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::NAME, if *self == Self::Yes { "yes" } else { "no" })
    }
}

impl FromStr for DenyHere {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "yes" => Self::Yes,
            "no" => Self::No,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// A button that gives somebody a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GiveRole {
    /// The role that they are given.
    pub(crate) role: AccessRole,
    /// The number of the person's Telegram account.
    pub(crate) person: i64,
    /// Where it holds; everywhere without one.
    pub(crate) chat: Option<ChatId>,
}

impl Family for GiveRole {
    const NAME: &'static str = "role";
}

impl Display for GiveRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", Self::NAME, self.role.word(), self.person)?;
        self.chat.map_or(Ok(()), |chat| write!(f, ":{}", chat.0))
    }
}

impl FromStr for GiveRole {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let role = AccessRole::named(fields.word()?).ok_or(Gone)?;
        let person = fields.parse()?;
        let chat = match fields.word() {
            Ok(chat) => Some(ChatId(chat.parse().map_err(|_error| Gone)?)),
            Err(Gone) => None,
        };
        fields.end(Self { role, person, chat })
    }
}
