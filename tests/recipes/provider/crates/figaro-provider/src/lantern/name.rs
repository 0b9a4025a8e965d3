//! Name of the provider.

/// Provider's name in `provider:model`.
pub(super) const NAME: &str = "lantern";
