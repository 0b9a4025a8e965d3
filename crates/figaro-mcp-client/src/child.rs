//! Process of the Telegram MCP server: its environment and settings. Used by `supervisor`.

use std::process::Stdio;

use tokio::process::Command;

use super::locate::ServerProgram;
use figaro_base::secret::{ExposeSecret, Redactor, SecretString};
use figaro_config::{LogSettings, McpSettings, TelegramSettings};

/// glibc settings of the child: return large blocks at once and keep few pools. Other allocators ignore them.
const ALLOCATOR: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_ARENA_MAX", "2")];

/// Settings that a child is started with.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Port of the server and its key for outside clients.
    pub settings: McpSettings,
    /// Bot API server, and the bot that outside clients act as.
    pub telegram: TelegramSettings,
    /// Log settings, the same as the parent's.
    pub log: LogSettings,
    /// Redactor that knows the secrets to keep out of the child's log.
    pub redactor: Redactor,
}

/// Builds the command that starts the child with this key. `again` is `true` if an earlier child has died.
pub(super) fn command(
    candidate: &ServerProgram,
    recipe: &Recipe,
    key: &SecretString,
    again: bool,
) -> Command {
    let mut command = Command::new(&candidate.program);
    // The child gets only what it needs, and in particular not the model's key.
    command.env_clear().envs(inherited(candidate, recipe)).envs(ALLOCATOR);
    // Without a key no other client could connect, so the port would be held for nothing.
    let port = recipe.settings.api_key.as_ref().map_or(0, |_| recipe.settings.port);
    if let Some(api_key) = &recipe.settings.api_key {
        command.env("MCP_API_KEY", api_key.expose_secret());
        command.env("TELEGRAM_BOT_TOKEN", recipe.telegram.token.expose_secret());
    }
    if again {
        command.env("FIGARO_MCP_RESTARTED", "1");
    }
    command
        .args(&candidate.args)
        .arg("--supervised")
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

/// Returns the variables that the child inherits from our environment.
fn inherited<'a>(
    candidate: &'a ServerProgram,
    recipe: &'a Recipe,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    // A program named by the owner may be a script that needs `PATH`.
    let needed = move |name: &str| name != "PATH" || candidate.named;
    let inherited = recipe.settings.inherited.iter();
    inherited.filter(move |(name, _)| needed(name)).map(|(name, value)| (*name, value.as_str()))
}
