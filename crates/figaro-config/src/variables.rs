//! All variables with default and meaning. `.env.example`, docs/configuration.md and the defaults come from here.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::operation::OPERATION;
use super::variable::{ShownVariable, Variable, secret, variable};
use figaro_domain::provider_spec::ProviderSpec;

/// Ed25519 key of Telegram: <https://core.telegram.org/bots/webapps#validating-data-for-third-party-use>.
pub(crate) const TELEGRAM_KEY: &str = "e7bf03a2fa4602af4580703d88dda5bb59f32ed8b02a56c187fe7d34caed242d";

/// Variables listed before those of the providers.
const FIRST: [Variable; 1] =
    [secret("TELEGRAM_BOT_TOKEN", "", "The bot's token, from https://t.me/BotFather. Required.")];

/// Variables listed after those of the providers, in the order a newcomer needs them.
const LAST: &[Variable] = &[
    variable(
        "LLM_FALLBACK",
        "",
        "Models to ask in turn if the first one does not answer, such as openai:gpt-4.1-mini, ollama:qwen3:8b.",
    ),
    secret(
        "LLM_PROXY",
        "",
        "Proxy for the models and the web search, written as in TELEGRAM_PROXY; off for none.",
    ),
    variable(
        "LLM_IDLE_TIMEOUT",
        "60",
        "Seconds that a model may be silent before the call fails (1 to 600).",
    ),
    variable(
        "LLM_SLOTS",
        "1",
        "Requests that your own model server (Ollama, llama.cpp, at an address of this machine or a private network) answers at once. Background work waits for a free slot, and stops if a question needs its slot (1 to 1000).",
    ),
    secret(
        "TAVILY_API_KEY",
        "",
        "Key for Tavily (https://app.tavily.com), which searches the web for models without a search of their own.",
    ),
    secret("TAVILY_BASE_URL", "https://api.tavily.com", "Address of Tavily, if you reach it elsewhere."),
    variable(
        "TRANSCRIBER",
        "off",
        "Model that turns voice messages, audio and the sound of videos into text: `off`, provider:model of `openai`, `compatible` (any server with /audio/transcriptions) or `gemini`, such as `openai:gpt-4o-mini-transcribe`, or `local:FOLDER` with a Whisper model in ONNX, which runs on this machine (published builds have it; others need --features local-transcriber). A provider is reached by its key and address, and the recordings are sent to it.",
    ),
    variable(
        "SPEAKER",
        "off",
        "Model that speaks answers, for `/voice`: `off`, or provider:model of `openai` or `compatible` (any server with /audio/speech), such as `openai:gpt-4o-mini-tts`. It uses the key and the address of that provider. The answers are sent to it.",
    ),
    variable("SPEAKER_VOICE", "alloy", "Voice of the speaker, by its name at the service."),
    variable(
        "PAINTER",
        "off",
        "Model that draws and changes pictures: `off`, or provider:model of `openai`, `compatible` (any server with /images/generations) or `gemini`, such as `openai:gpt-image-1-mini`. It uses the key and the address of that provider. Descriptions, and pictures to change, are sent to it.",
    ),
    variable(
        "READ_PAGES",
        "on",
        "`on` or `off`: whether pages and files behind links are read. Only addresses that people wrote or a search found are fetched without asking, and none of private networks.",
    ),
    variable(
        "PRIVATE_PAGES",
        "",
        "Hosts of your own network whose pages may be read all the same, separated by commas, such as `wiki.lan,10.0.0.7:8080`. Everybody who may use the bot can then read them through it.",
    ),
    variable(
        "OWNER_IDS",
        "",
        "Telegram ids of owners, separated by commas. Without an owner, figaro prints a link; the first person who opens it becomes the owner.",
    ),
    variable(
        "ACCESS",
        "pairing",
        "Rule for strangers and new groups. pairing: the bot asks the owners, who can also make codes. allowlist: only people and groups that an owner allowed with /allow. open: everybody.",
    ),
    variable(
        "POLICY_FILE",
        "policy.yaml",
        "Your own rules about what the model may do with Telegram; they come before the built-in ones (docs/policy.md). The file may be missing unless it is named here. Changes apply within seconds.",
    ),
    variable(
        "AGENTS_FOLDER",
        "prompts/agents",
        "Folder of your own agents (docs/agents.md). Changes apply within seconds.",
    ),
    variable(
        "STORE_URL",
        "redb:./data",
        "Where all data is stored: redb:FOLDER, sled:FOLDER or postgres://USER:PASSWORD@HOST/DATABASE.",
    ),
    variable(
        "KEEP_DAYS",
        "7",
        "Days to keep finished tasks, ids of updates, and updates that cannot be read (1 to 365). Messages stay until somebody erases them.",
    ),
    variable(
        "AUDIT_DAYS",
        "365",
        "Days to keep entries of the audit log (1 to 3650). The remaining entries can still be verified.",
    ),
    variable(
        "ERASE_AFTER",
        "120",
        "Seconds between an erasure and the rewrite of the store's files (0 to 480). After the rewrite the files have no byte of the erased data. Erasures within this time share one rewrite.",
    ),
    variable(
        "DEFAULT_TIMEZONE",
        "",
        "Time zone of chats that set none, such as Europe/Riga. If empty, TZ counts, then UTC.",
    ),
    variable("MAX_PASSES", "10", "Maximum number of model calls for one answer (1 to 100)."),
    variable(
        "HISTORY_TOKENS",
        "3000",
        "Most tokens of earlier conversation in a question's prompt (100 to 1000000).",
    ),
    variable(
        "SUMMARY_EVERY",
        "50",
        "Number of messages after which the model writes a summary in the background (4 to 1000); 0 for none. Summaries replace messages that no longer fit into HISTORY_TOKENS.",
    ),
    variable(
        "SESSION_NAMES",
        "on",
        "on: after the first answer one short call of the model names the conversation. off: conversations get no names.",
    ),
    variable(
        "MEMORY_LIMIT",
        "50",
        "Maximum facts remembered about a person (0 to 1000; 0 for none). Short background calls find them in the person's messages. Above the maximum the least used fact is removed.",
    ),
    variable(
        "MEMORY_DELAY",
        "60",
        "Seconds of silence before one call reads a person's messages for facts (0 to 3600). After eight messages it does not wait.",
    ),
    variable(
        "MEMORY_CONSENT",
        "given",
        "given: the bot remembers facts until the person turns this off with /memory. ask: the bot asks the person first.",
    ),
    variable(
        "EMBEDDER",
        "off",
        "Model that also finds earlier messages by their meaning: off, openai:MODEL, compatible:MODEL, ollama:MODEL or gemini:MODEL such as openai:text-embedding-3-small (every message is sent there once), or local:FOLDER with an ONNX sentence model such as all-MiniLM-L6-v2 and its vocabulary, which runs in the bot itself (published builds have it; others need --features local-embedder).",
    ),
    variable(
        "DAILY_TOKENS",
        "",
        "Maximum tokens of the whole bot in a day, such as 500000. Above it the bot answers only that the budget is used up, until midnight. No limit if empty.",
    ),
    variable(
        "DAILY_USD",
        "",
        "Maximum US dollars of the whole bot in a day, such as 2.50. If this is the only limit, the bot does not use models with an unknown price. No limit if empty.",
    ),
    variable(
        "MONTHLY_TOKENS",
        "",
        "Maximum tokens of the whole bot in a calendar month, such as 10_000_000. No limit if empty. Limits of people, chats, tasks and agents are set in a chat by /budget.",
    ),
    variable(
        "MONTHLY_USD",
        "",
        "Maximum US dollars of the whole bot in a calendar month, such as 15. If only money is limited, the bot does not use models with an unknown price. No limit if empty.",
    ),
    variable(
        "MODEL_OVER_BUDGET",
        "",
        "Model, as provider:model, that answers in place of any other while three quarters or more of a limit are used up, such as openai:gpt-6-luna. Empty for none.",
    ),
    variable(
        "BACKGROUND_SHARE",
        "10",
        "Percent of the bot's daily and monthly limits for background work, such as summaries and names of conversations (0 to 100).",
    ),
    variable(
        "LLM_PRICES",
        "",
        "Prices that are missing or wrong in the built-in list, as provider:model=sent/cached/written in US dollars per million tokens, such as compatible:my-model=0.20/0.05/0.80. A * at the end stands for a family.",
    ),
    variable(
        "MODEL_CAPABILITIES",
        "",
        "Abilities of models that are missing or wrong in the built-in list, as provider:model= with tools, pictures, sounds (Gemini and compatible servers), json (answers that follow a JSON Schema) and the size of the context window in tokens, such as compatible:my-model=tools/json/32768; text for none of them. A * at the end stands for a family. Without this setting the bot finds out the abilities of an unknown model of a compatible server.",
    ),
    variable("TASKS_PER_CHAT", "50", "Most scheduled tasks of a chat (1 to 10000)."),
    variable("TASKS_PER_USER", "50", "Most scheduled tasks of a person in all chats (1 to 10000)."),
    variable(
        "TASKS_MIN_INTERVAL",
        "10m",
        "Shortest time between two runs of a task (1m to 24h, such as 90s, 10m or 2h).",
    ),
    variable(
        "BOTS_FILE",
        "bots.yaml",
        "Several bots in one process (docs/several-bots.md). The file may be missing unless it is named here; then the bot of TELEGRAM_BOT_TOKEN runs alone. Changes apply within seconds.",
    ),
    secret(
        "TELEGRAM_API_URL",
        "https://api.telegram.org",
        "Address of the Bot API server, if you run your own.",
    ),
    secret(
        "TELEGRAM_PROXY",
        "",
        "Proxy for Telegram, such as http://name:password@host:3128 or socks5h://host:1080 (socks5 resolves names here, socks5h there); off for none. If empty, HTTPS_PROXY or ALL_PROXY of the environment is used. This machine, and hosts in NO_PROXY, are reached directly.",
    ),
    secret(
        "TELEGRAM_PUBLIC_KEY",
        TELEGRAM_KEY,
        "Ed25519 key with which Telegram signs who opens a Mini App, in hexadecimal. Telegram's test servers have another one.",
    ),
    variable(
        "TELEGRAM_RATES",
        "telegram",
        "telegram keeps to Telegram's rate limits; off is for a server without limits.",
    ),
    variable(
        "MCP_HTTP_PORT",
        "3001",
        "Loopback port of the Telegram MCP server for other MCP clients, if MCP_API_KEY is set; 0 takes a free one.",
    ),
    secret(
        "MCP_API_KEY",
        "",
        "Key for other MCP clients of the Telegram MCP server. Without it only the bot can use the server, with its own port and key.",
    ),
    variable(
        "MCP_CONFIG",
        "mcp.json",
        "Other MCP servers whose tools agents can use, in the format of other MCP clients (docs/mcp-clients.md). The file may be missing unless it is named here. Changes apply within seconds.",
    ),
    variable("MCP_SERVER_BIN", "", "Executable of the Telegram MCP server, if it is not figaro itself."),
    variable(
        "HTTP_ADDR",
        "",
        "Address of the HTTP gateway (docs/openai-api.md), such as 127.0.0.1:8080, or a port alone for this machine. Off if empty.",
    ),
    variable(
        "METRICS_ADDR",
        "",
        "Address of /healthz, /readyz and /metrics of the process, such as 127.0.0.1:9464, or a port alone for this machine. There no key is needed; elsewhere /metrics asks for one with the right `metrics`. Off if empty.",
    ),
    secret(
        "HTTP_PEER_URL",
        "",
        "Address at which other processes with the same database reach this gateway, such as http://10.0.0.5:8080. They pass requests for bots of this process on to it. If empty, that of HTTP_ADDR, if it names an address of this machine.",
    ),
    variable(
        "DASHBOARD",
        "owners",
        "Who has a dashboard in the browser, below HTTP_ADDR (docs/dashboard.md): owners, everybody (members see what is theirs), or off.",
    ),
    secret(
        "HTTP_PUBLIC_URL",
        "",
        "Address at which browsers reach the gateway, such as https://figaro.example.com: that of the proxy before it. Links to the dashboard lead there. If empty, they lead to HTTP_ADDR on this machine.",
    ),
    secret(
        "API_KEYS",
        "",
        "Keys of the gateway's callers as NAME:KEY, separated by commas. After a key, separated by semicolons, its rights and limits: chat, sessions, metrics, tenants, owner, tenant=NAME, user=NAME, rate=60 (requests a minute), tokens=100000 (a day).",
    ),
    variable(
        "HTTP_MODELS",
        "",
        "Map of model names that clients use, as NAME=MODEL separated by commas, such as gpt-4o=figaro; * stands for all other names. Without it an unknown name is refused.",
    ),
    secret(
        "JWT_SECRET",
        "",
        "Secret of tokens (JWT) signed with HS256, which callers may send in place of a key.",
    ),
    secret("JWT_PUBLIC_KEY", "", "Public key, in PEM with line breaks as \\n, of tokens signed with RS256."),
    variable(
        "JWT_AUDIENCE",
        "",
        "Required `aud` claim of these tokens. Set it if the issuer also serves other programs.",
    ),
    variable("JWT_ISSUER", "", "Required `iss` claim of these tokens."),
    variable("JWT_RATE", "", "Most requests a minute of each `sub` of these tokens. No limit if empty."),
    variable(
        "JWT_TOKENS",
        "",
        "Most model tokens a day of each `sub` of these tokens. The day begins at midnight of DEFAULT_TIMEZONE. No limit if empty.",
    ),
    secret(
        "WEBHOOK_URL",
        "",
        "Address to which Telegram sends updates, such as https://bot.example.com/telegram. A proxy forwards its path to HTTP_ADDR. If empty, the bot asks Telegram for updates.",
    ),
    secret(
        "WEBHOOK_SECRET",
        "",
        "Secret that Telegram sends in X-Telegram-Bot-Api-Secret-Token: 16 to 256 letters, digits, _ and -.",
    ),
];

