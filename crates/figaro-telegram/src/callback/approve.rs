//! Buttons under a call that needs an approval, and buttons of the list of waiting calls.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{ButtonFamily, Fields, Gone, Page};
use figaro_base::ids::RunId;
use figaro_domain::approval::Ruled;

/// Button of a call that waits for an approval, or of the list of these calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApproveButton {
    /// Shows a page of the list.
    List(Page),
    /// Shows the waiting call of this turn.
    Open(RunId, Page),
    /// Approves or denies the waiting call of this turn; with the list page if the card was opened from the list.
    Rule(RunId, Ruled, Option<Page>),
    /// Shows the waiting call of this turn, with its details if `true`; with the list page if the card was opened
    /// from the list.
    Details(RunId, bool, Option<Page>),
    /// Ends the approval for an hour that this turn's call got; with the list page if pressed in the list.
    End(RunId, Option<Page>),
}

impl ButtonFamily for ApproveButton {
    const NAME: &'static str = "approve";
}

impl Display for ApproveButton {
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

impl FromStr for ApproveButton {
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
