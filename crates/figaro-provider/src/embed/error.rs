//! Errors of embeddings, classified by how the caller can react.

use crate::ProviderError;
use figaro_domain::model::ModelName;

/// Reason why texts have no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The service of the model failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The model's answer is not as requested, such as vectors of another size. The owner must choose another model.
    #[error("the model gives no vectors that can be used ({0})")]
    Unusable(String),
    /// The model in a local folder cannot be loaded or run. The owner must act. The text names the folder.
    #[error("{0}")]
    Folder(String),
    /// A limit on spending is used up. After its period it may work.
    #[error("the budget is used up")]
    OverBudget,
    /// The price of the model is unknown, and money is the only limit. The owner must act.
    #[error("the price of {0} is not known, and money is the only limit")]
    Unpriced(ModelName),
    /// No budget could be reserved; the log has the reason.
    #[error("the store failed")]
    Store,
    /// The process is stopping.
    #[error("it was stopped")]
    Stopped,
}

impl EmbedError {
    /// Returns a short stable name for metrics and logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Provider(error) => error.label(),
            Self::Unusable(_) => "unusable",
            Self::Folder(_) => "folder",
            Self::OverBudget => "over_budget",
            Self::Unpriced(_) => "unpriced",
            Self::Store => "store",
            Self::Stopped => "stopped",
        }
    }

    /// Returns `true` if the same call may succeed later without anyone acting.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match self {
            // After a silence there was no immediate retry; a later one may work.
            Self::Provider(error) => error.is_passing() || matches!(error, ProviderError::Stalled(_)),
            Self::OverBudget | Self::Store => true,
            Self::Unusable(_) | Self::Folder(_) | Self::Unpriced(_) | Self::Stopped => false,
        }
    }
}