/// All known variables. The list depends on the providers.
#[derive(Debug, Clone)]
pub struct Variables {
    providers: Vec<ProviderSpec>,
    list: Vec<Variable>,
    /// Names whose values are from `.env`.
    in_file: BTreeSet<String>,
}

impl Variables {
    /// Lists all variables, including those of these providers. The first provider is the default.
    #[must_use]
    pub fn new(providers: Vec<ProviderSpec>) -> Self {
        let of = |provider: &ProviderSpec| provider.variables.iter().map(Variable::from);
        let (default, others) = providers.split_at(providers.len().min(1));
        let list = FIRST.into_iter().chain(default.iter().flat_map(of));
        let list = list.chain([choice_of_provider(&providers)]).chain(others.iter().flat_map(of));
        let list = list.chain(LAST.iter().chain(OPERATION).cloned()).collect();
        Self { providers, list, in_file: BTreeSet::new() }
    }

    /// Remembers the names whose values are from `.env`, for whoever looks at the settings.
    #[must_use]
    pub fn with_names_in_file(self, in_file: BTreeSet<String>) -> Self {
        Self { in_file, ..self }
    }

    /// Returns all variables with their values among these.
    pub(super) fn shown(&self, values: &HashMap<String, String>) -> Arc<[ShownVariable]> {
        self.list.iter().map(|variable| variable.shown(values, &self.in_file)).collect()
    }

