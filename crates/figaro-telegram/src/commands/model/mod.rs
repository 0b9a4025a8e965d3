//! `/model`: shows and sets the model that answers in this chat and its writing parameters. Members choose from the
//! models named in the bot's settings, owners from all models that are served.

mod card;
mod list;

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::saved;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::replies;
use crate::callback::{ButtonFamily, ModelButton};
use figaro_domain::chat::ConfigPatch;
use figaro_domain::delivery::Author;
use figaro_domain::generation::{BadSetting, Generation, OutOfRange};
use figaro_domain::model::ModelName;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

pub(super) use card::ModelScope;
pub(super) use list::ChatModels;

/// Shows and changes the model that answers.
#[derive(Debug)]
pub(super) struct ModelCommand(ChatModels);

#[async_trait]
impl Command for ModelCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("model", Texts::command_model)
            .group(Group::Settings)
            .changes_chat()
            .families(&[ModelButton::NAME])
            .arguments(&[
                ("MODEL", "use this model in the chat"),
                ("default", "use the model of the settings again"),
                ("temperature 0.3", "set how it writes; other settings are shown by *How it writes*"),
                ("temperature clear", "leave that to the model again"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.told(request.asker, request.argument()).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (models, asker) = (&self.0, press.asker);
        let texts = models.cards.texts(asker);
        Ok(match press.data.parse()? {
            ModelButton::Show => Pressed::card(self.card(asker).await?),
            ModelButton::Served(..) if asker.standing != Standing::Owner => {
                Pressed::toast(texts.owner_only())
            }
            ModelButton::Served(provider, page) => {
                Pressed::card(models.served_card(asker, &provider, page).await)
            }
            ModelButton::Clear => self.set_and_show(asker, None).await?,
            ModelButton::Writing => Pressed::card(models.writing_card(asker)?),
            ModelButton::Type => {
                let words = texts.model_writing_ask().to_owned();
                replies::ask(&models.cards, asker, words, "temperature 0.3", Author::Writing).await
            }
            ModelButton::Plain => {
                let change = ConfigPatch { settings: Some(Generation::default()), ..ConfigPatch::default() };
                let toast = self.change(asker, change).await?;
                Pressed::both(toast, models.writing_card(asker)?)
            }
            ModelButton::Set(model) => match models.chosen(asker, model.as_str()).await {
                Ok(model) => self.set_and_show(asker, Some(model)).await?,
                Err(complaint) => Pressed::toast(complaint),
            },
        })
    }
}

impl ModelCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(ChatModels::new(handles))
    }

    async fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        self.0.card(asker, &ModelScope::Chat).await
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
                None => self.0.writing_card(asker),
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

    /// Changes settings of a chat and returns the toast.
    async fn change(&self, asker: &Asker, change: ConfigPatch) -> Result<&str, StoreError> {
        let (settings, chat) = (&self.0.settings, asker.place.chat);
        let before = settings.chat_config(chat)?;
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
                self.0.writing_card(asker)
            }
            Err(wrong) => Ok(Card::text(bad_setting(self.0.cards.texts(asker), &wrong))),
        }
    }
}

/// Returns the error message for an invalid setting.
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
