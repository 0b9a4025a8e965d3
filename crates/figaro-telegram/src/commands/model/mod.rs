//! `/model`: which model answers in this chat and how it writes. Members choose among the models the owner has named;
//! owners among all that are served.

mod card;
mod list;

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::saved;
use super::command::{Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use super::replies;
use crate::callback::{Family, Model as Button};
use figaro_domain::chat::ConfigPatch;
use figaro_domain::delivery::Author;
use figaro_domain::generation::{BadSetting, Generation, OutOfRange};
use figaro_domain::model::ModelName;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

pub(super) use card::Purpose;
pub(super) use list::ChatModels;

/// Shows and changes which model answers.
#[derive(Debug)]
pub(super) struct Model(ChatModels);

#[async_trait]
impl Command for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_model()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Settings)
    }

    fn changes_chat(&self) -> bool {
        true
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        self.told(request.asker, request.argument()).await.map(Outcome::Card)
    }

    fn families(&self) -> &'static [&'static str] {
        &[Button::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (models, asker) = (&self.0, press.asker);
        let texts = models.cards.texts(asker);
        Ok(match press.data.parse()? {
            Button::Show => Pressed::card(self.card(asker).await?),
            Button::Served(..) if asker.standing != Standing::Owner => Pressed::toast(texts.owner_only()),
            Button::Served(provider, page) => Pressed::card(models.served_card(asker, &provider, page).await),
            Button::Clear => self.set_and_show(asker, None).await?,
            Button::Writing => Pressed::card(models.writing_card(asker).await?),
            Button::Type => {
                let words = texts.model_writing_ask().to_owned();
                replies::ask(&models.cards, asker, words, "temperature 0.3", Author::Writing).await
            }
            Button::Plain => {
                let change = ConfigPatch { settings: Some(Generation::default()), ..ConfigPatch::default() };
                let toast = self.change(asker, change).await?;
                Pressed::both(toast, models.writing_card(asker).await?)
            }
            Button::Set(model) => match models.chosen(asker, model.as_str()).await {
                Ok(model) => self.set_and_show(asker, Some(model)).await?,
                Err(complaint) => Pressed::toast(complaint),
            },
        })
    }
}

impl Model {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(ChatModels::new(handles))
    }

    async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        self.0.card(asker, &Purpose::Chat).await
    }

    async fn told(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        let mut words = argument.split_whitespace();
        let Some(first) = words.next() else {
            return self.card(asker).await;
        };
        if !self.0.cards.may_change(asker).await {
            return Ok(Card::text(self.0.cards.texts(asker).admin_only()));
        }
        let word = first.to_lowercase();
        if Generation::NAMES.contains(&word.as_str()) {
            return match words.next() {
                Some(value) => self.change_setting(asker, &word, &value.to_lowercase()).await,
                None => self.0.writing_card(asker).await,
            };
        }
        let model = match word.as_str() {
            "default" => None,
            word if self.0.cards.languages.locales.clears(word) => None,
            _ => match self.0.chosen(asker, first).await {
                Ok(model) => Some(model),
                Err(complaint) => return Ok(Card::text(complaint)),
            },
        };
        self.set_model(asker, model).await?;
        self.card(asker).await
    }

    async fn set_and_show(&self, asker: &Asker, model: Option<ModelName>) -> Result<Pressed, StoreError> {
        let toast = self.set_model(asker, model).await?;
        Ok(Pressed::both(toast, self.card(asker).await?))
    }

    async fn set_model(&self, asker: &Asker, model: Option<ModelName>) -> Result<&str, StoreError> {
        self.change(asker, ConfigPatch { model: Some(model), ..ConfigPatch::default() }).await
    }

    /// Changes settings of a chat; gives what is said for it.
    async fn change(&self, asker: &Asker, change: ConfigPatch) -> Result<&str, StoreError> {
        let (settings, chat) = (&self.0.settings, asker.place.chat);
        let before = settings.chat_config(chat).await?;
        let now = settings.change_chat_config(chat, change).await?;
        Ok(saved(self.0.cards.texts(asker), &before, &now))
    }

    async fn change_setting(&self, asker: &Asker, name: &str, value: &str) -> Result<Card, StoreError> {
        let value = Some(value).filter(|value| !self.0.cards.languages.locales.clears(value));
        match Generation::default().with(name, value) {
            Ok(_) => {
                let setting = Some((name.to_owned(), value.map(str::to_owned)));
                let change = ConfigPatch { setting, ..ConfigPatch::default() };
                self.change(asker, change).await?;
                self.0.writing_card(asker).await
            }
            Err(wrong) => Ok(Card::text(bad_setting(self.0.cards.texts(asker), &wrong))),
        }
    }
}

/// Why a setting was not changed, in the person's language.
pub(super) fn bad_setting(texts: &Texts, wrong: &BadSetting) -> String {
    match wrong {
        BadSetting::OutOfRange(OutOfRange { name, value, low, high }) => {
            let [value, low, high] = [value, low, high].map(ToString::to_string);
            fill(texts.model_range(), &[("name", name), ("value", &value), ("low", &low), ("high", &high)])
        }
        BadSetting::NoValue(name, value) => fill(texts.model_no_value(), &[("name", name), ("value", value)]),
        BadSetting::Unknown(_) => wrong.to_string(),
    }
}
