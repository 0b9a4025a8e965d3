//! The buttons of other MCP servers.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page, Short};

/// A button of the cards of `/mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Servers {
    /// Shows a page of the servers.
    List(Page),
    /// Shows a server, with a page of its tools.
    Open(Short<32>, Page),
    /// Starts a server anew.
    Restart(Short<32>),
}

impl Family for Servers {
    const NAME: &'static str = "mcp";
}

impl Display for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Open(server, page) => write!(f, "{name}:open:{server}:{page}"),
            Self::Restart(server) => write!(f, "{name}:restart:{server}"),
        }
    }
}

impl FromStr for Servers {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "open" => Self::Open(fields.parse()?, fields.page()),
            "restart" => Self::Restart(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
