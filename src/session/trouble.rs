//! What can go wrong with an answer, in words for the person who waits for it.

use crate::prompts::texts::{Texts, fill};
use crate::provider::ProviderError;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The model failed.
    Model(ProviderError),
    /// The model withheld its answer.
    Withheld,
    /// The model ended without a word.
    Empty,
    /// Figaro itself failed.
    Internal,
}

impl Trouble {
    /// A short stable name for the log and for owners.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Model(error) => error.label(),
            Self::Withheld => "withheld",
            Self::Empty => "empty",
            Self::Internal => "internal",
        }
    }

    /// A sentence that says what happened and what to do.
    #[must_use]
    pub fn words(&self, texts: &Texts, model: &str) -> String {
        let text = match self {
            Self::Model(error) => match error {
                ProviderError::Unauthorized(_) => &texts.trouble_unauthorized,
                ProviderError::UnknownModel(_) => &texts.trouble_model,
                ProviderError::RateLimited { .. } => &texts.trouble_busy,
                ProviderError::Unavailable(_) => &texts.trouble_unavailable,
                ProviderError::TooLong(_) => &texts.trouble_long,
                ProviderError::Refused(_) => &texts.trouble_refused,
                ProviderError::Cut(_) => &texts.trouble_cut,
                ProviderError::Stalled(_) => &texts.trouble_timeout,
            },
            Self::Withheld => &texts.trouble_refused,
            Self::Empty => &texts.trouble_empty,
            Self::Internal => &texts.trouble_internal,
        };
        fill(text, &[("model", model)])
    }
}
