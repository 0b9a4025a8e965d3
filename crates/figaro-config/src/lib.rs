//! Settings: one small struct per concern, read once from a map of variables. All mistakes are reported, not only the
//! first. The binary reads the settings and passes each part to its user.
//!
//! Public types to start from: [`Settings`], [`Variables`], [`Values`], [`SettingsFaults`].

mod abilities;
mod backups;
mod bots;
mod embedder;
mod env_file;
mod faults;
mod http;
mod log;
mod mcp;
mod models;
mod of_model;
mod of_service;
mod operation;
mod otlp;
mod pages;
mod reader;
mod reference;
mod servers;
mod spending;
mod store;
mod tasks;
mod tavily;
mod telegram;
mod values;
mod variable;
mod variables;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use figaro_base::tz::Tz;
use figaro_mcp::proxy::Proxies;

pub use abilities::Abilities;
pub use backups::BackupSettings;
pub use bots::{BotOverrides, BotsSettings};
pub use embedder::EmbedderSettings;
pub use env_file::{ENV_FILE, EnvFile};
pub use faults::SettingsFaults;
use figaro_base::ids::UserId;
use figaro_base::secret::{Redactor, SecretString};
pub use http::{
    ApiKey, DashboardUsers, HttpSettings, KeyHash, ModelAliases, Rights, TokenKey, TokenSettings,
    WebhookSettings, is_tenant,
};
pub use log::{LogFormat, LogSettings};
pub use mcp::McpSettings;
use models::read_idle_timeout;
pub use models::{ModelChoice, ModelSettings, ProviderSettings};
pub use of_model::OfModel;
pub use of_service::{ServiceModel, SpeechSettings, TranscriberSettings};
pub use otlp::OtlpSettings;
pub use pages::{PageSettings, PrivateHost};
use reader::VariableReader;
pub use reader::looks_secret;
pub use servers::{KnownValues, ServersSettings, is_inherited};
pub use spending::{SpendingSettings, TokenPrice};
pub use store::{DatabaseUrl, EngineKind, NoStoreUrl, StoreFolder, StoreUrl};
pub(crate) use tasks::TaskSettings;
pub use tavily::TavilySettings;
pub use telegram::TelegramSettings;
pub use values::Values;
pub use variable::{SettingSource, ShownVariable};
pub use variables::Variables;

/// All settings of the program.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Bot token and Bot API server.
    pub telegram: TelegramSettings,
    /// Models, their services and the order of fallback.
    pub model: ModelSettings,
    /// Embedding model, from `EMBEDDER`.
    pub embedder: EmbedderSettings,
    /// Tavily, the web search service, and its key.
    pub tavily: TavilySettings,
    /// Model that turns speech into text, from `TRANSCRIBER`.
    pub transcriber: TranscriberSettings,
    /// Model that speaks answers; `None` if it is off.
    pub speech: Option<SpeechSettings>,
    /// Model that draws pictures; `None` if it is off.
    pub painter: Option<ServiceModel>,
    /// Reading of the pages behind links.
    pub pages: PageSettings,
    /// Telegram MCP server, a child process.
    pub mcp: McpSettings,
    /// File of other MCP servers and the values it may refer to, from `MCP_CONFIG`.
    pub servers: ServersSettings,
    /// Engine, folder and retention of the store.
    pub store: StoreSettings,
    /// Owners, and access of everyone else.
    pub access: AccessSettings,
    /// Owner's file of rules for the model.
    pub policy: PolicySettings,
    /// Folder of the owner's agents.
    pub agents: PathBuf,
    /// Limits of a turn: passes, history, summaries, memory.
    pub limits: LimitSettings,
    /// Daily limits of tokens and money, and prices.
    pub spending: SpendingSettings,
    /// Limits on the number and frequency of scheduled prompts.
    pub tasks: TaskSettings,
    /// HTTP gateway and webhook; off unless configured.
    pub http: HttpSettings,
    /// Time zone of chats that have set none.
    pub timezone: Tz,
    /// Level and format of the log.
    pub log: LogSettings,
    /// All variables with their values in effect, for people to read.
    pub shown: Arc<[ShownVariable]>,
}

/// Settings of `figaro memory`, which needs neither a bot nor a model that answers.
#[derive(Debug, Clone)]
pub struct MemorySettings {
    /// Embedding model, from `EMBEDDER`.
    pub embedder: EmbedderSettings,
    /// Proxies to the embedding service.
    pub proxies: Proxies,
    /// Timeout of a service that sends nothing.
    pub idle_timeout: Duration,
    /// Daily limits of tokens and money, and prices.
    pub spending: SpendingSettings,
    /// Time zone whose midnight ends the day.
    pub timezone: Tz,
}

