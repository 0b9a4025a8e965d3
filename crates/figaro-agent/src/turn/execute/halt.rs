//! Reasons why a run cannot continue.

use super::super::run::Answer;
use figaro_ledger::LedgerError;
use figaro_store::StoreError;

/// Reason why a run cannot continue, with the text written until then.
pub(in crate::turn) enum Halt {
    Cancelled(Answer),
    Model(LedgerError, Answer),
    Store(StoreError),
    Internal,
}

impl Halt {
    /// Returns the label of a failure.
    pub(super) fn label(&self) -> Option<&'static str> {
        match self {
            Self::Cancelled(_) => None,
            Self::Model(error, _) => Some(error.label()),
            Self::Store(error) => Some(error.label()),
            Self::Internal => Some("internal"),
        }
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
