//! Errors of models, classified by how a caller can react. Retries and the messages for people both use this
//! classification.

use std::time::Duration;

use figaro_domain::provider_spec::{ProviderSpec, VariableRole};

/// Reason why there is no answer, or only part of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing, wrong or lacks rights. The owner must act.
    #[error("the provider refused the key ({0})")]
    Unauthorized(String),
    /// The model does not exist or is no longer served.
    #[error("the provider does not serve the model ({0})")]
    UnknownModel(String),
    /// The account has no credit left. The owner must act.
    #[error("the provider's account is used up ({0})")]
    NoQuota(String),
    /// Too many requests. A later attempt may work.
    #[error("the provider is limiting requests ({message})")]
    RateLimited {
        /// Wait that the provider asked for.
        retry_after: Option<Duration>,
        /// Message of the provider, for logs and owners.
        message: String,
    },
    /// The provider is down, overloaded or unreachable. A later attempt may work.
    #[error("the provider is not available ({0})")]
    Unavailable(String),
    /// The conversation is longer than the model accepts.
    #[error("the request is too long for the model ({0})")]
    TooLong(String),
    /// A file in the request is damaged, or in a format that the model does not read.
    #[error("the model cannot read the file ({0})")]
    Unreadable(String),
    /// The model wrote something unreadable, such as a malformed tool call. The next attempt may well work.
    #[error("the provider could not read what the model wrote ({0})")]
    Garbled(String),
    /// The provider refused the request for another reason. Another attempt is pointless.
    #[error("the provider refused the request ({0})")]
    Refused(String),
    /// The address does not answer like a model service: it returns a web page of a proxy or of maintenance, or is
    /// another service.
    #[error("what answered is not the provider's model service ({0})")]
    Foreign(String),
    /// Nothing is at the provider's address, and its path differs from the documented one. The owner must act. The
    /// text names the variable.
    #[error("the address of the provider seems to be wrong ({0})")]
    WrongAddress(String),
    /// The stream broke off before the answer was complete.
    #[error("the answer broke off ({0})")]
    Cut(String),
    /// The stream was silent for this long.
    #[error("the provider sent nothing for {} s", .0.as_secs())]
    Stalled(Duration),
}

impl ProviderError {
    /// Returns a short stable name for metrics and logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Unauthorized(_) => "unauthorized",
            Self::UnknownModel(_) => "unknown_model",
            Self::NoQuota(_) => "no_quota",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unavailable(_) => "unavailable",
            Self::TooLong(_) => "too_long",
            Self::Unreadable(_) => "unreadable",
            Self::Garbled(_) => "garbled",
            Self::Refused(_) => "refused",
            Self::Foreign(_) => "foreign",
            Self::WrongAddress(_) => "wrong_address",
            Self::Cut(_) => "cut",
            Self::Stalled(_) => "stalled",
        }
    }

    /// Returns a hint for the owner about a model of this provider that does not answer, to add after the error.
    #[must_use]
    pub fn remedy(&self, spec: Option<&ProviderSpec>) -> String {
        let with = |role, words: fn(&str) -> String| {
            let variable = spec.and_then(|spec| spec.variable(role));
            variable.map(|variable| words(variable.name)).unwrap_or_default()
        };
        match self {
            Self::Unauthorized(_) => {
                with(VariableRole::Key, |key| format!(": copy {key} again from where it was made"))
            }
            Self::NoQuota(_) => {
                with(VariableRole::Key, |key| format!(": see to the account that {key} belongs to"))
            }
            Self::UnknownModel(_) => with(VariableRole::Model, |model| format!(": choose another {model}")),
            Self::Unavailable(_) | Self::Foreign(_) | Self::Stalled(_) => {
                match with(VariableRole::BaseUrl, |url| format!(": check {url}, LLM_PROXY and the network")) {
                    words if words.is_empty() => ": check LLM_PROXY and the network".to_owned(),
                    words => words,
                }
            }
            // The error names the variable itself.
            Self::WrongAddress(_)
            | Self::RateLimited { .. }
            | Self::TooLong(_)
            | Self::Unreadable(_)
            | Self::Garbled(_)
            | Self::Refused(_)
            | Self::Cut(_) => String::new(),
        }
    }

    /// Returns `true` if the provider refuses the content of the conversation rather than the form of the request,
    /// judging by its message.
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

    /// Returns `true` if the model had started to work. The call may then cost something although nothing came back.
    /// All other errors are refusals.
    #[must_use]
    pub const fn was_taken_up(&self) -> bool {
        matches!(self, Self::Cut(_) | Self::Stalled(_) | Self::Garbled(_))
    }

    /// Returns `true` if the same request may succeed when sent again at once. It may after a silence too, but by
    /// then the person has waited long enough.
    #[must_use]
    pub(crate) const fn is_passing(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Unavailable(_) | Self::Garbled(_) | Self::Cut(_) => true,
            Self::Unauthorized(_)
            | Self::UnknownModel(_)
            | Self::NoQuota(_)
            | Self::TooLong(_)
            | Self::Unreadable(_)
            | Self::Refused(_)
            | Self::Foreign(_)
            | Self::WrongAddress(_)
            | Self::Stalled(_) => false,
        }
    }
}
