//! Why there are no vectors, by what the caller can do.

use crate::ProviderError;
use figaro_domain::model::ModelName;

/// Why texts got no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The service of the model failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// What the model gave is not what was asked for, such as vectors of another number: the owner must choose another.
    #[error("the model gives no vectors that can be used ({0})")]
    Unusable(String),
    /// The model in a folder of this machine cannot be loaded or run: the owner must act. Names the folder.
    #[error("{0}")]
    Folder(String),
    /// Today's caps leave no room for it; after midnight it may work.
    #[error("today's budget is used up")]
    OverBudget,
    /// Nobody knows what the model costs, and money is the only bound: the owner must act.
    #[error("the price of {0} is not known, and DAILY_USD is the only bound")]
    Unpriced(ModelName),
    /// Nothing could be set aside for it; the log says why.
    #[error("the store failed")]
    Store,
    /// The process ends.
    #[error("it was stopped")]
    Stopped,
}

impl EmbedError {
    /// A short stable name for metrics and logs.
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

    /// Whether the same call may well succeed later without anybody's doing.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match self {
            // What was silent was not asked again at once; later it may answer.
            Self::Provider(error) => error.is_passing() || matches!(error, ProviderError::Stalled(_)),
            Self::OverBudget | Self::Store => true,
            Self::Unusable(_) | Self::Folder(_) | Self::Unpriced(_) | Self::Stopped => false,
        }
    }
}
