//! Settings that servers are started or connected with, and the size limit of their messages.

use std::path::PathBuf;

use figaro_base::secret::Redactor;
use figaro_config::KnownValues;

/// Maximum size of a message from a server, in bytes.
pub(super) const MAX_MESSAGE: usize = 8 << 20;

/// Returns the reason given for a message that is too long.
pub(super) fn too_long() -> String {
    format!("it sent more than {} MB in one message", MAX_MESSAGE >> 20)
}

/// Settings that every server is started or connected with.
#[derive(Debug, Clone)]
pub struct ServerRecipe {
    /// Environment variables that each program inherits.
    pub inherited: KnownValues,
    /// Executable that guards programs, so that none outlives the bot. If `None`, programs are started directly.
    pub guard: Option<PathBuf>,
    /// Client for servers reached by HTTP.
    pub http: reqwest::Client,
    /// Redactor that knows the bot's secrets.
    pub redactor: Redactor,
}
