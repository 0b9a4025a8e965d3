//! `figaro check`: says of each thing the bot needs whether it is there, without starting the bot.

use futures::StreamExt;

use super::additions::Additions;
use super::environment::http_client;
use super::failure::Refusal;
use super::identity::who_am_i;
use super::models;
use super::owner_invite;
use super::providers;
use super::terminal::say;
use crate::clock::Clock;
use crate::config::{ModelChoice, ModelSettings, ProviderSpec, Role, Settings};
use crate::policy::budget::Caps;
use crate::provider::fold::Pass;
use crate::provider::models::Models;
use crate::provider::price::Prices;
use crate::provider::{Item, ProviderError, Providers, Request};
use crate::store::engine::found;
use crate::store::kv::KvStore;
use crate::store::{Store, StoreError};
use crate::telegram::api::Api;

/// Checks token, model and store, and prints a line for each; the settings themselves were read before, with the same
/// additions.
///
/// # Errors
/// When something is wrong; the lines have said what. Also when an added provider cannot be registered.
pub async fn check(settings: &Settings, additions: &Additions) -> Result<(), Refusal> {
    let providers = providers::table(additions)?;
    say("✓ settings");
    for (what, proxies) in [("telegram", &settings.telegram.proxies), ("model", &settings.model.proxies)] {
        if let Some(proxy) = proxies.shown() {
            say(&format!(
                "! {what}: what is not on this machine or named in NO_PROXY is reached through {proxy}"
            ));
        }
    }
    let bot = telegram(settings).await;
    let model = models(settings, &providers).await;
    prices(settings);
    let store = report("store", store(settings, bot.as_deref()).await);
    if bot.is_some() && model && store {
        return Ok(());
    }
    Err(Refusal("not everything is in order; see the lines marked ✗".to_owned()))
}

async fn telegram(settings: &Settings) -> Option<String> {
    let asking = async {
        let api = Api::new(&settings.telegram).map_err(Refusal)?;
        let asked =
            tokio::time::timeout(std::time::Duration::from_secs(20), who_am_i(&api, settings.telegram.bot));
        asked.await.unwrap_or_else(|_| {
            Err(Refusal(
                "Telegram cannot be reached: check TELEGRAM_API_URL, TELEGRAM_PROXY and the network"
                    .to_owned(),
            ))
        })
    };
    match asking.await {
        Ok(me) => {
            report("telegram", Ok(format!("@{}", me.username)));
            Some(me.username)
        }
        Err(Refusal(words)) => {
            report("telegram", Err(words));
            None
        }
    }
}

/// Asks every model that may have to answer, each for itself.
async fn models(settings: &Settings, providers: &Providers) -> bool {
    let http = match http_client(&settings.model.proxies) {
        Ok(http) => http,
        Err(Refusal(words)) => return report("model", Err(words)),
    };
    let mut good = true;
    for choice in [&settings.model.default].into_iter().chain(&settings.model.fallback) {
        let alone = ModelSettings { default: choice.clone(), fallback: Vec::new(), ..settings.model.clone() };
        let spec = providers.find(choice.provider).map(|provider| &provider.spec);
        let asked = match models::models(&alone, providers, &http) {
            Ok(models) => model(&models, choice, spec).await,
            Err(Refusal(words)) => Err(words),
        };
        good &= report("model", asked);
    }
    good
}

/// Tells of models that the bot will not ask, because money is its only bound and nobody knows what they cost.
fn prices(settings: &Settings) {
    if Caps::from(&settings.spending).takes_unpriced() {
        return;
    }
    let prices = Prices::new(settings.spending.prices.clone());
    for choice in [&settings.model.default].into_iter().chain(&settings.model.fallback) {
        if prices.of(&models::name(choice)).is_none() {
            say(&format!(
                "! model: {choice} will not be asked: DAILY_USD is the only bound, and what this model costs is not known. Set \
                 its price (LLM_PRICES={choice}=sent/cached/written in US dollars for a million tokens) or DAILY_TOKENS"
            ));
        }
    }
}

async fn model(models: &Models, choice: &ModelChoice, spec: Option<&ProviderSpec>) -> Result<String, String> {
    let question = vec![Item::user("Are you there?")];
    let request = Request::new("", "Answer with one word.", question);
    let mut stream = models.stream(&[models.default_model().clone()], &request);
    let mut pass = Pass::default();
    while let Some(event) = stream.next().await {
        pass.absorb(event.map_err(|error| format!("{choice}: {error}{}", remedy(&error, spec)))?);
    }
    Ok(format!("{choice} answers"))
}

/// What an owner can do about a model of this provider that does not answer.
fn remedy(error: &ProviderError, spec: Option<&ProviderSpec>) -> String {
    let with = |role, words: fn(&str) -> String| {
        let variable = spec.and_then(|spec| spec.variable(role));
        variable.map(|variable| words(variable.name)).unwrap_or_default()
    };
    match error {
        ProviderError::Unauthorized(_) => {
            with(Role::Key, |key| format!(": copy {key} again from where it was made"))
        }
        ProviderError::NoQuota(_) => {
            with(Role::Key, |key| format!(": see to the account that {key} belongs to"))
        }
        ProviderError::UnknownModel(_) => with(Role::Model, |model| format!(": choose another {model}")),
        ProviderError::Unavailable(_) | ProviderError::Foreign(_) | ProviderError::Stalled(_) => {
            match with(Role::BaseUrl, |url| format!(": check {url}, LLM_PROXY and the network")) {
                words if words.is_empty() => ": check LLM_PROXY and the network".to_owned(),
                words => words,
            }
        }
        ProviderError::RateLimited { .. }
        | ProviderError::TooLong(_)
        | ProviderError::Refused(_)
        | ProviderError::Cut(_) => String::new(),
    }
}

async fn store(settings: &Settings, username: Option<&str>) -> Result<String, String> {
    let path = settings.store.url.folder.display();
    // A bot that runs holds the store: that is no fault, and nothing is done to it.
    let store = match KvStore::open(&found(&settings.store.url), settings.telegram.bot).await {
        Err(StoreError::InUse(_)) => {
            return Ok(format!(
                "{path} is in use by a running bot; if nobody owns it yet, its log shows the link"
            ));
        }
        Err(error) => return Err(error.to_string()),
        Ok(store) => store,
    };
    let health = store.health().await.map_err(|error| error.to_string())?;
    if let Some(username) = username {
        let link = owner_invite::link(&settings.access, &store, &Clock::system(), username).await;
        if let Some(link) = link.map_err(|error| error.to_string())? {
            say(&format!("! {link}"));
        }
    }
    Ok(format!(
        "{path}: {} bytes on disk, {} of records, {} unreadable records",
        health.bytes, health.live, health.unreadable
    ))
}

fn report(what: &str, result: Result<String, String>) -> bool {
    match &result {
        Ok(words) => say(&format!("✓ {what}: {words}")),
        Err(words) => say(&format!("✗ {what}: {words}")),
    }
    result.is_ok()
}
