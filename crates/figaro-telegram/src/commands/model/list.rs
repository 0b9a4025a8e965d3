//! The models of a chat: which one answers, which ones somebody may choose, and what a name means.

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

/// How long a provider may take to say what it serves.
const LIST_TIMEOUT: Duration = Duration::from_secs(4);

/// The models of chats. Cheap to clone.
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

    /// The model that answers in a chat of these settings: its own, its agent's, or the bot's.
    pub(in super::super) fn of(&self, config: &ChatConfig) -> ModelName {
        let agents = self.prompts.agents();
        let of_agent = agents.answering(config).and_then(|agent| agent.model.as_ref());
        let own = config.model.as_ref().or(of_agent);
        own.unwrap_or_else(|| self.ledger.models.default_model()).clone()
    }

    /// The model that a name means, if the person may have it. Without its provider it is one that only one has.
    ///
    /// # Errors
    /// A sentence that says why not, and what there is.
    pub(in super::super) async fn chosen(&self, asker: &Asker, name: &str) -> Result<ModelName, String> {
        let texts = self.cards.texts(asker);
        let models = &self.ledger.models;
        let mut named = models.named();
        // What an owner has chosen for this chat may be kept by everybody here.
        let config = self.settings.chat_config(asker.place.chat).await;
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
            // A service that does not list its models may have it all the same.
            ([], Ok(model)) if lists.iter().any(|one| one.0 == model.provider && tells_nothing(one)) => {
                Ok(model)
            }
            ([], _) => Err(fill(texts.model_unknown(), &[("model", name), ("models", &list(all()))])),
        }
    }

    /// A model with its price, where that is known.
    pub(super) fn priced(&self, model: &ModelName) -> String {
        match self.ledger.price(model) {
            Some(price) if price.input + price.output > 0 => {
                let million = |nano: u64| dollars(nano.saturating_mul(1_000_000));
                format!("{model} · {} / {}", million(price.input), million(price.output))
            }
            Some(_) | None => model.to_string(),
        }
    }

    pub(super) async fn served_by_all(&self) -> Served {
        let asking = self
            .ledger
            .models
            .providers()
            .map(|provider| async move { (provider.to_owned(), self.served(provider).await) });
        join_all(asking).await
    }

    /// # Errors
    /// When the provider cannot be reached, or does not answer within [`LIST_TIMEOUT`].
    pub(super) async fn served(&self, provider: &str) -> Result<Vec<ModelName>, ProviderError> {
        let asking = tokio::time::timeout(LIST_TIMEOUT, self.ledger.models.served(provider)).await;
        asking.unwrap_or(Err(ProviderError::Stalled(LIST_TIMEOUT)))
    }
}

/// What each provider serves, or why it does not say.
pub(super) type Served = Vec<(String, Result<Vec<ModelName>, ProviderError>)>;

/// Whether its provider says what it serves, and this is not among it; or is not set up any more.
pub(super) fn is_missing(served: &Served, model: &ModelName) -> bool {
    let is_listed = |served: &Vec<ModelName>| served.iter().any(|one| means(&model.to_string(), one));
    match served.iter().find(|(provider, _)| *provider == model.provider) {
        // One that lists nothing says nothing.
        Some((_, Ok(served))) => !served.is_empty() && !is_listed(served),
        Some((_, Err(_))) => false,
        None => true,
    }
}

/// Whether someone who writes this name means this model: Ollama adds `:latest`, and long names come as their mark.
fn means(name: &str, model: &ModelName) -> bool {
    let whole = model.to_string();
    let is_latest = |name: &str, whole: &str| whole.strip_suffix(":latest") == Some(name);
    let fits = |whole: &str| name.eq_ignore_ascii_case(whole) || is_latest(name, whole);
    fits(&whole) || fits(&model.model) || name == mark(model)
}

/// Those of the models that someone who writes this name may mean: the one it names in full, else all it fits.
fn meant<'a>(name: &str, models: impl Iterator<Item = &'a ModelName>) -> Vec<&'a ModelName> {
    let fitting: Vec<&ModelName> = models.filter(|model| means(name, model)).collect();
    let exact = fitting.iter().find(|model| name.eq_ignore_ascii_case(&model.to_string()));
    exact.map(|model| vec![*model]).unwrap_or(fitting)
}