impl MemorySettings {
    /// Reads these settings alone from values by variable name.
    ///
    /// # Errors
    /// All mistakes at once, each with its remedy.
    pub fn read(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, SettingsFaults> {
        let mut reader = VariableReader::new(values, variables);
        let settings = Self {
            embedder: EmbedderSettings::read(&mut reader),
            proxies: reader.proxies("LLM_PROXY"),
            idle_timeout: read_idle_timeout(&mut reader),
            spending: SpendingSettings::read(&mut reader),
            timezone: read_timezone(&mut reader),
        };
        reader.finish(settings)
    }
}

/// Location and retention of the store.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// Engine and folder of the store.
    pub url: StoreUrl,
    /// Retention of finished tasks and processed update ids: 1 to 365 days.
    pub kept: TimeDelta,
    /// Retention of audit log entries: 1 to 3650 days.
    pub audit_kept: TimeDelta,
    /// Delay from an erasure to the rewrite of the files: up to eight minutes.
    pub rewritten_after: TimeDelta,
    /// Backups that the bot makes by itself; `None` for none.
    pub backups: Option<BackupSettings>,
}

/// Access to the bot.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// Owners named by `OWNER_IDS`.
    pub owners: Vec<UserId>,
    /// Access of everyone else, from `ACCESS`.
    pub mode: AccessMode,
}

/// Location of the owner's rules for the model.
#[derive(Debug, Clone)]
pub struct PolicySettings {
    /// File of rules, from `POLICY_FILE`.
    pub file: PathBuf,
    /// `true` if the settings name the file. It must then exist.
    pub is_named: bool,
}

/// Access of people who are not owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Only people on the list. Owners are asked about others, and make codes that let them in.
    Pairing,
    /// Only people whom an owner puts on the list. Owners are not asked.
    Allowlist,
    /// Everybody may use the bot.
    Open,
}

/// Limits of a turn and of memory.
#[derive(Debug, Clone)]
pub struct LimitSettings {
    /// Maximum number of model passes in a turn.
    pub max_passes: u32,
    /// Maximum number of history tokens in a request.
    pub history_tokens: usize,
    /// Maximum number of messages per summary; 0 disables summaries.
    pub summary_every: u32,
    /// `true` if the model names conversations after their first exchange.
    pub names_sessions: bool,
    /// Maximum number of memories per person; 0 disables memory.
    pub memory_limit: usize,
    /// Silence of a person before their messages are read for facts.
    pub memory_delay: Duration,
    /// `true` if people are asked for consent before anything is remembered about them.
    pub asks_consent: bool,
    /// `true` if outgoing messages keep to Telegram's rate limits.
    pub paced: bool,
}

