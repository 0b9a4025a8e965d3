//! The buttons of the list of people who may talk to the bot, and of the card of one of them.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};
use figaro_base::ids::ChatId;
use figaro_domain::role::AccessRole;

/// A button of the list or of a card. People are named by the numbers of their Telegram accounts; the page is that of the list which
/// the card was opened from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum People {
    /// Shows a page of the list.
    List(Page),
    /// Shows the card of a person.
    Open(i64, Page),
    /// Lets a person talk to the bot.
    Allow(i64, Page),
    /// Shuts a person out.
    Deny(i64, Page),
    /// Gives a person a role that holds everywhere.
    Role(AccessRole, i64, Page),
    /// Takes back the role and the ban that a person has in a chat; without one, those that hold everywhere.
    Lift(i64, Option<ChatId>, Page),
}

impl Family for People {
    const NAME: &'static str = "people";
}

impl Display for People {
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

impl FromStr for People {
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

/// No chat has this number.
const EVERYWHERE: ChatId = ChatId(0);
