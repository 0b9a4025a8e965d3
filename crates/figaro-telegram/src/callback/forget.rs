//! The buttons by which people have Figaro forget, and get what it keeps.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};
use figaro_base::ids::{MessageId, SessionId};
use figaro_domain::conversation::EntryKey;
use figaro_domain::erasure::SaidAt;

/// The number of a search, by which its buttons find what it has found.
pub(crate) type Search = u32;

/// The buttons of `/forget`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forget {
    /// Shows what can be forgotten.
    Menu,
    /// Leaves all as it is.
    Keep,
    /// Asks whether the current session is to be forgotten.
    AskSession,
    /// Forgets a session.
    Session(SessionId),
    /// Asks whether all about somebody is to be forgotten.
    AskAll,
    /// Forgets all about whoever asked, by their number at Telegram: nobody else's press counts.
    All(i64),
    /// Asks whether a message is to be forgotten, which a search has found.
    AskSaid(SaidKey, Option<Search>),
    /// Forgets a message.
    Said(SaidKey),
    /// Shows a page of what a search has found.
    Found(Search, Page),
    /// Asks whether all that a search has found is to be forgotten.
    AskFound(Search),
    /// Forgets all that a search has found.
    AllFound(Search),
}

/// Where a message is kept, in a button: `SESSION.INDEX`, or its number behind a `b` for one beside the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SaidKey(pub(crate) SaidAt);

impl Display for SaidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SaidAt::Session(key) => write!(f, "{}.{}", key.session, key.index),
            SaidAt::Background(message) => write!(f, "b{message}"),
        }
    }
}

impl FromStr for SaidKey {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        if let Some(number) = text.strip_prefix('b') {
            return number
                .parse()
                .map(|number| Self(SaidAt::Background(MessageId(number))))
                .map_err(|_error| Gone);
        }
        let (session, index) = text.split_once('.').ok_or(Gone)?;
        let session = session.parse().map_err(|_error| Gone)?;
        let index = index.parse().map_err(|_error| Gone)?;
        Ok(Self(SaidAt::Session(EntryKey { session, index })))
    }
}

impl Family for Forget {
    const NAME: &'static str = "forget";
}

impl Display for Forget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Menu => write!(f, "{name}:menu"),
            Self::Keep => write!(f, "{name}:keep"),
            Self::AskSession => write!(f, "{name}:here"),
            Self::Session(session) => write!(f, "{name}:session:{session}"),
            Self::AskAll => write!(f, "{name}:me"),
            Self::All(user) => write!(f, "{name}:all:{user}"),
            Self::AskSaid(said, None) => write!(f, "{name}:ask:{said}"),
            Self::AskSaid(said, Some(search)) => write!(f, "{name}:ask:{said}:{search}"),
            Self::Said(said) => write!(f, "{name}:said:{said}"),
            Self::Found(search, page) => write!(f, "{name}:found:{search}:{page}"),
            Self::AskFound(search) => write!(f, "{name}:askall:{search}"),
            Self::AllFound(search) => write!(f, "{name}:allfound:{search}"),
        }
    }
}

impl FromStr for Forget {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "menu" => Self::Menu,
            "keep" => Self::Keep,
            "here" => Self::AskSession,
            "session" => Self::Session(fields.parse()?),
            "me" => Self::AskAll,
            "all" => Self::All(fields.parse()?),
            "ask" => {
                let said = fields.parse()?;
                let search = fields.word().ok().map(str::parse).transpose();
                Self::AskSaid(said, search.map_err(|_no_number| Gone)?)
            }
            "said" => Self::Said(fields.parse()?),
            "found" => Self::Found(fields.parse()?, fields.page()),
            "askall" => Self::AskFound(fields.parse()?),
            "allfound" => Self::AllFound(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// The button that shows `/privacy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Privacy;

impl Family for Privacy {
    const NAME: &'static str = "privacy";
}

impl Display for Privacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:show", Self::NAME)
    }
}

impl FromStr for Privacy {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        if data == Self.to_string() { Ok(Self) } else { Err(Gone) }
    }
}

/// The buttons of `/export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Export {
    /// Shows what can be had.
    Menu,
    /// Sends the current session.
    Session,
    /// Sends all that is kept of whoever presses.
    All,
}

impl Family for Export {
    const NAME: &'static str = "export";
}

impl Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self {
            Self::Menu => "menu",
            Self::Session => "session",
            Self::All => "all",
        };
        write!(f, "{}:{verb}", Self::NAME)
    }
}

impl FromStr for Export {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        match Fields::of::<Self>(data)?.rest()? {
            "menu" => Ok(Self::Menu),
            "session" => Ok(Self::Session),
            "all" => Ok(Self::All),
            _ => Err(Gone),
        }
    }
}
