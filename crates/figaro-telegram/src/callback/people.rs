//! Buttons of the list of people who may talk to the bot, and of the card of a person.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{ButtonFamily, Fields, Gone, Page};
use figaro_base::ids::ChatId;
use figaro_domain::role::AccessRole;

/// Button of the list or of a card. A person is named by their Telegram user id. The page is the list page that the
/// card was opened from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeopleButton {
    /// Shows a page of the list.
    List(Page),
    /// Shows the card of a person.
    Open(i64, Page),
    /// Lets a person talk to the bot.
    Allow(i64, Page),
    /// Denies a person in every chat.
    Deny(i64, Page),
    /// Gives a person a role that holds everywhere.
    Role(AccessRole, i64, Page),
    /// Removes the role and the ban of a person in a chat; `None` for those that hold everywhere.
    Lift(i64, Option<ChatId>, Page),
}

impl ButtonFamily for PeopleButton {
    const NAME: &'static str = "people";
}

impl Display for PeopleButton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Open(person, page) => write!(f, "{name}:open:{person}:{page}"),
            Self::Allow(person, page) => write!(f, "{name}:allow:{person}:{page}"),
            Self::Deny(person, page) => write!(f, "{name}:deny:{person}:{page}"),
            Self::Role(role, person, page) => write!(f, "{name}:{}:{person}:{page}", role.word()),
            Self::Lift(person, chat, page) => {
                write!(f, "{name}:lift:{person}:{}:{page}", chat.unwrap_or(EVERYWHERE).0)
            }
        }
    }
}

impl FromStr for PeopleButton {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "open" => Self::Open(fields.parse()?, fields.page()),
            "allow" => Self::Allow(fields.parse()?, fields.page()),
            "deny" => Self::Deny(fields.parse()?, fields.page()),
            "lift" => {
                let (person, chat) = (fields.parse()?, ChatId(fields.parse()?));
                Self::Lift(person, Some(chat).filter(|chat| *chat != EVERYWHERE), fields.page())
            }
            role => Self::Role(AccessRole::named(role).ok_or(Gone)?, fields.parse()?, fields.page()),
        };
        fields.end(press)
    }
}

/// Stands for "everywhere" in the data; no chat has this id.
const EVERYWHERE: ChatId = ChatId(0);
