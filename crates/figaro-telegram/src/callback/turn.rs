//! The buttons under an answer that broke off or failed.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, ModelKey, Short};
use figaro_base::ids::RunId;

/// So many bytes of a turn's id stand in a button.
const TAG_BYTES: usize = 10;

/// The end of a turn's id, which tells it from all others; whole it would leave no room for the name of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnTag(Short<TAG_BYTES>);

impl TurnTag {
    /// What stands for this turn.
    #[must_use]
    pub(crate) fn of(turn: RunId) -> Self {
        let id = turn.to_string();
        Self(Short(id.get(id.len().saturating_sub(TAG_BYTES)..).unwrap_or_default().to_owned()))
    }
}

/// Buttons that try a turn again or go on with it. Each says for which turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Goes on with the answer.
    GoOn(TurnTag),
    /// Asks the same again.
    Again(TurnTag),
    /// Shows the models that can be asked instead.
    Choose(TurnTag),
    /// Asks this model the same.
    With(TurnTag, ModelKey<42>),
}

impl Retry {
    /// The turn that it is for.
    #[must_use]
    pub(crate) const fn turn(&self) -> &TurnTag {
        match self {
            Self::GoOn(turn) | Self::Again(turn) | Self::Choose(turn) | Self::With(turn, _) => turn,
        }
    }
}

impl Family for Retry {
    const NAME: &'static str = "retry";
}

impl Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::GoOn(turn) => write!(f, "{name}:go_on:{}", turn.0),
            Self::Again(turn) => write!(f, "{name}:again:{}", turn.0),
            Self::Choose(turn) => write!(f, "{name}:choose:{}", turn.0),
            Self::With(turn, model) => write!(f, "{name}:with:{}:{model}", turn.0),
        }
    }
}

impl FromStr for Retry {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let verb = fields.word()?;
        let turn = TurnTag(fields.parse()?);
        let press = match verb {
            "go_on" => Self::GoOn(turn),
            "again" => Self::Again(turn),
            "choose" => Self::Choose(turn),
            "with" => Self::With(turn, fields.rest()?.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
