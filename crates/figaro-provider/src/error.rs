//! What a caller can do when a model does not answer. One exhaustive classification: retry and the words shown to
//! people both go by it.

use std::time::Duration;

/// Why there is no answer, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing, wrong or without rights: the owner must act.
    #[error("the provider refused the key ({0})")]
    Unauthorized(String),
    /// The model does not exist or is no longer served.
    #[error("the provider does not serve the model ({0})")]
    UnknownModel(String),
    /// The account has nothing left to spend: the owner must act.
    #[error("the provider's account is used up ({0})")]
    NoQuota(String),
    /// Too many requests; later it may work.
    #[error("the provider is limiting requests ({message})")]
    RateLimited {
        /// How long the provider asked to wait.
        retry_after: Option<Duration>,
        /// What the provider wrote with it, for logs and owners.
        message: String,
    },
    /// It is down, overloaded or cannot be reached; later it may work.
    #[error("the provider is not available ({0})")]
    Unavailable(String),
    /// The conversation is longer than the model takes.
    #[error("the request is too long for the model ({0})")]
    TooLong(String),
    /// What the model wrote, such as a call of a tool, was nothing that the provider could read; the next try may well do.
    #[error("the provider could not read what the model wrote ({0})")]
    Garbled(String),
    /// It refused the request for another reason: asking again is no use.
    #[error("the provider refused the request ({0})")]
    Refused(String),
    /// What answers at the provider's address is no model: a web page of a proxy or of maintenance, or another service.
    #[error("what answered is not the provider's model service ({0})")]
    Foreign(String),
    /// There is nothing at the provider's address, which does not end as its service documents it: the owner must act. Names the
    /// variable.
    #[error("the address of the provider seems to be wrong ({0})")]
    WrongAddress(String),
    /// The stream broke off before the answer was whole.
    #[error("the answer broke off ({0})")]
    Cut(String),
    /// Nothing came for this long.
    #[error("the provider sent nothing for {} s", .0.as_secs())]
    Stalled(Duration),
}

impl ProviderError {
    /// A short stable name for metrics and logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Unauthorized(_) => "unauthorized",
            Self::UnknownModel(_) => "unknown_model",
            Self::NoQuota(_) => "no_quota",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unavailable(_) => "unavailable",
            Self::TooLong(_) => "too_long",
            Self::Garbled(_) => "garbled",
            Self::Refused(_) => "refused",
            Self::Foreign(_) => "foreign",
            Self::WrongAddress(_) => "wrong_address",
            Self::Cut(_) => "cut",
            Self::Stalled(_) => "stalled",
        }
    }

    /// Whether it is what was said that the provider does not answer, and not how it was asked: as far as its words tell.
    #[must_use]
    pub fn is_about_content(&self) -> bool {
        const WORDS: [&str; 9] = [
            "content filter",
            "content_filter",
            "content policy",
            "content_policy",
            "content management policy",
            "usage polic",
            "safety",
            "moderation",
            "flagged",
        ];
        let Self::Refused(said) = self else { return false };
        let said = said.to_lowercase();
        WORDS.iter().any(|words| said.contains(words))
    }

    /// `true` if the model had set to work: it may cost something though nothing came back. All else was refused.
    #[must_use]
    pub const fn was_taken_up(&self) -> bool {
        matches!(self, Self::Cut(_) | Self::Stalled(_) | Self::Garbled(_))
    }

    /// Whether the same request may well succeed when sent again at once. After a silence it might too, but whoever
    /// waits has then waited long enough to be told.
    #[must_use]
    pub(crate) const fn is_passing(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Unavailable(_) | Self::Garbled(_) | Self::Cut(_) => true,
            Self::Unauthorized(_)
            | Self::UnknownModel(_)
            | Self::NoQuota(_)
            | Self::TooLong(_)
            | Self::Refused(_)
            | Self::Foreign(_)
            | Self::WrongAddress(_)
            | Self::Stalled(_) => false,
        }
    }
}
