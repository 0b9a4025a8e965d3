//! What a program that embeds the bot adds to it.

use std::sync::Arc;

use figaro_provider::Descriptor;
use figaro_telegram::commands::Command;

/// What is added to what is built in.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    /// Commands, behind the built-in ones.
    pub commands: Vec<Arc<dyn Command>>,
    /// Providers of models, behind the built-in ones.
    pub providers: Vec<Descriptor>,
}