    /// Iterates over all variables in the order a newcomer needs them.
    pub fn iter(&self) -> impl Iterator<Item = &Variable> {
        self.list.iter()
    }

    /// Returns the known providers, the default one first.
    #[must_use]
    pub fn providers(&self) -> &[ProviderSpec] {
        &self.providers
    }

    /// Returns the default of a variable; empty if it has none.
    pub(super) fn default_of(&self, name: &str) -> &'static str {
        self.list.iter().find(|v| v.name == name).map_or("", |v| v.default)
    }

    /// Returns `true` if the value must never be shown: the variable is listed as secret, or its name says so. The name
    /// alone decides for unlisted variables such as `https_proxy`.
    pub(super) fn holds_secret(&self, name: &str) -> bool {
        // Whole words only: HISTORY_TOKENS is a number.
        let words = ["key", "token", "secret", "password", "proxy"];
        let says_so = name.split('_').any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)));
        says_so || self.list.iter().any(|variable| variable.name == name && variable.is_secret)
    }
}

/// Makes the variable that selects one of these providers.
fn choice_of_provider(providers: &[ProviderSpec]) -> Variable {
    let word = |provider: &ProviderSpec| match provider.description {
        "" => provider.name.to_owned(),
        description => format!("{} ({description})", provider.name),
    };
    let words: Vec<String> = providers.iter().map(word).collect();
    let words = match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    };
    let default = providers.first().map_or("", |provider| provider.name);
    let meaning = format!("Who runs the model: {words}.").into();
    Variable { name: "LLM_PROVIDER", default, meaning, is_secret: false, unlike: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_provider::BUILTIN;

    impl Variables {
        /// Those of the product.
        pub(crate) fn builtin() -> Self {
            Self::new(BUILTIN.iter().map(|provider| provider.spec).collect())
        }
    }

    #[test]
    fn a_variable_is_a_secret_if_its_name_says_so_or_it_is_an_address() {
        let variables = Variables::builtin();
        for variable in variables.iter() {
            let name = variable.name;
            let is_address = name.ends_with("_PROXY") || (name.ends_with("_URL") && name != "STORE_URL");
            let is_key =
                ["_KEY", "_KEYS", "_TOKEN", "_SECRET", "_HEADERS"].iter().any(|end| name.ends_with(end));
            assert_eq!(variable.is_secret, is_key || is_address, "{name}");
            assert_eq!(variables.holds_secret(name), variable.is_secret, "{name}");
        }
        for (name, is) in [
            ("A_SECRET", true),
            ("PASSWORD", true),
            ("all_proxy", true),
            ("TZ", false),
            ("MONKEY", false),
            ("TOKENS", false),
        ] {
            assert_eq!(variables.holds_secret(name), is, "{name}");
        }
    }
}
