//! All variables with default and meaning. `.env.example`, the README's table and the defaults come from here.

use std::borrow::Cow;

use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};

/// An environment variable for the owner.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Default value; empty for none.
    pub(crate) default: &'static str,
    /// Meaning for the owner, in a sentence or two.
    pub meaning: Cow<'static, str>,
    /// `true` if the value is a secret or an address that may hold one. It is never shown.
    pub is_secret: bool,
    /// Similar names that mean something else to another program.
    pub(crate) unlike: &'static [&'static str],
}

const fn variable(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, default, meaning: Cow::Borrowed(meaning), is_secret: false, unlike: &[] }
}

const fn secret(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, default, meaning: Cow::Borrowed(meaning), is_secret: true, unlike: &[] }
}

impl From<&ProviderVariable> for Variable {
    fn from(variable: &ProviderVariable) -> Self {
        let ProviderVariable { name, default, meaning, .. } = *variable;
        let is_secret = variable.is_secret();
        Self { name, default, meaning: Cow::Borrowed(meaning), is_secret, unlike: variable.unlike }
    }
}

/// Variables listed before those of the providers.
const FIRST: [Variable; 1] =
    [secret("TELEGRAM_BOT_TOKEN", "", "The bot's token, from https://t.me/BotFather. Required.")];

/// Variables listed after those of the providers, in the order a newcomer needs them.
const LAST: &[Variable] = &[
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
    variable(
        "LLM_SLOTS",
        "1",
        "How many requests your own model server (Ollama, llama.cpp, at an address of this machine or a private network) answers at once. Work in the background waits until there is room, and makes room for questions (1 to 1000).",
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
        "Telegram numbers of owners, with commas between them, beside whoever became one by the link: while nobody owns the bot, figaro shows a link, and whoever opens it first is the owner.",
    ),
    variable(
        "ACCESS",
        "pairing",
        "Who else may talk to the bot: pairing (owners are asked about strangers and groups, and make codes), allowlist (only people and groups an owner allowed with /allow; owners are not asked) or open (everybody).",
    ),
    variable(
        "POLICY_FILE",
        "policy.yaml",
        "Your own rules about what the model may do with Telegram, before those built in (docs/policy.md); the file may be missing unless it is named here. A change holds at once.",
    ),
    variable("STORE_URL", "redb:./data", "Where everything is kept: redb:FOLDER or sled:FOLDER."),
    variable(
        "KEEP_DAYS",
        "7",
        "How many days what is over is kept: ended tasks, ids of updates, updates that cannot be read (1 to 365). Messages are kept until somebody erases them.",
    ),
    variable(
        "AUDIT_DAYS",
        "365",
        "How many days entries of the audit log are kept (1 to 3650). The oldest go, and the rest still proves that it is whole.",
    ),
    variable(
        "ERASE_AFTER",
        "120",
        "So many seconds after somebody erased something the files of the store are rewritten, so that no byte of it is left in them; several erasures of this time together (0 to 480).",
    ),
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
        "SUMMARY_EVERY",
        "50",
        "After how many messages the model summarises what was said, in the background, for the time when it no longer fits into HISTORY_TOKENS (4 to 1000); 0 for never.",
    ),
    variable(
        "SESSION_NAMES",
        "on",
        "Whether the model names a conversation after its first exchange, by one short call: on or off.",
    ),
    variable(
        "MEMORY_LIMIT",
        "50",
        "The most facts that are remembered about a person, taken from what they say by short calls in the background; above it the least used one goes (0 to 1000; 0 remembers none).",
    ),
    variable(
        "MEMORY_DELAY",
        "60",
        "Once a person has said nothing for so many seconds, or has sent eight messages, what they said is read for facts, all by one call (0 to 3600).",
    ),
    variable(
        "MEMORY_CONSENT",
        "given",
        "Whether people are asked before facts about them are remembered: given (no; /memory switches it off) or ask.",
    ),
    variable(
        "EMBEDDER",
        "off",
        "Also finds earlier messages that mean the same in other words, by a model that turns texts into numbers: off, openai:MODEL, compatible:MODEL, ollama:MODEL or gemini:MODEL such as openai:text-embedding-3-small (every message goes there once), or local:FOLDER with an ONNX sentence model such as all-MiniLM-L6-v2 and its vocabulary, which runs in the bot itself (published builds have it; others need --features local-embedder).",
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
        "BACKGROUND_SHARE",
        "10",
        "How much of DAILY_TOKENS and DAILY_USD work that nobody waits for may take, such as names and summaries of conversations, in percent (0 to 100).",
    ),
    variable(
        "LLM_PRICES",
        "",
        "Prices that the list does not have or has wrong, as provider:model=sent/cached/written in US dollars for a million tokens, such as compatible:my-model=0.20/0.05/0.80; a * ends the name of a family.",
    ),
    variable(
        "MODEL_CAPABILITIES",
        "",
        "What models can do where the list does not know it or has it wrong, as provider:model= and all of tools, pictures, json (answers held to a JSON Schema) and the tokens of its window that hold, such as compatible:my-model=tools/json/32768, or text for none; a * ends the name of a family. What a compatible server's unknown model takes is found out without it.",
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
    variable(
        "MCP_CONFIG",
        "mcp.json",
        "Other MCP servers whose tools agents can have, in the form that other clients use (docs/mcp.md); the file may be missing unless it is named here. A change holds at once.",
    ),
    variable("MCP_SERVER_BIN", "", "The MCP server's executable, if it is not figaro itself."),
    variable(
        "HTTP_ADDR",
        "",
        "Where the HTTP gateway listens (docs/http.md), such as 127.0.0.1:8080, or a port alone for this machine. Without it there is none.",
    ),
    secret(
        "API_KEYS",
        "",
        "The keys of its callers as NAME:KEY with commas between them; behind a key, after semicolons, what holds for it: chat, sessions, metrics, tenants, owner, tenant=NAME, user=NAME, rate=60 (requests a minute), tokens=100000 (a day).",
    ),
    variable(
        "HTTP_MODELS",
        "",
        "The names of models that its clients have built in and what answers to them, as NAME=MODEL with commas between them, such as gpt-4o=figaro; * stands for all others. Without it an unknown name is refused.",
    ),
    secret("JWT_SECRET", "", "Callers may also show tokens (JWT) that are signed by this secret with HS256."),
    secret(
        "JWT_PUBLIC_KEY",
        "",
        "The same for tokens signed with RS256, whose public key this is, in PEM; line breaks as \\n.",
    ),
    variable(
        "JWT_AUDIENCE",
        "",
        "Whom these tokens have to be for (aud). Set it where what gives them gives them to other programs too.",
    ),
    variable("JWT_ISSUER", "", "Who has to have given these tokens (iss)."),
    variable(
        "JWT_RATE",
        "",
        "The most requests of each of their subjects in a minute; without it there is no bound.",
    ),
    variable(
        "JWT_TOKENS",
        "",
        "The most tokens of models that each of their subjects has in a day (UTC), counted since the start of the bot; without it there is no bound.",
    ),
    secret(
        "WEBHOOK_URL",
        "",
        "Where Telegram sends updates instead of being asked for them, such as https://bot.example.com/telegram: a proxy passes that path on to HTTP_ADDR.",
    ),
    secret("WEBHOOK_SECRET", "", "What Telegram shows with each update: 16 to 256 letters, digits, _ and -."),
    variable(
        "RUST_LOG",
        "info,rmcp=warn",
        "What is logged, in the syntax of tracing-subscriber, such as info,figaro=debug.",
    ),
    variable("LOG_FORMAT", "text", "The shape of a log line: text or json."),
];

