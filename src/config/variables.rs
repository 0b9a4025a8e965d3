//! Every variable with its default and meaning: the source of `.env.example`, of the README's table and of the defaults.

/// A variable an owner can set.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// The name of the environment variable.
    pub name: &'static str,
    /// What holds when it is not set; empty for none.
    pub default: &'static str,
    /// What it means, in a sentence or two.
    pub meaning: &'static str,
    /// Its value is a secret, or an address that may hold one, and is shown nowhere.
    pub is_secret: bool,
}

const fn variable(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, default, meaning, is_secret: false }
}

const fn secret(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { is_secret: true, ..variable(name, default, meaning) }
}

/// All of them, in the order a newcomer needs them.
pub const VARIABLES: &[Variable] = &[
    secret("TELEGRAM_BOT_TOKEN", "", "The bot's token, from https://t.me/BotFather. Required."),
    secret(
        "OPENAI_API_KEY",
        "",
        "The key of the model's service. Required, unless OPENAI_BASE_URL is a server that takes none.",
    ),
    variable("OPENAI_MODEL", "gpt-4.1-mini", "The model that answers."),
    secret("OPENAI_BASE_URL", "https://api.openai.com/v1", "A service that speaks OpenAI's Responses API."),
    variable(
        "LLM_PROVIDER",
        "openai",
        "Who runs the model: openai, compatible (any service of the Chat Completions dialect), ollama or gemini.",
    ),
    secret(
        "COMPATIBLE_BASE_URL",
        "",
        "The service's address up to /v1, such as https://openrouter.ai/api/v1.",
    ),
    secret("COMPATIBLE_API_KEY", "", "Its key, if it takes one."),
    variable("COMPATIBLE_MODEL", "", "The model that answers there."),
    secret("OLLAMA_BASE_URL", "http://127.0.0.1:11434", "Where Ollama runs."),
    secret("OLLAMA_API_KEY", "", "A key, for an Ollama behind a door that asks for one."),
    variable("OLLAMA_MODEL", "", "The model that answers there, as `ollama list` names it."),
    variable(
        "OLLAMA_LOAD_TIMEOUT",
        "300",
        "So many seconds Ollama may take to load the model and begin its answer (1 to 3600).",
    ),
    secret("GEMINI_API_KEY", "", "The key for Google's Gemini."),
    variable("GEMINI_MODEL", "gemini-3.5-flash", "The model that answers there."),
    secret(
        "GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com/v1beta",
        "The service, if you reach it elsewhere.",
    ),
    variable(
        "LLM_FALLBACK",
        "",
        "Models to ask in turn when the first does not answer, such as openai:gpt-4.1-mini, ollama:qwen3:8b.",
    ),
    secret(
        "LLM_PROXY",
        "",
        "A proxy on the way to the models and the web search, or off for none; otherwise as TELEGRAM_PROXY.",
    ),
    variable(
        "LLM_IDLE_TIMEOUT",
        "60",
        "A model that says nothing for so many seconds has failed (1 to 600).",
    ),
    secret(
        "TAVILY_API_KEY",
        "",
        "The key for Tavily, which searches the web for models that do not search themselves, from https://app.tavily.com.",
    ),
    secret("TAVILY_BASE_URL", "https://api.tavily.com", "The service, if you reach it elsewhere."),
    variable(
        "OWNER_IDS",
        "",
        "Telegram user ids of the owners, with commas. Without any, the log shows a link that makes its first user the owner.",
    ),
    variable(
        "ACCESS",
        "allowlist",
        "Who else may talk to the bot: allowlist (people and groups an owner allowed with /allow) or open (everybody).",
    ),
    variable("STORE_URL", "sled:./data", "Where everything is kept: sled:FOLDER."),
    variable(
        "DEFAULT_TIMEZONE",
        "",
        "The zone of chats that set none, such as Europe/Riga. Without it TZ counts, then UTC.",
    ),
    variable("MAX_PASSES", "10", "The most times the model is called for one answer (1 to 100)."),
    variable(
        "HISTORY_TOKENS",
        "3000",
        "The most tokens of earlier conversation sent with a question (100 to 1000000).",
    ),
    variable(
        "DAILY_TOKENS",
        "",
        "The most tokens the whole bot may use in a day, such as 500000; then it says so until midnight. No bound without it.",
    ),
    variable(
        "DAILY_USD",
        "",
        "The most US dollars it may spend in a day, such as 2.50. Where this is the only bound, models of unknown price are not asked.",
    ),
    variable(
        "LLM_PRICES",
        "",
        "Prices that the list does not have or has wrong, as provider:model=sent/cached/written in US dollars for a million tokens, such as compatible:my-model=0.20/0.05/0.80; a * ends the name of a family.",
    ),
    variable("TASKS_PER_CHAT", "50", "The most scheduled tasks of a chat (1 to 10000)."),
    variable("TASKS_PER_USER", "50", "The most scheduled tasks of one person, in all chats (1 to 10000)."),
    variable(
        "TASKS_MIN_INTERVAL",
        "10m",
        "The least time between two runs of a task (1m to 24h, such as 90s, 10m or 2h).",
    ),
    secret("TELEGRAM_API_URL", "https://api.telegram.org", "The Bot API server, if you run your own."),
    secret(
        "TELEGRAM_PROXY",
        "",
        "A proxy on the way to Telegram, such as http://name:password@host:3128 or socks5h://host:1080 (socks5 looks names up here, socks5h there), or off for none. Without it HTTPS_PROXY or ALL_PROXY of the environment counts. This machine itself and what NO_PROXY names are reached directly.",
    ),
    variable(
        "TELEGRAM_RATES",
        "telegram",
        "The pace of what is sent: telegram keeps to Telegram's limits, off is for a server that has none.",
    ),
    variable(
        "MCP_HTTP_PORT",
        "3001",
        "The loopback port on which other MCP clients reach the Telegram MCP server, with MCP_API_KEY only; 0 takes a \
         free one.",
    ),
    secret(
        "MCP_API_KEY",
        "",
        "A key for other MCP clients of that server; without one there are none. The bot has a port and a key of its own.",
    ),
    variable("MCP_SERVER_BIN", "", "The MCP server's executable, if it is not the figaro-mcp beside figaro."),
    variable(
        "RUST_LOG",
        "info,rmcp=warn",
        "What is logged, in the syntax of tracing-subscriber, such as info,figaro=debug.",
    ),
    variable("LOG_FORMAT", "text", "The shape of a log line: text or json."),
];

