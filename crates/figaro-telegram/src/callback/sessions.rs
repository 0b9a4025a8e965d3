//! The buttons of the list of sessions and of a session's cards.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, ModelKey, Page};
use figaro_base::ids::SessionId;

/// The buttons of sessions. Each of one session acts on no other, and on none of another conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// Shows a page of the conversation's sessions, from 0.
    List(Page),
    /// Shows the card of a session.
    Open(SessionId),
    /// Makes it the one that the next question belongs to.
    Switch(SessionId),
    /// Asks for its new name.
    Rename(SessionId),
    /// Sends it as a file.
    Export(SessionId),
    /// Asks whether it is to be deleted.
    Ask(SessionId),
    /// Deletes it.
    Delete(SessionId),
    /// Shows the models to choose one of for it.
    Models(SessionId),
    /// Sets the model that answers in it.
    Set(SessionId, ModelKey<24>),
    /// Takes its model away: that of the chat answers again.
    Clear(SessionId),
}

impl Family for Sessions {
    const NAME: &'static str = "sessions";
}

impl Display for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Open(session) => write!(f, "{name}:open:{session}"),
            Self::Switch(session) => write!(f, "{name}:use:{session}"),
            Self::Rename(session) => write!(f, "{name}:name:{session}"),
            Self::Export(session) => write!(f, "{name}:save:{session}"),
            Self::Ask(session) => write!(f, "{name}:ask:{session}"),
            Self::Delete(session) => write!(f, "{name}:drop:{session}"),
            Self::Models(session) => write!(f, "{name}:models:{session}"),
            Self::Set(session, model) => write!(f, "{name}:set:{session}:{model}"),
            Self::Clear(session) => write!(f, "{name}:clear:{session}"),
        }
    }
}

impl FromStr for Sessions {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "open" => Self::Open(fields.parse()?),
            "use" => Self::Switch(fields.parse()?),
            "name" => Self::Rename(fields.parse()?),
            "save" => Self::Export(fields.parse()?),
            "ask" => Self::Ask(fields.parse()?),
            "drop" => Self::Delete(fields.parse()?),
            "models" => Self::Models(fields.parse()?),
            "set" => Self::Set(fields.parse()?, fields.rest()?.parse()?),
            "clear" => Self::Clear(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