impl Settings {
    /// Reads all settings from values by variable name, as the environment or `.env` give them. `variables` lists the
    /// known variables.
    ///
    /// # Errors
    /// All mistakes at once, each with its remedy.
    pub fn read(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, SettingsFaults> {
        Self::read_with(values, variables, TelegramSettings::read)
    }

    /// Like [`Self::read`], for commands that need no bot: without a token the bot has id 0.
    ///
    /// # Errors
    /// Those of [`Self::read`], except a missing token.
    pub fn without_bot(
        values: &HashMap<String, String>,
        variables: &Variables,
    ) -> Result<Self, SettingsFaults> {
        Self::read_with(values, variables, TelegramSettings::read_if_any)
    }

    fn read_with(
        values: &HashMap<String, String>,
        variables: &Variables,
        telegram: impl FnOnce(&mut VariableReader<'_>) -> TelegramSettings,
    ) -> Result<Self, SettingsFaults> {
        let mut reader = VariableReader::new(values, variables);
        let settings = Self {
            telegram: telegram(&mut reader),
            model: ModelSettings::read(&mut reader),
            embedder: EmbedderSettings::read(&mut reader),
            tavily: TavilySettings::read(&mut reader),
            transcriber: TranscriberSettings::read(&mut reader),
            speech: SpeechSettings::read(&mut reader),
            painter: ServiceModel::read_optional(&mut reader, "PAINTER", "draws pictures"),
            pages: PageSettings::read(&mut reader),
            mcp: McpSettings::read(&mut reader),
            servers: ServersSettings::read(&reader),
            store: StoreSettings::read(&mut reader),
            access: AccessSettings::read(&mut reader),
            policy: PolicySettings::read(&reader),
            agents: PathBuf::from(reader.text("AGENTS_FOLDER")),
            limits: LimitSettings::read(&mut reader),
            spending: SpendingSettings::read(&mut reader),
            tasks: TaskSettings::read(&mut reader),
            http: HttpSettings::read(&mut reader),
            timezone: read_timezone(&mut reader),
            log: LogSettings::read(&mut reader),
            shown: variables.shown(values),
        };
        reader.finish(settings)
    }

    /// Makes a redactor that knows every secret of the settings.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        let optional = self.mcp.api_key.iter().chain(&self.tavily.key);
        let proxies: Vec<SecretString> =
            self.telegram.proxies.secrets().chain(self.model.proxies.secrets()).collect();
        let optional = optional.chain(self.embedder.service().map(|service| &service.key));
        let speech = self.speech.as_ref().map(|speech| &speech.model);
        let services = [self.transcriber.service(), speech, self.painter.as_ref()];
        let optional = optional.chain(services.into_iter().flatten().map(|of| &of.service.key));
        let optional = optional.chain(self.http.secrets());
        let keys = [&self.telegram.token].into_iter().chain(self.model.keys()).chain(optional);
        Redactor::new(keys.chain(&proxies).chain(&self.log.secrets()))
    }
}

impl StoreSettings {
    fn read(reader: &mut VariableReader<'_>) -> Self {
        let url = reader.text("STORE_URL").parse().unwrap_or_else(|_: NoStoreUrl| {
            reader.fault("STORE_URL", NoStoreUrl::WORDS);
            StoreUrl::new(EngineKind::ALL[0], PathBuf::new())
        });
        let backups = BackupSettings::read(reader, &url);
        let mut number = |name, bounds| reader.number(name, bounds).try_into().unwrap_or(1);
        Self {
            backups,
            url,
            kept: TimeDelta::days(number("KEEP_DAYS", 1..=365)),
            audit_kept: TimeDelta::days(number("AUDIT_DAYS", 1..=3650)),
            rewritten_after: TimeDelta::seconds(number("ERASE_AFTER", 0..=480)),
        }
    }
}

impl AccessSettings {
    fn read(reader: &mut VariableReader<'_>) -> Self {
        let list = reader.get("OWNER_IDS").unwrap_or_default();
        let mut owners = Vec::new();
        for (number, word) in (1..).zip(list.split([',', ' ']).filter(|word| !word.is_empty())) {
            match word.parse() {
                Ok(id) if id > 0 => owners.push(UserId::telegram(id)),
                _ => reader.fault_of_word(
                    "OWNER_IDS",
                    number,
                    word,
                    "is not the number of a Telegram user; they stand with commas between them. Without OWNER_IDS the \
                     bot shows a link that makes you its owner",
                ),
            }
        }
        let modes = [
            ("pairing", AccessMode::Pairing),
            ("allowlist", AccessMode::Allowlist),
            ("open", AccessMode::Open),
        ];
        Self { owners, mode: reader.choice("ACCESS", &modes) }
    }
}

impl PolicySettings {
    fn read(reader: &VariableReader<'_>) -> Self {
        Self { file: reader.text("POLICY_FILE").into(), is_named: reader.get("POLICY_FILE").is_some() }
    }

