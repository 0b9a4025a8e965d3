//! The buttons under a question that a turn waits with.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone};
use figaro_base::ids::RunId;

/// Chooses an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choose {
    /// The turn that waits.
    pub(crate) turn: RunId,
    /// The answer's place among the options, from 0.
    pub(crate) option: u8,
}

impl Family for Choose {
    const NAME: &'static str = "choose";
}

impl Display for Choose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", Self::NAME, self.turn, self.option)
    }
}

impl FromStr for Choose {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let (turn, option) = (fields.parse()?, fields.parse()?);
        fields.end(Self { turn, option })
    }
}
