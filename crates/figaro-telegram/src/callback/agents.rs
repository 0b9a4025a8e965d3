//! The buttons that show agents and choose which one answers.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page, Short};

/// The buttons of the cards of `/agents`. A page is the one of the list that is shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agents {
    /// Shows a page of the agents to choose one of for the chat.
    List(Page),
    /// Has this agent answer in the chat.
    Set(Short<40>, Page),
    /// Takes the chat's agent away.
    Clear(Page),
    /// Shows a page of the agents to choose one of for the conversation that goes on now.
    Here(Page),
    /// Has this agent answer in that conversation alone.
    SetHere(Short<40>, Page),
    /// Takes that conversation's agent away: that of the chat answers again.
    ClearHere(Page),
}

impl Family for Agents {
    const NAME: &'static str = "agents";
}

impl Display for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Set(agent, page) => write!(f, "{name}:set:{agent}:{page}"),
            Self::Clear(page) => write!(f, "{name}:clear:{page}"),
            Self::Here(page) => write!(f, "{name}:here:{page}"),
            Self::SetHere(agent, page) => write!(f, "{name}:use:{agent}:{page}"),
            Self::ClearHere(page) => write!(f, "{name}:drop:{page}"),
        }
    }
}

impl FromStr for Agents {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "set" => Self::Set(fields.parse()?, fields.page()),
            "clear" => Self::Clear(fields.page()),
            "here" => Self::Here(fields.page()),
            "use" => Self::SetHere(fields.parse()?, fields.page()),
            "drop" => Self::ClearHere(fields.page()),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