    /// Reads this setting alone from values by variable name.
    ///
    /// # Errors
    /// All mistakes at once, each with its remedy.
    pub fn alone(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, SettingsFaults> {
        let reader = VariableReader::new(values, variables);
        let settings = Self::read(&reader);
        reader.finish_part(settings)
    }
}

impl LimitSettings {
    fn read(reader: &mut VariableReader<'_>) -> Self {
        Self {
            max_passes: reader.number("MAX_PASSES", 1..=100).try_into().unwrap_or_default(),
            history_tokens: reader.number("HISTORY_TOKENS", 100..=1_000_000).try_into().unwrap_or_default(),
            summary_every: read_summary_every(reader),
            names_sessions: reader.choice("SESSION_NAMES", &[("on", true), ("off", false)]),
            memory_limit: reader.number("MEMORY_LIMIT", 0..=1_000).try_into().unwrap_or_default(),
            memory_delay: Duration::from_secs(reader.number("MEMORY_DELAY", 0..=3_600)),
            asks_consent: reader.choice("MEMORY_CONSENT", &[("given", false), ("ask", true)]),
            paced: reader.choice("TELEGRAM_RATES", &[("telegram", true), ("off", false)]),
        }
    }
}

/// Reads `SUMMARY_EVERY`: a number of messages, or 0.
fn read_summary_every(reader: &mut VariableReader<'_>) -> u32 {
    let every = reader.text("SUMMARY_EVERY").trim().parse().ok();
    every.filter(|every| *every == 0 || (4..=1000).contains(every)).unwrap_or_else(|| {
        reader.fault("SUMMARY_EVERY", "is not a whole number from 4 to 1000; 0 is for no summaries");
        0
    })
}

fn read_timezone(reader: &mut VariableReader<'_>) -> Tz {
    let from_system = reader.get("TZ").and_then(|name| name.trim_start_matches(':').parse().ok());
    match reader.get("DEFAULT_TIMEZONE") {
        None => from_system.unwrap_or(Tz::UTC),
        Some(name) => name.parse().unwrap_or_else(|_| {
            reader.fault("DEFAULT_TIMEZONE", "is not a zone of the IANA list, such as Europe/Riga");
            Tz::UTC
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_base::ids::BotId;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, SettingsFaults> {
        let values = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Settings::read(&values, &Variables::builtin())
    }

    const GOOD: [(&str, &str); 2] = [("TELEGRAM_BOT_TOKEN", "123:ABC_def-9"), ("OPENAI_API_KEY", "sk-test")];

    #[test]
    fn the_defaults_are_enough_with_token_and_key() {
        let settings = read(&GOOD).unwrap();
        assert_eq!(settings.telegram.bot, BotId(123));
        assert_eq!(settings.model.default.to_string(), "openai:gpt-4.1-mini");
        assert_eq!(settings.mcp.port, 3001);
        assert_eq!(settings.store.url.to_string(), "redb:./data");
        assert_eq!(settings.access.mode, AccessMode::Pairing);
        assert_eq!(settings.limits.max_passes, 10);
    }

    #[test]
    fn what_does_without_a_bot_needs_no_token_and_takes_no_wrong_one() {
        let read = |pairs: &[(&str, &str)]| {
            let values = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            Settings::without_bot(&values, &Variables::builtin())
        };
        assert_eq!(read(&GOOD[1..]).unwrap().telegram.bot, BotId(0));
        assert_eq!(read(&GOOD).unwrap().telegram.bot, BotId(123));
        let faults = read(&[("TELEGRAM_BOT_TOKEN", "nonsense")]).unwrap_err();
        assert_eq!(faults.0.len(), 2, "the token and the key of the model: {faults}");
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let faults = read(&[
            ("TELEGRAM_BOT_TOKEN", "nonsense"),
            ("LLM_PROVIDER", "skynet"),
            ("MCP_HTTP_PORT", "70000"),
            ("STORE_URL", "mysql://x"),
            ("OWNER_IDS", "12, bob"),
            ("ACCESS", "everybody"),
            ("MAX_PASSES", "many"),
            ("DEFAULT_TIMEZONE", "Mars/Base"),
        ])
        .unwrap_err();
        for name in [
            "TELEGRAM_BOT_TOKEN",
            "LLM_PROVIDER",
            "MCP_HTTP_PORT",
            "STORE_URL",
            "OWNER_IDS",
            "ACCESS",
            "MAX_PASSES",
            "DEFAULT_TIMEZONE",
        ] {
            assert_eq!(faults.0.iter().filter(|f| f.starts_with(name)).count(), 1, "{name} in {faults}");
        }
        assert_eq!(faults.0.len(), 8, "{faults}");
    }

    #[test]
    fn a_mistake_never_shows_a_secret() {
        let faults = read(&[("TELEGRAM_BOT_TOKEN", "SECRETSECRET"), ("OPENAI_API_KEY", "")]).unwrap_err();
        assert!(!faults.to_string().contains("SECRETSECRET"));
    }

    #[test]
    fn every_secret_is_kept_out_of_texts() {
        let secrets = ["123:ABC_def-9", "sk-test", "g-secret", "mcp-secret", "tvly-secret", "pr0xy-pass"];
        let names = ["GEMINI_API_KEY", "MCP_API_KEY", "TAVILY_API_KEY"];
        let more = names.into_iter().zip(secrets[2..].iter().copied());
        let proxy = ("TELEGRAM_PROXY", "socks5://ann:pr0xy-pass@proxy.example:1080");
        let settings = read(&GOOD.into_iter().chain(more).chain([proxy]).collect::<Vec<_>>()).unwrap();
        assert_eq!(settings.redactor().clean(&secrets.join(" ")), ["[secret]"; 6].join(" "));
        assert_eq!(settings.redactor().clean(proxy.1), "[secret]");
    }

    #[test]
    fn an_own_server_needs_no_key() {
        let settings = read(&[GOOD[0], ("OPENAI_BASE_URL", "http://localhost:8080/v1/")]).unwrap();
        assert_eq!(settings.model.providers[0].base_url, "http://localhost:8080/v1");
    }
}
