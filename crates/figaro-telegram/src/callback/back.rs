//! The button that takes back what a turn did.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone};
use figaro_base::ids::RunId;

/// Takes back what this turn did in chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Back(pub(crate) RunId);

impl Family for Back {
    const NAME: &'static str = "back";
}

impl Display for Back {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::NAME, self.0)
    }
}

impl FromStr for Back {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let turn = fields.parse()?;
        fields.end(Self(turn))
    }
}
