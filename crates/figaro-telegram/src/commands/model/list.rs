//! Models of a chat: the model that answers, the models that a person may choose, and the lookup by name.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::super::asker::Asker;
use super::super::cards::Cards;
use super::super::handles::Handles;
use crate::callback::mark;
use figaro_domain::chat::ChatConfig;
use figaro_domain::model::{ModelName, list};
use figaro_domain::usage::dollars;
use figaro_ledger::Ledger;
use figaro_policy::access::Standing;
use figaro_prompts::Prompts;
use figaro_prompts::texts::fill;
use figaro_provider::ProviderError;
use figaro_store::{PersonaStore, SettingsStore};

/// Timeout of a provider's list of models.
const LIST_TIMEOUT: Duration = Duration::from_secs(4);

/// Looks up the models of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub(in super::super) struct ChatModels {
    pub(in super::super) cards: Cards,
    pub(in super::super) settings: SettingsStore,
    pub(super) personas: PersonaStore,
    pub(in super::super) prompts: Arc<Prompts>,
    pub(in super::super) ledger: Arc<Ledger>,
}

impl ChatModels {
    pub(in super::super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            personas: handles.store.personas(),
            prompts: handles.prompts.clone(),
            ledger: handles.ledger.clone(),
        }
    }

    /// Returns the model that answers in a chat with these settings: its own, its agent's, or the bot's default.
    pub(in super::super) fn of(&self, config: &ChatConfig) -> ModelName {
        let agents = self.prompts.agents();
        let of_agent = agents.answering(config).and_then(|agent| agent.model.as_ref());
        let own = config.model.as_ref().or(of_agent);
        own.unwrap_or_else(|| self.ledger.models.default_model()).clone()
    }

    /// Returns the model with this name, if the person may choose it. The provider may be left out if the name is
    /// unique.
    ///
    /// # Errors
    /// A message with the reason and the available models.
    pub(in super::super) async fn chosen(&self, asker: &Asker, name: &str) -> Result<ModelName, String> {
        let texts = self.cards.texts(asker);
        let models = &self.ledger.models;
        let mut named = models.named();
        // Everybody here may keep the model that an owner has chosen for this chat.
        let config = self.settings.chat_config(asker.place.chat);
        let config = config.map_err(|error| self.cards.failed(asker, &error).body)?;
        named.extend(config.model.filter(|chosen| !named.contains(chosen)));
        match meant(name, named.iter()).as_slice() {
            [] => {}
            [model] => return Ok((*model).clone()),
            several => {
                return Err(fill(texts.model_several(), &[("models", &list(several.iter().copied()))]));
            }
        }
        if asker.standing != Standing::Owner {
            return Err(fill(texts.model_not_named(), &[("models", &list(&named))]));
        }
        let lists =
            match name.split_once(':').filter(|(provider, _)| models.providers().any(|p| p == *provider)) {
                Some((provider, _)) => vec![(provider.to_owned(), self.served(provider).await)],
                None => self.served_by_all().await,
            };
        let all = || lists.iter().filter_map(|(_, served)| served.as_ref().ok()).flatten();
        let meant = meant(name, all());
        let tells_nothing = |(_, served): &(String, Result<Vec<ModelName>, ProviderError>)| {
            served.as_ref().map_or(true, Vec::is_empty)
        };
        match (meant.as_slice(), name.parse::<ModelName>()) {
            ([model], _) => Ok((*model).clone()),
            ([_, _, ..], _) => Err(fill(texts.model_several(), &[("models", &list(meant))])),
            // A provider that lists no models may still have it.
            ([], Ok(model)) if lists.iter().any(|one| one.0 == model.provider && tells_nothing(one)) => {
                Ok(model)
            }
            ([], _) => Err(fill(texts.model_unknown(), &[("model", name), ("models", &list(all()))])),
        }
    }

    /// Formats a model with its price, if known.
    pub(super) fn priced(&self, model: &ModelName) -> String {
        match self.ledger.price(model) {
            Some(price) if price.input + price.output > 0 => {
                let million = |nano: u64| dollars(nano.saturating_mul(1_000_000));
                format!("{model} · {} / {}", million(price.input), million(price.output))
            }
            Some(_) | None => model.to_string(),
        }
    }

    pub(super) async fn served_by_all(&self) -> ProviderModels {
        let asking = self
            .ledger
            .models
            .providers()
            .map(|provider| async move { (provider.to_owned(), self.served(provider).await) });
        join_all(asking).await
    }

    /// # Errors
    /// If the provider cannot be reached or does not answer within [`LIST_TIMEOUT`].
    pub(super) async fn served(&self, provider: &str) -> Result<Vec<ModelName>, ProviderError> {
        let asking = tokio::time::timeout(LIST_TIMEOUT, self.ledger.models.served(provider)).await;
        asking.unwrap_or(Err(ProviderError::Stalled(LIST_TIMEOUT)))
    }
}

/// Models that each provider serves, or the error of its list.
pub(super) type ProviderModels = Vec<(String, Result<Vec<ModelName>, ProviderError>)>;

/// Returns `true` if the model's provider lists its models without this one, or is no longer configured.
pub(super) fn is_missing(served: &ProviderModels, model: &ModelName) -> bool {
    let is_listed = |served: &Vec<ModelName>| served.iter().any(|one| means(&model.to_string(), one));
    match served.iter().find(|(provider, _)| *provider == model.provider) {
        // An empty list tells nothing.
        Some((_, Ok(served))) => !served.is_empty() && !is_listed(served),
        Some((_, Err(_))) => false,
        None => true,
    }
}

/// Returns `true` if a name fits a model. Ollama adds `:latest`, and buttons hold the mark of a long name.
fn means(name: &str, model: &ModelName) -> bool {
    let whole = model.to_string();
    let is_latest = |name: &str, whole: &str| whole.strip_suffix(":latest") == Some(name);
    let fits = |whole: &str| name.eq_ignore_ascii_case(whole) || is_latest(name, whole);
    fits(&whole) || fits(&model.model) || name == mark(model)
}

/// Returns the models that a name fits: only the exact match if there is one.
fn meant<'a>(name: &str, models: impl Iterator<Item = &'a ModelName>) -> Vec<&'a ModelName> {
    let fitting: Vec<&ModelName> = models.filter(|model| means(name, model)).collect();
    let exact = fitting.iter().find(|model| name.eq_ignore_ascii_case(&model.to_string()));
    exact.map(|model| vec![*model]).unwrap_or(fitting)
}
