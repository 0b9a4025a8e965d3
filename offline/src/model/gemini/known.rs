//! The models that the offline Gemini has.

/// The names of the models that answer.
pub(super) const MODELS: [&str; 5] = [
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gemini-3-flash-preview",
    "gemini-3-pro-preview",
    "gemini-3.5-flash",
];

/// Listed with the others, but it answers no conversation.
pub(super) const EMBEDDING: &str = "gemini-embedding-001";

/// The name of a model that is served.
#[derive(Debug, Clone, Copy)]
pub(super) struct GeminiModelName(&'static str);

impl GeminiModelName {
    /// The model of this name, if it is served.
    pub(super) fn of(name: &str) -> Option<Self> {
        MODELS.into_iter().find(|known| *known == name).map(Self)
    }

    /// Whether it is of the third generation or later, which signs its thoughts and lets tools stand together.
    pub(super) fn is_third(self) -> bool {
        let rest = self.0.strip_prefix("gemini-").unwrap_or_default();
        rest.chars().next().and_then(|digit| digit.to_digit(10)).is_some_and(|generation| generation >= 3)
    }
}
