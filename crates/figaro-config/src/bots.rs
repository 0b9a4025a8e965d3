//! Several bots in one process: where their file is, and the settings of each, which are those of the environment but for what
//! the file says.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use figaro_domain::provider_spec::VariableRole;

use super::variable::{SettingSource, ShownVariable};
use super::variables::Variables;
use super::{Settings, SettingsFaults};

/// Location of the file of bots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotsSettings {
    /// File of bots, from `BOTS_FILE`.
    pub file: PathBuf,
    /// `true` if the settings name the file. It must then exist.
    pub is_named: bool,
}

impl BotsSettings {
    /// Reads the location from values by variable name.
    #[must_use]
    pub fn of(values: &HashMap<String, String>, variables: &Variables) -> Self {
        let named = values.get("BOTS_FILE").map(|file| file.trim()).filter(|file| !file.is_empty());
        let file = named.unwrap_or_else(|| variables.default_of("BOTS_FILE"));
        Self { file: PathBuf::from(file), is_named: named.is_some() }
    }
}

/// Settings of a bot in the file. All but the token may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BotOverrides {
    /// Name of the environment variable with the token.
    pub token: String,
    /// Name of the provider, as in `LLM_PROVIDER`.
    pub provider: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Values of other variables, by name.
    pub variables: BTreeMap<&'static str, String>,
}

impl Settings {
    /// Reads the settings of a bot of the file. Its webhook has a path of its own.
    ///
    /// # Errors
    /// All mistakes at once, each with its remedy.
    pub fn of_bot(
        name: &str,
        overrides: &BotOverrides,
        values: &HashMap<String, String>,
        variables: &Variables,
    ) -> Result<Self, SettingsFaults> {
        let mut own = values.clone();
        let token = values.get(&overrides.token).filter(|token| !token.trim().is_empty());
        let missing = || {
            let token = &overrides.token;
            SettingsFaults(vec![format!(
                "{token} is missing: set it to the token of this bot, from BotFather"
            )])
        };
        own.insert("TELEGRAM_BOT_TOKEN".to_owned(), token.ok_or_else(missing)?.clone());
        for (name, value) in &overrides.variables {
            own.insert((*name).to_owned(), value.clone());
        }
        if let Some(provider) = &overrides.provider {
            own.insert("LLM_PROVIDER".to_owned(), provider.clone());
        }
        if let Some(model) = &overrides.model {
            let provider = own.get("LLM_PROVIDER").map(|name| name.trim().to_lowercase()).unwrap_or_default();
            let mut known = variables.providers().iter();
            let spec = match provider.as_str() {
                "" => known.next(),
                provider => known.find(|spec| spec.name == provider),
            };
            // An unknown provider is a fault of its own.
            if let Some(variable) = spec.and_then(|spec| spec.variable(VariableRole::Model)) {
                own.insert(variable.name.to_owned(), model.clone());
            }
        }
        let mut settings = Self::read(&own, variables)?;
        let is_own = |variable: &ShownVariable| own.get(variable.name) != values.get(variable.name);
        let sourced = settings.shown.iter().cloned().map(|variable| match is_own(&variable) {
            true => ShownVariable { source: SettingSource::BotsFile, ..variable },
            false => variable,
        });
        settings.shown = sourced.collect();
        if let Some(webhook) = &mut settings.http.webhook
            && let Ok(mut url) = url::Url::parse(&webhook.url)
        {
            url.set_path(&format!("/bots/{name}{}", webhook.path));
            webhook.url = url.to_string();
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> HashMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_bot_has_the_settings_of_the_environment_but_for_its_own() {
        let variables = Variables::builtin();
        let all = values(&[
            ("SALES_TOKEN", "77:abcdef"),
            ("OPENAI_API_KEY", "sk-x"),
            ("GEMINI_API_KEY", "g"),
            ("OWNER_IDS", "1"),
            ("ACCESS", "open"),
            ("HTTP_ADDR", "8080"),
            ("API_KEYS", "app:a-key-of-more-than-sixteen"),
            ("WEBHOOK_URL", "https://telegram.example.com/telegram"),
            ("WEBHOOK_SECRET", "0123456789abcdef"),
        ]);
        let mut own = BotOverrides { token: "SALES_TOKEN".to_owned(), ..BotOverrides::default() };
        let settings = Settings::of_bot("sales", &own, &all, &variables).unwrap();
        assert_eq!((settings.telegram.bot.0, settings.model.default.provider), (77, "openai"));
        let webhook = settings.http.webhook.unwrap();
        assert_eq!(
            (webhook.url.as_str(), webhook.path.as_str()),
            ("https://telegram.example.com/bots/sales/telegram", "/telegram")
        );
        own.provider = Some("gemini".to_owned());
        own.model = Some("gemini-x".to_owned());
        own.variables =
            BTreeMap::from([("OWNER_IDS", "2,3".to_owned()), ("DAILY_TOKENS", "9000".to_owned())]);
        let settings = Settings::of_bot("sales", &own, &all, &variables).unwrap();
        let model = settings.model.default;
        assert_eq!((model.provider, model.model.as_str()), ("gemini", "gemini-x"));
        assert_eq!((settings.access.owners.len(), settings.spending.daily_tokens), (2, Some(9000)));
        own.token = "NO_SUCH_TOKEN".to_owned();
        let fault = Settings::of_bot("sales", &own, &all, &variables).unwrap_err().to_string();
        assert!(fault.contains("NO_SUCH_TOKEN is missing"), "{fault}");
    }
}
