//! The buttons under an answer that broke off or failed.

use super::buttons::{Part, buttons};
use super::{Fields, Gone, ModelKey, Short};
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

buttons! {
    /// Buttons that try a turn again or go on with it. Each says for which turn it is.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Retry = "retry" {
        /// Goes on with the answer.
        GoOn(turn: TurnTag) = "go_on",
        /// Asks the same again.
        Again(turn: TurnTag) = "again",
        /// Shows the models that can be asked instead.
        Choose(turn: TurnTag) = "choose",
        /// Asks this model the same.
        With(turn: TurnTag, model: ModelKey<42>) = "with",
    }
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

impl Part for TurnTag {
    fn write(&self, data: &mut String) {
        self.0.write(data);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        Short::read(fields).map(Self)
    }
}
