//! The buttons under a call that takes an approval, and those of the list of what waits.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};
use figaro_base::ids::RunId;
use figaro_domain::approval::Ruled;

/// A button of what waits for an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approve {
    /// Shows a page of the list.
    List(Page),
    /// Shows the call that this turn waits with.
    Open(RunId, Page),
    /// Says this to the call that this turn waits with; of a card that was opened from the list, with its page.
    Rule(RunId, Ruled, Option<Page>),
    /// Shows the call that this turn waits with, with or without its details; of a card that was opened from the list, with its page.
    Details(RunId, bool, Option<Page>),
    /// Ends the hour for which the call of this turn was approved; of the list, with its page.
    End(RunId, Option<Page>),
}

impl Family for Approve {
    const NAME: &'static str = "approve";
}

impl Display for Approve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Open(turn, page) => write!(f, "{name}:open:{turn}:{page}"),
            Self::Details(turn, is_whole, page) => {
                write!(f, "{name}:{}:{turn}", if *is_whole { "details" } else { "brief" })?;
                page.map_or(Ok(()), |page| write!(f, ":{page}"))
            }
            Self::End(turn, page) => {
                write!(f, "{name}:end:{turn}")?;
                page.map_or(Ok(()), |page| write!(f, ":{page}"))
            }
            Self::Rule(turn, ruled, page) => {
                let word = match ruled {
                    Ruled::Once => "once",
                    Ruled::Hour => "hour",
                    Ruled::Denied => "deny",
                };
                write!(f, "{name}:{word}:{turn}")?;
                page.map_or(Ok(()), |page| write!(f, ":{page}"))
            }
        }
    }
}

impl FromStr for Approve {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "open" => Self::Open(fields.parse()?, fields.page()),
            "once" => Self::Rule(fields.parse()?, Ruled::Once, fields.parse().ok()),
            "hour" => Self::Rule(fields.parse()?, Ruled::Hour, fields.parse().ok()),
            "deny" => Self::Rule(fields.parse()?, Ruled::Denied, fields.parse().ok()),
            "details" => Self::Details(fields.parse()?, true, fields.parse().ok()),
            "brief" => Self::Details(fields.parse()?, false, fields.parse().ok()),
            "end" => Self::End(fields.parse()?, fields.parse().ok()),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
