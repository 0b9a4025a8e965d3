//! Which model answers in the demo, and what therefore leaves the machine, in words for the page and the terminal.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use figaro_offline::Runtime;
use figaro_offline::model::{DemoModel, OfflineModel};
use figaro_offline::tavily::{self, OfflineTavily};
use reqwest::Url;

use super::setup::{listen, set};
use crate::app::failure::Refusal;
use crate::config::{ModelSettings, Settings};
use crate::prompts::fence;

/// What begins so sets up a service that the offline model stands in for.
const SERVICES: [&str; 3] = ["COMPATIBLE_", "OLLAMA_", "GEMINI_"];
/// Variables with which a service is there to be chosen, and the name it is chosen by.
const UNUSED: [(&str, &str); 3] =
    [("COMPATIBLE_BASE_URL", "compatible"), ("OLLAMA_MODEL", "ollama"), ("GEMINI_API_KEY", "gemini")];

/// Starts the offline model and search unless a model is chosen, and makes them the only ones. Gives whether it did.
///
/// # Errors
/// When they cannot be started.
pub(super) async fn stand_in(
    variables: &mut HashMap<String, String>,
    runtime: &Runtime,
) -> Result<bool, Refusal> {
    if ModelSettings::is_any_chosen(variables) {
        return Ok(false);
    }
    let refuse = |error: std::io::Error| Refusal(error.to_string());
    let demo = DemoModel { unescape: fence::read };
    let model = OfflineModel::start(listen(0).await?, Arc::new(demo), runtime);
    let model = model.map_err(refuse)?;
    let search = OfflineTavily::start(listen(0).await?, tavily::made_up, runtime).map_err(refuse)?;
    // Nothing leaves this machine: no other service is there to fall back to, or for /model to choose.
    variables.retain(|name, _| !SERVICES.iter().any(|service| name.starts_with(service)));
    variables.remove("LLM_PROVIDER");
    variables.remove("LLM_FALLBACK");
    set(variables, "OPENAI_API_KEY", "no-key-needed");
    set(variables, "OPENAI_BASE_URL", model.url());
    set(variables, "OPENAI_MODEL", "offline");
    // It costs nothing, and a bound in dollars alone refuses what has no price.
    set(variables, "LLM_PRICES", "openai:offline=0/0");
    set(variables, "TAVILY_API_KEY", tavily::KEY);
    set(variables, "TAVILY_BASE_URL", search.url());
    Ok(true)
}

/// Which services are set up and not used by the stand-in.
pub(super) fn unused(variables: &HashMap<String, String>) -> Vec<String> {
    let is_set = |name: &str| variables.get(name).is_some_and(|value| !value.trim().is_empty());
    let set = UNUSED.iter().filter(|(name, _)| is_set(name));
    set.map(|(name, provider)| format!("{name} is set and not used: LLM_PROVIDER={provider} chooses it."))
        .collect()
}

/// Who answers with the offline model.
pub(super) fn offline() -> String {
    "A small offline model answers; nothing leaves this machine.".to_owned()
}

/// Who answers with these settings, and where messages go.
pub(super) fn outside(settings: &Settings) -> String {
    let model = &settings.model;
    let first = model.default.provider;
    let mut words = format!("The model {} answers.", model.default);
    for provider in model.providers.iter().filter(|provider| provider.kind == first) {
        words += &format!(" Your messages go to {} at {}", first.name(), place(&provider.base_url));
    }
    for provider in model.providers.iter().filter(|provider| provider.kind != first) {
        let is_fallback = model.fallback.iter().any(|choice| choice.provider == provider.kind);
        let when = if is_fallback {
            "if it does not answer, or if chosen by /model,"
        } else {
            "if chosen by /model,"
        };
        words += &format!("; {when} to {} at {}", provider.kind.name(), place(&provider.base_url));
    }
    words.push('.');
    if settings.tavily.key.is_some() {
        words += &format!(
            " What it searches the web for may go to Tavily at {}.",
            place(&settings.tavily.base_url)
        );
    }
    words
}

/// The host of an address, and whether that is this machine. A name or password in the address is left out.
fn place(address: &str) -> String {
    let Some((url, host)) = Url::parse(address).ok().and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some((url, host))
    }) else {
        return "an unknown address".to_owned();
    };
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let is_here = host == "localhost" || ip.is_some_and(|ip| ip.is_loopback() || ip.is_unspecified());
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{host}{port}{}", if is_here { " (on this machine)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pairs: &[(&str, &str)]) -> String {
        let token = ("TELEGRAM_BOT_TOKEN", "123:ABC_def-9");
        let pairs = pairs.iter().chain([&token]);
        let variables = pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        outside(&Settings::read(&variables).unwrap())
    }

    #[test]
    fn every_place_that_messages_may_go_to_is_named() {
        let openai = ("OPENAI_API_KEY", "sk-test");
        let cases = [
            (
                vec![openai],
                "The model openai:gpt-4.1-mini answers. Your messages go to openai at api.openai.com.",
            ),
            (
                vec![
                    ("LLM_PROVIDER", "ollama"),
                    ("OLLAMA_MODEL", "qwen3:8b"),
                    ("TAVILY_API_KEY", "tvly-test"),
                ],
                "The model ollama:qwen3:8b answers. Your messages go to ollama at 127.0.0.1:11434 (on this machine). \
                 What it searches the web for may go to Tavily at api.tavily.com.",
            ),
            (
                vec![
                    openai,
                    ("OPENAI_BASE_URL", "http://ann:pass@[::1]:8080/v1"),
                    ("LLM_FALLBACK", "gemini:gemini-x"),
                    ("GEMINI_API_KEY", "g-test"),
                    ("COMPATIBLE_BASE_URL", "https://models.example/v1"),
                    ("COMPATIBLE_MODEL", "m"),
                ],
                "The model openai:gpt-4.1-mini answers. Your messages go to openai at [::1]:8080 (on this machine); \
                 if chosen by /model, to compatible at models.example; if it does not answer, or if chosen by /model, \
                 to gemini at generativelanguage.googleapis.com.",
            ),
        ];
        for (pairs, wanted) in cases {
            assert_eq!(words(&pairs), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn what_is_set_up_and_not_used_is_told() {
        let set = [("GEMINI_API_KEY", "g"), ("OLLAMA_MODEL", " ")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            unused(&HashMap::from(set)),
            ["GEMINI_API_KEY is set and not used: LLM_PROVIDER=gemini chooses it."]
        );
    }
}
