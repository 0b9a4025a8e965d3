//! `/model`: which model answers in this chat and how it writes. Members choose among the models the owner has named;
//! owners among all that are served.

use std::time::Duration;

use futures::future::join_all;

use super::{Asker, Card, Commands, Pressed, ROWS, pager};
use crate::domain::chat::{ChatConfig, ConfigPatch};
use crate::domain::generation::{BadSetting, Generation, OutOfRange};
use crate::domain::model::{ModelName, list};
use crate::domain::usage::dollars;
use crate::policy::access::Standing;
use crate::prompts::texts::{Texts, fill};
use crate::provider::ProviderError;
use crate::store::StoreError;
use crate::telegram::send::Button;

/// How long a provider may take to say what it serves.
const PATIENCE: Duration = Duration::from_secs(4);
/// What the button of a model sends, before its name.
const SET: &str = "model:set:";
/// The most bytes of a button's data, by the Bot API.
const MOST_DATA: usize = 64;

impl Commands {
    pub(super) async fn model_command(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        let mut words = argument.split_whitespace();
        let Some(first) = words.next() else {
            return self.models_card(asker, SET).await;
        };
        if !self.may_change(asker).await {
            return Ok(Card::text(&self.texts(asker).admin_only));
        }
        let word = first.to_lowercase();
        if Generation::NAMES.contains(&word.as_str()) {
            return match words.next() {
                Some(value) => self.change_setting(asker, &word, &value.to_lowercase()).await,
                None => self.models_card(asker, SET).await,
            };
        }
        let model = match word.as_str() {
            "default" | "clear" => None,
            _ => match self.chosen(asker, first).await {
                Ok(model) => Some(model),
                Err(complaint) => return Ok(Card::text(complaint)),
            },
        };
        self.set_model(asker, model).await?;
        self.models_card(asker, SET).await
    }

    pub(super) async fn press_model(&self, what: &str, asker: &Asker) -> Result<Pressed, StoreError> {
        let (verb, value) = what.split_once(':').unwrap_or((what, ""));
        let texts = self.texts(asker);
        match verb {
            "show" => Ok(Pressed::card(self.models_card(asker, SET).await?)),
            "served" if asker.standing != Standing::Owner => Ok(Pressed::toast(&texts.owner_only)),
            "served" => {
                let (provider, page) = value.rsplit_once(':').unwrap_or((value, "0"));
                Ok(Pressed::card(self.served_card(asker, provider, page.parse().unwrap_or_default()).await))
            }
            "set" | "clear" if !self.may_change(asker).await => Ok(Pressed::toast(&texts.admin_only)),
            "clear" => self.set_and_show(asker, None).await,
            "set" => match self.chosen(asker, value).await {
                Ok(model) => self.set_and_show(asker, Some(model)).await,
                Err(complaint) => Ok(Pressed::toast(complaint)),
            },
            _ => Ok(Pressed::toast(&texts.gone)),
        }
    }

