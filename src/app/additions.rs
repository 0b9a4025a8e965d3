//! Commands and providers that an embedding program adds to the bot.

use std::sync::Arc;

use figaro_provider::Descriptor;
use figaro_telegram::commands::Command;

/// Additions to the built-in commands and providers.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    /// Commands, listed after the built-in ones.
    pub commands: Vec<Arc<dyn Command>>,
    /// Model providers, listed after the built-in ones.
    pub providers: Vec<Descriptor>,
}
