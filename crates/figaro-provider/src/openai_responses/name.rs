//! Name of the provider.

/// Provider's name in `provider:model` and in the private parts of its answers.
pub(super) const NAME: &str = "openai";