    /// The models to choose from; `action` is what the button of one sends before its name.
    pub(super) async fn models_card(&self, asker: &Asker, action: &str) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        let config = self.store.chat_config(asker.place.chat).await?;
        let models = &self.ledger.models;
        let served = self.served_by_all().await;
        let now = self.model_of(&config);
        let mut named = models.named();
        if !named.contains(&now) {
            named.push(now.clone());
        }
        let row = |model: &ModelName| {
            let mark = if is_missing(&served, model) {
                "⚠️ "
            } else if *model == now && action == SET {
                "✓ "
            } else {
                ""
            };
            button(&format!("{mark}{}", self.priced(model)), action, model).map(|button| vec![button])
        };
        let rows: Vec<Vec<Button>> = named.iter().filter_map(row).collect();
        let more = served.iter().filter(|_| asker.standing == Standing::Owner && action == SET);
        let more = more.filter(|(_, served)| served.as_ref().is_ok_and(|served| !served.is_empty()));
        let label = |provider: &str| fill(&texts.model_more, &[("provider", provider)]);
        let more =
            more.map(|(provider, _)| Button::new(label(provider), format!("model:served:{provider}:0")));
        let clear = config.model.is_some() && action == SET;
        let clear = clear.then(|| Button::new(&texts.model_default, "model:clear"));
        Ok(Card::titled(&texts.model_title, self.model_lines(texts, &config, &served))
            .rows(rows)
            .rows(more.map(|button| vec![button]))
            .row(clear.into_iter().collect()))
    }

    /// The model that answers in a chat of these settings: its own, its agent's, or the bot's.
    pub(super) fn model_of(&self, config: &ChatConfig) -> ModelName {
        let of_agent = self.prompts.chosen(config).and_then(|agent| agent.model.as_ref());
        let own = config.model.as_ref().or(of_agent);
        own.unwrap_or_else(|| self.ledger.models.default_model()).clone()
    }

    /// Which model answers, how it writes, what of that it ignores, and what cannot be reached.
    fn model_lines(&self, texts: &Texts, config: &ChatConfig, served: &Served) -> String {
        let (model, agent) = (self.model_of(config), self.prompts.chosen(config));
        let of_agent = agent.filter(|agent| agent.model.is_some()).map(|agent| agent.name.as_str());
        let which = match of_agent {
            _ if config.model.is_some() => &texts.model_here,
            Some(_) => &texts.model_agents,
            None => &texts.model_bots,
        };
        let named = [("model", model.to_string()), ("agent", of_agent.unwrap_or_default().to_owned())];
        let mut lines = vec![fill(which, &named.each_ref().map(|(key, value)| (*key, value.as_str())))];
        let settings = config.settings.or(agent.map(|agent| agent.settings).unwrap_or_default());
        let set: Vec<String> =
            settings.entries().iter().map(|(name, value)| format!("{name} {value}")).collect();
        if !set.is_empty() {
            lines.push(fill(&texts.model_settings, &[("settings", &set.join(", "))]));
        }
        lines.extend(self.ignored_line(texts, &model, &settings));
        if is_missing(served, &model) {
            lines.push(fill(&texts.model_missing, &[("model", &model.to_string())]));
        }
        for (provider, _) in served.iter().filter(|(_, served)| served.is_err()) {
            lines.push(fill(&texts.model_unreachable, &[("provider", provider)]));
        }
        lines.push(texts.model_usage.clone());
        lines.join("\n")
    }

    fn ignored_line(&self, texts: &Texts, model: &ModelName, settings: &Generation) -> Option<String> {
        let ignored = self.ledger.models.ignored(model, settings);
        let values = [("provider", model.provider.as_str()), ("settings", &ignored.join(", "))];
        (!ignored.is_empty()).then(|| fill(&texts.model_ignored, &values))
    }

    async fn served_card(&self, asker: &Asker, provider: &str, page: usize) -> Card {
        let texts = self.texts(asker);
        let back = vec![Button::new(&texts.button_back, "model:show")];
        let served = match self.served(provider).await {
            Ok(served) => served,
            Err(_error) => {
                let words = fill(&texts.model_unreachable, &[("provider", provider)]);
                return Card::titled(&texts.model_title, words).row(back);
            }
        };
        let page = page.min(served.len().saturating_sub(1) / ROWS);
        let shown = served.iter().skip(page * ROWS).take(ROWS);
        let rows =
            shown.filter_map(|model| button(&self.priced(model), SET, model).map(|button| vec![button]));
        let body = fill(&texts.model_served, &[("provider", provider), ("count", &served.len().to_string())]);
        Card::titled(&texts.model_title, body)
            .rows(rows)
            .row(pager(&format!("model:served:{provider}"), page, served.len()))
            .row(back)
    }

    async fn set_and_show(&self, asker: &Asker, model: Option<ModelName>) -> Result<Pressed, StoreError> {
        self.set_model(asker, model).await?;
        Ok(Pressed::both(&self.texts(asker).config_saved, self.models_card(asker, SET).await?))
    }

    async fn set_model(&self, asker: &Asker, model: Option<ModelName>) -> Result<(), StoreError> {
        let change = ConfigPatch { model: Some(model), ..ConfigPatch::default() };
        self.store.change_chat_config(asker.place.chat, change).await.map(drop)
    }

    async fn change_setting(&self, asker: &Asker, name: &str, value: &str) -> Result<Card, StoreError> {
        let value = Some(value).filter(|value| *value != "clear");
        match Generation::default().with(name, value) {
            Ok(_) => {
                let setting = Some((name.to_owned(), value.map(str::to_owned)));
                let change = ConfigPatch { setting, ..ConfigPatch::default() };
                self.store.change_chat_config(asker.place.chat, change).await?;
                self.models_card(asker, SET).await
            }
            Err(wrong) => Ok(Card::text(complaint(self.texts(asker), &wrong))),
        }
    }

    /// The model that a name means, if the person may have it. Without its provider it is one that only one has.
    ///
    /// # Errors
    /// A sentence that says why not, and what there is.
    pub(super) async fn chosen(&self, asker: &Asker, name: &str) -> Result<ModelName, String> {
        let texts = self.texts(asker);
        let models = &self.ledger.models;
        let mut named = models.named();
        // What an owner has chosen for this chat may be kept by everybody here.
        let config = self.store.chat_config(asker.place.chat).await;
        let config = config.map_err(|error| self.failed(asker, &error).body)?;
        named.extend(config.model.filter(|chosen| !named.contains(chosen)));
        match meant(name, named.iter()).as_slice() {
            [] => {}
            [model] => return Ok((*model).clone()),
            several => return Err(fill(&texts.model_several, &[("models", &list(several.iter().copied()))])),
        }
        if asker.standing != Standing::Owner {
            return Err(fill(&texts.model_not_named, &[("models", &list(&named))]));
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
            ([_, _, ..], _) => Err(fill(&texts.model_several, &[("models", &list(meant))])),
            // A service that does not list its models may have it all the same.
            ([], Ok(model)) if lists.iter().any(|one| one.0 == model.provider && tells_nothing(one)) => {
                Ok(model)
            }
            ([], _) => Err(fill(&texts.model_unknown, &[("model", name), ("models", &list(all()))])),
        }
    }

    /// A model with its price, where that is known.
    fn priced(&self, model: &ModelName) -> String {
        match self.ledger.price(model) {
            Some(price) if price.input + price.output > 0 => {
                let million = |nano: u64| dollars(nano.saturating_mul(1_000_000));
                format!("{model} · {} / {}", million(price.input), million(price.output))
            }
            Some(_) | None => model.to_string(),
        }
    }

    async fn served_by_all(&self) -> Served {
        let asking = self
            .ledger
            .models
            .providers()
            .map(|provider| async move { (provider.to_owned(), self.served(provider).await) });
        join_all(asking).await
    }

    async fn served(&self, provider: &str) -> Result<Vec<ModelName>, ProviderError> {
        let asking = tokio::time::timeout(PATIENCE, self.ledger.models.served(provider)).await;
        asking.unwrap_or(Err(ProviderError::Stalled(PATIENCE)))
    }
}

