//! Reasons why the messages of a person were not read.

use chrono::{DateTime, Utc};

use figaro_ledger::LedgerError;
use figaro_store::StoreError;

/// Reason why messages were not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExtractionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] LedgerError),
    #[error("{0}")]
    Prompt(String),
    #[error("the answer is not what was asked for: {0}")]
    Answer(String),
    #[error("the answer was withheld, or ended in the middle")]
    Cut,
    /// The model is suspended after unusable answers.
    #[error("its answers were of no use; it is left alone until {0}")]
    Resting(DateTime<Utc>),
}

impl ExtractionError {
    /// Returns `true` for an unusable or missing answer: these count as a try.
    pub(super) const fn is_try(&self) -> bool {
        matches!(self, Self::Answer(_) | Self::Cut | Self::Store(_) | Self::Model(LedgerError::Slow))
    }

    /// Returns `true` if it was logged when it began, or people are told of it: it may last for weeks.
    pub(super) const fn is_known(&self) -> bool {
        matches!(self, Self::Resting(_) | Self::Model(LedgerError::OverBudget(_)))
    }
}
