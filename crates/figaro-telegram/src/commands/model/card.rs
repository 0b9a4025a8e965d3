//! Cards of models: the choice of a model, and the models that a provider serves.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::list_page::ListPage;
use super::list::{ChatModels, ProviderModels, is_missing};
use crate::callback::{Data, ModelButton, ModelKey, Page, RetryButton, SessionsButton, Short, TurnTag};
use crate::send::Button;
use figaro_base::ids::SessionId;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::conversation::Session;
use figaro_domain::generation::Generation;
use figaro_domain::model::ModelName;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Scope of the choice of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum ModelScope {
    /// The model answers in the chat from now on.
    Chat,
    /// The model is asked the question of a turn once more; with `sees`, only models that see pictures are offered.
    Again { turn: TurnTag, sees: bool },
    /// The model answers in this session only, from now on.
    Session(SessionId),
}

impl ModelScope {
    fn button(&self, label: String, model: &ModelName) -> Button {
        let data: Data = match self {
            Self::Chat => ModelButton::Set(ModelKey::of(model)).into(),
            Self::Again { turn, .. } => RetryButton::With(turn.clone(), ModelKey::of(model)).into(),
            Self::Session(session) => SessionsButton::Set(*session, ModelKey::of(model)).into(),
        };
        Button::new(label, data)
    }
}

