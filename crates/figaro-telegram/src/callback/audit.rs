//! The buttons of the audit log.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};

/// A button of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audit {
    /// Shows a page of all entries, the newest first.
    All(Page),
    /// Shows a page of those that tell of a refusal.
    Refused(Page),
    /// Sends the whole log as a file.
    Export,
}

impl Family for Audit {
    const NAME: &'static str = "audit";
}

impl Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::All(page) => write!(f, "{name}:all:{page}"),
            Self::Refused(page) => write!(f, "{name}:refused:{page}"),
            Self::Export => write!(f, "{name}:export"),
        }
    }
}

impl FromStr for Audit {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "all" => Self::All(fields.page()),
            "refused" => Self::Refused(fields.page()),
            "export" => Self::Export,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