/// What each provider serves, or why it does not say.
type Served = Vec<(String, Result<Vec<ModelName>, ProviderError>)>;

/// Whether its provider says what it serves, and this is not among it; or is not set up any more.
fn is_missing(served: &Served, model: &ModelName) -> bool {
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

/// A button that names a model, by its name or, where that is too long, by a mark made of it.
fn button(label: &str, action: &str, model: &ModelName) -> Option<Button> {
    let names = [model.to_string(), mark(model)];
    let data = names.iter().map(|name| format!("{action}{name}")).find(|data| data.len() <= MOST_DATA)?;
    Some(Button::new(label, data))
}

/// FNV-1a of a model's name: the same wherever it is made.
fn mark(model: &ModelName) -> String {
    let hash = model.to_string().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("#{hash:016x}")
}

/// Why a setting was not changed, in the person's language.
fn complaint(texts: &Texts, wrong: &BadSetting) -> String {
    match wrong {
        BadSetting::OutOfRange(OutOfRange { name, value, low, high }) => {
            let [value, low, high] = [value, low, high].map(ToString::to_string);
            fill(&texts.model_range, &[("name", name), ("value", &value), ("low", &low), ("high", &high)])
        }
        BadSetting::NoValue(name, value) => fill(&texts.model_no_value, &[("name", name), ("value", value)]),
        BadSetting::Unknown(_) => wrong.to_string(),
    }
}