impl ChatModels {
    /// Returns the card with the models to choose from and the writing parameters of the chat's model.
    pub(in super::super) async fn card(
        &self,
        asker: &Asker,
        purpose: &ModelScope,
    ) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let config = self.settings.chat_config(asker.place.chat)?;
        let is_chats = *purpose == ModelScope::Chat;
        let served = self.served_by_all().await;
        let rows = self.choices(purpose, &served, &self.of(&config));
        let more = served.iter().filter(|_| asker.standing == Standing::Owner && is_chats);
        let more = more.filter(|(_, served)| served.as_ref().is_ok_and(|served| !served.is_empty()));
        let label = |provider: &str| fill(texts.model_more(), &[("provider", provider)]);
        let more = more.filter_map(|(provider, _)| {
            Some(Button::new(label(provider), ModelButton::Served(Short::new(provider)?, 0)))
        });
        let writing = is_chats.then(|| Button::new(texts.model_writing(), ModelButton::Writing));
        let clear = config.model.is_some() && is_chats;
        let clear = clear.then(|| Button::new(texts.model_default(), ModelButton::Clear));
        Ok(Card::titled(texts.model_title(), self.model_lines(asker, &config, &served)?)
            .how(texts.model_usage())
            .rows(rows)
            .rows(more.map(|button| vec![button]))
            .row(writing.into_iter().chain(clear).collect())
            .first())
    }

    /// Returns the card with the models to choose from for one session.
    pub(in super::super) async fn session_card(
        &self,
        asker: &Asker,
        session: &Session,
    ) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let config = self.settings.chat_config(asker.place.chat)?;
        let now = session.model.clone().unwrap_or_else(|| self.of(&config));
        let rows = self.choices(&ModelScope::Session(session.id), &self.served_by_all().await, &now);
        let clear = session
            .model
            .as_ref()
            .map(|_| Button::new(texts.model_default(), SessionsButton::Clear(session.id)));
        let back = Button::new(texts.button_back(), SessionsButton::Open(session.id));
        let of_model =
            if session.model.is_some() { texts.session_model_own() } else { texts.session_model() };
        let body =
            format!("{}\n{}", fill(of_model, &[("model", &now.to_string())]), texts.session_model_usage());
        Ok(Card::titled(texts.model_title(), body).rows(rows).row(clear.into_iter().chain([back]).collect()))
    }

    /// Returns a row for each model named in the bot's settings, and for the current model.
    fn choices(&self, purpose: &ModelScope, served: &ProviderModels, now: &ModelName) -> Vec<Vec<Button>> {
        let mut named = self.ledger.models.named();
        if !named.contains(now) {
            named.push(now.clone());
        }
        let is_lasting = !matches!(purpose, ModelScope::Again { .. });
        if matches!(purpose, ModelScope::Again { sees: true, .. }) {
            named.retain(|model| self.ledger.models.sees(model));
        }
        let row = |model: &ModelName| {
            let mark = if is_missing(served, model) {
                "⚠️ "
            } else if model == now && is_lasting {
                "✓ "
            } else {
                ""
            };
            vec![purpose.button(format!("{mark}{}", self.priced(model)), model)]
        };
        named.iter().map(row).collect()
    }

    /// Returns the card with the writing parameters of the chat's model and how to set them.
    pub(super) fn writing_card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let config = self.settings.chat_config(asker.place.chat)?;
        let mut lines = self.written_here(asker, &config)?;
        lines.push(texts.model_writing_usage().to_owned());
        let clear = config.settings != Generation::default();
        let clear = clear.then(|| Button::new(texts.button_clear(), ModelButton::Plain));
        let change = Button::new(texts.button_edit(), ModelButton::Type);
        let back = Button::new(texts.button_back(), ModelButton::Show);
        Ok(Card::titled(texts.model_writing(), lines.join("\n"))
            .row([change].into_iter().chain(clear).collect())
            .row(vec![back]))
    }

    /// Returns the lines of the writing parameters that apply to the chat's model, and of those it ignores.
    fn written_here(&self, asker: &Asker, config: &ChatConfig) -> Result<Vec<String>, StoreError> {
        let of_agent =
            self.prompts.agents().answering(config).map(|agent| agent.settings).unwrap_or_default();
        let of_persona = match config.persona {
            Some(PersonaChoice::Own { id, .. }) => {
                self.personas.find(asker.place.chat, id)?.map(|persona| persona.settings)
            }
            _ => self.prompts.chosen_persona(config).map(|persona| persona.settings),
        };
        let settings = Generation::nearest([config.settings, of_persona.unwrap_or_default(), of_agent]);
        Ok(self.writing_lines(self.cards.texts(asker), &self.of(config), &settings))
    }

    /// Returns the lines of the writing parameters in `settings`, and of those that the model ignores.
    pub(in super::super) fn writing_lines(
        &self,
        texts: &Texts,
        model: &ModelName,
        settings: &Generation,
    ) -> Vec<String> {
        let set: Vec<String> =
            settings.entries().iter().map(|(name, value)| texts.writes(name, value)).collect();
        let set = (!set.is_empty()).then(|| fill(texts.model_settings(), &[("settings", &set.join(", "))]));
        set.into_iter().chain(self.ignored_line(texts, model, settings)).collect()
    }

    /// Returns the lines about the current model: its source, its writing parameters, the ignored ones, and
    /// unreachable providers.
    fn model_lines(
        &self,
        asker: &Asker,
        config: &ChatConfig,
        served: &ProviderModels,
    ) -> Result<String, StoreError> {
        let texts = self.cards.texts(asker);
        let (model, agents) = (self.of(config), self.prompts.agents());
        let agent = agents.answering(config);
        let of_agent = agent.filter(|agent| agent.model.is_some()).map(|agent| agent.name.as_str());
        let which = match of_agent {
            _ if config.model.is_some() => texts.model_here(),
            Some(_) => texts.model_agents(),
            None => texts.model_bots(),
        };
        let named = [("model", model.to_string()), ("agent", of_agent.unwrap_or_default().to_owned())];
        let mut lines = vec![fill(which, &named.each_ref().map(|(key, value)| (*key, value.as_str())))];
        lines.extend(self.written_here(asker, config)?);
        if is_missing(served, &model) {
            lines.push(fill(texts.model_missing(), &[("model", &model.to_string())]));
        }
        for (provider, _) in served.iter().filter(|(_, served)| served.is_err()) {
            lines.push(fill(texts.model_unreachable(), &[("provider", provider)]));
        }
        Ok(lines.join("\n"))
    }

    fn ignored_line(&self, texts: &Texts, model: &ModelName, settings: &Generation) -> Option<String> {
        let ignored = self.ledger.models.ignored(model, settings);
        let named: Vec<String> = ignored.iter().map(|name| texts.writes(name, "")).collect();
        let values = [("provider", model.provider.as_str()), ("settings", &named.join(", "))];
        (!ignored.is_empty()).then(|| fill(texts.model_ignored(), &values))
    }

    /// Returns a page of the models that a provider serves.
    pub(super) async fn served_card(&self, asker: &Asker, provider: &Short<40>, page: Page) -> Card {
        let texts = self.cards.texts(asker);
        let back = vec![Button::new(texts.button_back(), ModelButton::Show)];
        let served = match self.served(provider.as_str()).await {
            Ok(served) => served,
            Err(_error) => {
                let words = fill(texts.model_unreachable(), &[("provider", provider.as_str())]);
                return Card::titled(texts.model_title(), words).row(back);
            }
        };
        let page = ListPage::of(served, page);
        let body = fill(
            texts.model_served(),
            &[("provider", provider.as_str()), ("count", &page.total.to_string())],
        );
        Card::titled(texts.model_title(), body)
            .list(
                texts,
                &page,
                |model| vec![ModelScope::Chat.button(self.priced(model), model)],
                |page| ModelButton::Served(provider.clone(), page),
            )
            .row(back)
    }
}