/// All known variables. The list depends on the providers.
#[derive(Debug, Clone)]
pub struct Variables {
    providers: Vec<ProviderSpec>,
    list: Vec<Variable>,
}

impl Variables {
    /// Lists all variables, including those of these providers. The first provider is the default.
    #[must_use]
    pub fn new(providers: Vec<ProviderSpec>) -> Self {
        let of = |provider: &ProviderSpec| provider.variables.iter().map(Variable::from);
        let (default, others) = providers.split_at(providers.len().min(1));
        let list = FIRST.into_iter().chain(default.iter().flat_map(of));
        let list = list.chain([choice_of_provider(&providers)]).chain(others.iter().flat_map(of));
        let list = list.chain(LAST.iter().cloned()).collect();
        Self { providers, list }
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

    /// Returns the text of `.env.example`.
    #[must_use]
    pub fn example(&self) -> String {
        let mut text = String::from(
            "# `figaro init` asks for what is needed and writes it into a file .env. By hand: copy this file to .env and fill in the\n# first two. A line that begins with # is off: its default holds.\n",
        );
        for Variable { name, default, meaning, .. } in &self.list {
            let off = if meaning.contains("Required") { "" } else { "# " };
            text.push_str(&format!("\n# {meaning}\n{off}{name}={default}\n"));
        }
        text
    }

    /// Returns the rows of the README's table, in Markdown.
    #[must_use]
    pub fn table(&self) -> String {
        let row = |v: &Variable| {
            let default = if v.default.is_empty() { String::new() } else { format!("`{}`", v.default) };
            format!("| `{}` | {default} | {} |\n", v.name, v.meaning)
        };
        self.list.iter().map(row).collect()
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
            let is_key = ["_KEY", "_KEYS", "_TOKEN", "_SECRET"].iter().any(|end| name.ends_with(end));
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
