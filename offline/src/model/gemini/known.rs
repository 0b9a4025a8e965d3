//! Models of the offline Gemini.

/// Names of the models for conversations.
pub(super) const MODELS: [&str; 5] = [
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gemini-3-flash-preview",
    "gemini-3-pro-preview",
    "gemini-3.5-flash",
];

/// Model for vectors. Listed with the others, but without conversations.
pub(super) const EMBEDDING: &str = "gemini-embedding-001";

/// Name of an existing model.
#[derive(Debug, Clone, Copy)]
pub(super) struct GeminiModelName(&'static str);

impl GeminiModelName {
    /// Returns the model of this name, if it exists.
    pub(super) fn of(name: &str) -> Option<Self> {
        MODELS.into_iter().find(|known| *known == name).map(Self)
    }

    /// Returns `true` for the third generation or later, which signs thoughts and lets a request combine tools.
    pub(super) fn is_third(self) -> bool {
        let rest = self.0.strip_prefix("gemini-").unwrap_or_default();
        rest.chars().next().and_then(|digit| digit.to_digit(10)).is_some_and(|generation| generation >= 3)
    }
}
