//! Buttons under an answer that broke off or failed.

use super::buttons::{ButtonField, buttons};
use super::{Fields, Gone, ModelKey, Short};
use figaro_base::ids::RunId;

/// Number of bytes of a turn's id in a button.
const TAG_BYTES: usize = 10;

/// Last bytes of a turn's id, enough to tell turns apart. The whole id would leave no room for the name of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnTag(Short<TAG_BYTES>);

impl TurnTag {
    #[must_use]
    pub(crate) fn of(turn: RunId) -> Self {
        let id = turn.to_string();
        Self(Short(id.get(id.len().saturating_sub(TAG_BYTES)..).unwrap_or_default().to_owned()))
    }
}

buttons! {
    /// Buttons that repeat a turn or continue it. Each names its turn.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum RetryButton = "retry" {
        /// Continues the answer that broke off.
        GoOn(turn: TurnTag) = "go_on",
        /// Asks the same model the question again.
        Again(turn: TurnTag) = "again",
        /// Shows other models to ask instead.
        Choose(turn: TurnTag) = "choose",
        /// Asks this model the same question.
        With(turn: TurnTag, model: ModelKey<42>) = "with",
    }
}

buttons! {
    /// Buttons that show another attempt at the question.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum VersionButton = "version" {
        /// Shows this attempt, counted from 1, in place of the one of the turn.
        Show(turn: TurnTag, attempt: u8) = "show",
        /// Says which attempt is shown.
        Here = "here",
    }
}

impl RetryButton {
    #[must_use]
    pub(crate) const fn turn(&self) -> &TurnTag {
        match self {
            Self::GoOn(turn) | Self::Again(turn) | Self::Choose(turn) | Self::With(turn, _) => turn,
        }
    }
}

impl ButtonField for TurnTag {
    fn write(&self, data: &mut String) {
        self.0.write(data);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        Short::read(fields).map(Self)
    }
}
