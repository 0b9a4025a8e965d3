//! The process of the Telegram MCP server: what it is given at its start. Used by `supervisor`.

use std::process::Stdio;

use tokio::process::Command;

use super::locate::Candidate;
use figaro_base::secret::{ExposeSecret, Redactor, SecretString};
use figaro_config::{LogSettings, McpSettings, TelegramSettings};

/// What glibc is told: to give large blocks back at once, and to keep few pools. Other allocators ignore it.
const ALLOCATOR: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_ARENA_MAX", "2")];

/// What a child is started with.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Its port and its key for outside clients.
    pub settings: McpSettings,
    /// The bot it acts as.
    pub telegram: TelegramSettings,
    /// How it logs: as its parent.
    pub log: LogSettings,
    /// Knows the secrets that its log must not hold.
    pub redactor: Redactor,
}

/// Starts the child with this key; `again` if one before it has died.
pub(super) fn command(candidate: &Candidate, recipe: &Recipe, key: &SecretString, again: bool) -> Command {
    let mut command = Command::new(&candidate.program);
    // The child gets what it needs and nothing else of ours, least of all the model's key.
    command.env_clear().envs(inherited(candidate, recipe)).envs(ALLOCATOR);
    // Without a key no other client could get in, and their port would be held for nothing.
    let port = recipe.settings.api_key.as_ref().map_or(0, |_| recipe.settings.port);
    if let Some(api_key) = &recipe.settings.api_key {
        command.env("MCP_API_KEY", api_key.expose_secret());
    }
    if again {
        command.env("FIGARO_MCP_RESTARTED", "1");
    }
    command
        .args(&candidate.args)
        .arg("--supervised")
        .env("TELEGRAM_BOT_TOKEN", recipe.telegram.token.expose_secret())
        .env("TELEGRAM_API_URL", &recipe.telegram.api_url)
        .env("TELEGRAM_PROXY", recipe.telegram.proxies.setting_for(&recipe.telegram.api_url))
        .env("NO_PROXY", recipe.telegram.proxies.direct())
        .env("MCP_HTTP_PORT", port.to_string())
        .env("FIGARO_MCP_KEY", key.expose_secret())
        .env("RUST_LOG", &recipe.log.filter)
        .env("LOG_FORMAT", recipe.log.format.name())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// What the child takes over from our own environment.
fn inherited<'a>(
    candidate: &'a Candidate,
    recipe: &'a Recipe,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    // A program of the owner's may be a script, and need it.
    let needed = move |name: &str| name != "PATH" || candidate.named;
    let inherited = recipe.settings.inherited.iter();
    inherited.filter(move |(name, _)| needed(name)).map(|(name, value)| (*name, value.as_str()))
}