/// The default of a variable; empty for one that has none.
#[must_use]
pub(super) fn default_of(name: &str) -> &'static str {
    VARIABLES.iter().find(|v| v.name == name).map_or("", |v| v.default)
}

/// Whether the value of a variable is shown nowhere: it is listed so, or its name says so. Those of the environment that
/// are not listed, such as `https_proxy`, have but their name.
#[must_use]
pub(super) fn holds_secret(name: &str) -> bool {
    // Whole words: HISTORY_TOKENS is a number.
    let words = ["key", "token", "secret", "password", "proxy"];
    let says_so = name.split('_').any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)));
    says_so || VARIABLES.iter().any(|variable| variable.name == name && variable.is_secret)
}

/// The text of `.env.example`.
#[must_use]
pub fn example() -> String {
    let mut text = String::from(
        "# Copy this file to .env and fill in the first two. A line that begins with # is off: its default holds.\n",
    );
    for Variable { name, default, meaning, .. } in VARIABLES {
        let off = if meaning.contains("Required") { "" } else { "# " };
        text.push_str(&format!("\n# {meaning}\n{off}{name}={default}\n"));
    }
    text
}

/// The rows of the README's table.
#[must_use]
pub fn table() -> String {
    let row = |v: &Variable| {
        let default = if v.default.is_empty() { String::new() } else { format!("`{}`", v.default) };
        format!("| `{}` | {default} | {} |\n", v.name, v.meaning)
    };
    VARIABLES.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_a_secret_if_its_name_says_so_or_it_is_an_address() {
        for variable in VARIABLES {
            let name = variable.name;
            let is_address = name.ends_with("_PROXY") || (name.ends_with("_URL") && name != "STORE_URL");
            let is_key = name.ends_with("_KEY") || name.ends_with("_TOKEN");
            assert_eq!(variable.is_secret, is_key || is_address, "{name}");
            assert_eq!(holds_secret(name), variable.is_secret, "{name}");
        }
        for (name, is) in [
            ("A_SECRET", true),
            ("PASSWORD", true),
            ("all_proxy", true),
            ("TZ", false),
            ("MONKEY", false),
            ("TOKENS", false),
        ] {
            assert_eq!(holds_secret(name), is, "{name}");
        }
    }
}
