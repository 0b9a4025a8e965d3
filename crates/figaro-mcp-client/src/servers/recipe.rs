//! What servers are started or reached with, and the bound of what they may send.

use std::path::PathBuf;

use figaro_base::secret::Redactor;
use figaro_config::KnownValues;

/// The longest message that is taken from a server, in bytes.
pub(super) const MAX_MESSAGE: usize = 8 << 20;

/// What is said of a message that is too long.
pub(super) fn too_long() -> String {
    format!("it sent more than {} MB in one message", MAX_MESSAGE >> 20)
}

/// What every server is started or reached with.
#[derive(Debug, Clone)]
pub struct ServerRecipe {
    /// What the environment of each program has.
    pub inherited: KnownValues,
    /// The executable that guards programs, so that none outlives the bot; without it they are started as they are.
    pub guard: Option<PathBuf>,
    /// What reaches servers by HTTP.
    pub http: reqwest::Client,
    /// Knows the bot's secrets.
    pub redactor: Redactor,
}
