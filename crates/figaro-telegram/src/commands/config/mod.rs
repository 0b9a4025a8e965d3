//! `/config`: a card of the chat's settings, with a button to choose, change or clear each; or a change by the
//! command's argument. In groups only admins and owners can change settings.

mod ask;
mod fields;
pub(super) mod undo;
mod unknown;

use std::sync::Arc;

use async_trait::async_trait;
use figaro_base::tz::Tz;

use self::fields::{NAMED_CHARS, label, on_or_off, value, values_usage};
use self::undo::UndoChange;
use self::unknown::unknown;
use super::agents::ChatAgents;
use super::asker::Asker;
use super::card::Card;
use super::cards::{Cards, saved};
use super::command::{
    self, Command, CommandOutcome, CommandRequest, CommandSpec, Group, PressError, Pressed,
};
use super::handles::Handles;
use super::model::ChatModels;
use super::persona::Personas;
use super::replies;
use super::zone::Zones;
use crate::callback::{
    ButtonFamily, ConfigButton, ModelButton, ParentCard, PersonaButton, RecordsButton, SettingField,
    UndoButton, ZoneButton,
};
use crate::inbound::Me;
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::text::one_line;
use figaro_domain::chat::{AnswerFormat, AnswerWhen, ChatConfig, ConfigPatch, MAX_SETTING_CHARS};
use figaro_domain::delivery::Author;
use figaro_prompts::Prompts;
use figaro_prompts::texts::{Texts, fill, name_a_language};
use figaro_store::{SettingsStore, StoreError};

/// Shows and changes the settings of a chat.
#[derive(Debug)]
pub(super) struct ConfigCommand {
    cards: Cards,
    settings: SettingsStore,
    agents: ChatAgents,
    models: ChatModels,
    zones: Zones,
    personas: Personas,
    prompts: Arc<Prompts>,
    undo: UndoChange,
    me: Me,
    default_zone: Tz,
}

#[async_trait]
impl Command for ConfigCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("config", Texts::command_config)
            .group(Group::Settings)
            .changes_chat()
            .families(&[ConfigButton::NAME, UndoButton::NAME])
            .arguments(&[
                ("SETTING", "ask for the new value of a setting"),
                (
                    "SETTING VALUE",
                    "change language, tone, instructions, agent, answers, format, eyes, cost, welcome, quiet, timezone or persona",
                ),
                ("SETTING clear", "clear the setting"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.told(request.asker, request.argument()).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        if let Ok(UndoButton(turn)) = press.data.parse() {
            return self.undo.press(turn, asker).await;
        }
        Ok(match press.data.parse()? {
            ConfigButton::Show => Pressed::card(self.card(asker)?),
            ConfigButton::Ask(field) => {
                let config = self.settings.chat_config(asker.place.chat)?;
                Pressed::card(self.ask(asker, &config, field))
            }
            ConfigButton::Type => {
                let texts = self.cards.texts(asker);
                let words = texts.config_type_instructions().to_owned();
                replies::ask(&self.cards, asker, words, texts.config_instructions(), Author::Instructions)
                    .await
            }
            ConfigButton::Set(choice) => {
                self.press_change(asker, choice.field(), Some(choice.value())).await?
            }
            ConfigButton::Clear(field) => self.press_change(asker, field, None).await?,
        })
    }
}

impl ConfigCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            agents: ChatAgents::new(handles),
            models: ChatModels::new(handles),
            zones: Zones::new(handles),
            personas: Personas::new(handles),
            prompts: handles.prompts.clone(),
            undo: UndoChange::new(handles),
            me: handles.me.clone(),
            default_zone: handles.default_zone,
        }
    }

    async fn told(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        if argument.is_empty() {
            return self.card(asker);
        }
        let (name, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        // "clear language" means the same as "language clear".
        let clears = self.cards.languages.locales.clears(name) && !value.is_empty();
        let (name, value) = if clears { (value.trim(), name) } else { (name, value) };
        if name.eq_ignore_ascii_case(Zones::COMMAND) {
            return self.zones.told(asker, value).await;
        }
        if name.eq_ignore_ascii_case(Personas::COMMAND) {
            return self.personas.told(asker, value).await;
        }
        let config = self.settings.chat_config(asker.place.chat)?;
        let Some(field) =
            name.parse::<SettingField>().ok().filter(|field| self.applies(*field, asker, &config))
        else {
            let settings: Vec<&str> = SettingField::ALL
                .into_iter()
                .filter(|field| self.applies(*field, asker, &config))
                .map(SettingField::name)
                .chain([Personas::COMMAND, Zones::COMMAND])
                .collect();
            return Ok(Card::text(unknown(self.cards.texts(asker), name, &settings)));
        };
        if value.trim().is_empty() {
            return Ok(self.ask(asker, &config, field));
        }
        let value = Some(value.trim()).filter(|value| !self.cards.languages.locales.clears(value));
        match self.change(asker, field, value).await? {
            Ok(hint) => Ok(with_hint(self.card(&self.cards.again(asker))?, hint)),
            Err(complaint) => Ok(Card::text(complaint)),
        }
    }

    async fn press_change(
        &self,
        asker: &Asker,
        field: SettingField,
        value: Option<&str>,
    ) -> Result<Pressed, StoreError> {
        let before = self.settings.chat_config(asker.place.chat)?;
        Ok(match self.change(asker, field, value).await? {
            Ok(hint) => {
                let asker = self.cards.again(asker);
                let now = self.settings.chat_config(asker.place.chat)?;
                let toast = saved(self.cards.texts(&asker), &before, &now);
                let card = with_hint(self.card(&asker)?, hint);
                Pressed::both(toast, card)
            }
            Err(complaint) => Pressed::toast(complaint),
        })
    }

    /// Returns `true` if the bot gets all messages of a group: if its privacy mode is off or it is an admin.
    async fn sees_all(&self, chat: ChatId) -> bool {
        self.me.reads_all || self.cards.admins.is_admin(chat, &UserId::telegram(self.me.id.0)).await
    }

    /// Returns `true` if a setting applies: the condition of answers only in groups, the agent only if there is one
    /// to choose or to clear.
    fn applies(&self, field: SettingField, asker: &Asker, config: &ChatConfig) -> bool {
        match field {
            SettingField::Language
            | SettingField::Tone
            | SettingField::Instructions
            | SettingField::Format
            | SettingField::Cost
            | SettingField::Quiet => true,
            SettingField::Agent => config.agent.is_some() || self.agents.now().choosable().next().is_some(),
            SettingField::Answers | SettingField::Eyes | SettingField::Welcome => asker.place.is_group(),
        }
    }

    /// Formats a setting as a line; an agent that no longer exists is marked as gone.
    fn line(&self, texts: &Texts, config: &ChatConfig, field: SettingField) -> String {
        let shown = match (field, &config.agent) {
            (SettingField::Agent, Some(agent)) if self.agents.now().chosen(config).is_none() => {
                fill(texts.config_agent_gone(), &[("agent", agent)])
            }
            _ => value(texts, config, field),
        };
        format!("{}: {shown}", label(texts, field))
    }

    /// Returns the titles of the chat's context packs; a pack that no longer exists is shown by its name with a
    /// warning sign.
    fn packs(&self, asker: &Asker, config: &ChatConfig) -> String {
        let packs = self.prompts.packs();
        let title = |name: &String| match packs.get(name) {
            Some(pack) => pack.title.of(asker.language.as_deref()).to_owned(),
            None => format!("{name} ⚠️"),
        };
        match config.packs.as_slice() {
            [] => self.cards.texts(asker).packs_none().to_owned(),
            names => names.iter().map(title).collect::<Vec<_>>().join(", "),
        }
    }

    fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let config = self.settings.chat_config(asker.place.chat)?;
        let fields = || SettingField::ALL.into_iter().filter(|field| self.applies(*field, asker, &config));
        let zone = match config.timezone {
            Some(zone) => zone.name().to_owned(),
            None => fill(texts.config_default(), &[("zone", self.default_zone.name())]),
        };
        let model = self.models.of(&config);
        let persona = self.personas.chosen(asker, &config)?;
        let persona = persona.as_deref().unwrap_or(texts.config_none());
        let mut body: Vec<String> = fields().map(|field| self.line(texts, &config, field)).collect();
        body.push(format!("{}: {persona}", texts.persona_title()));
        body.push(format!("{}: {}", texts.button_packs(), self.packs(asker, &config)));
        body.push(format!("{}: {zone}", texts.config_timezone()));
        body.push(format!("{}: {model}", texts.model_title()));
        let mut buttons: Vec<Button> =
            fields().map(|field| Button::new(label(texts, field), ConfigButton::Ask(field))).collect();
        let others = [
            Button::new(texts.persona_title(), PersonaButton::List(0)),
            Button::new(texts.button_packs(), RecordsButton::Packs(0)),
            Button::new(texts.config_timezone(), ZoneButton::Show),
            Button::new(texts.model_title(), ModelButton::Show),
        ];
        buttons.extend(others.map(|button| button.through(ParentCard::Config)));
        let rows = buttons.chunks(2).map(<[Button]>::to_vec);
        Ok(Card::titled(texts.config_title(), body.join("\n")).rows(rows).first())
    }

    /// Returns the note that cards exist only in some languages, with their names.
    fn cards_stay(&self, texts: &Texts, words: &str) -> String {
        let all: Vec<&str> = self.cards.languages.locales.all().map(|(_, one)| one.language_name()).collect();
        fill(words, &[("languages", &all.join(", ")), ("language", texts.language_name())])
    }

    /// Returns the change of one setting; `None` as value clears it. Errors with a message for the person.
    fn patch(&self, asker: &Asker, field: SettingField, value: Option<&str>) -> Result<ConfigPatch, String> {
        let texts = self.cards.texts(asker);
        let none = ConfigPatch::default();
        let owned = Some(value.map(str::to_owned));
        let unknown = || values_usage(texts, field);
        Ok(match (field, value) {
            (SettingField::Language, Some(value)) if !name_a_language(value) => {
                return Err(fill(
                    texts.config_language_unknown(),
                    &[("value", &one_line(value, NAMED_CHARS))],
                ));
            }
            (SettingField::Language, _) => ConfigPatch { language: owned, ..none },
            (SettingField::Tone, _) => ConfigPatch { personality: owned, ..none },
            (SettingField::Instructions, _) => ConfigPatch { custom_prompt: owned, ..none },
            (SettingField::Agent, _) => {
                let agent = value.map(|name| self.agents.named(asker, name)).transpose()?;
                ConfigPatch { agent: Some(agent), ..none }
            }
            (SettingField::Answers, _) => {
                let when = value.map_or(Some(AnswerWhen::default()), AnswerWhen::named);
                ConfigPatch { answer_when: Some(when.ok_or_else(unknown)?), ..none }
            }
            (SettingField::Format, _) => {
                let format = value.map_or(Some(AnswerFormat::default()), AnswerFormat::named);
                ConfigPatch { format: Some(format.ok_or_else(unknown)?), ..none }
            }
            (SettingField::Eyes, _) => {
                let eyes = value.map_or(Some(false), on_or_off);
                ConfigPatch { eyes: Some(eyes.ok_or_else(unknown)?), ..none }
            }
            (SettingField::Cost, _) => {
                let cost = value.map_or(Some(false), on_or_off);
                ConfigPatch { cost: Some(cost.ok_or_else(unknown)?), ..none }
            }
            (SettingField::Quiet, _) => {
                let hours = value.map(str::parse).transpose();
                ConfigPatch { quiet_hours: Some(hours.map_err(|_no_hours| unknown())?), ..none }
            }
            (SettingField::Welcome, _) => ConfigPatch { welcome: Some(owned.flatten()), ..none },
        })
    }

    /// Changes a setting. Returns a hint to add to the card, or an error message for the person.
    async fn change(
        &self,
        asker: &Asker,
        field: SettingField,
        value: Option<&str>,
    ) -> Result<Result<Option<String>, String>, StoreError> {
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Err(texts.admin_only().to_owned()));
        }
        if value.is_some_and(|value| value.chars().count() > MAX_SETTING_CHARS) {
            let limit = MAX_SETTING_CHARS.to_string();
            return Ok(Err(fill(texts.config_too_long(), &[("limit", &limit)])));
        }
        let change = match self.patch(asker, field, value) {
            Ok(change) => change,
            Err(complaint) => return Ok(Err(complaint)),
        };
        let config = self.settings.change_chat_config(asker.place.chat, change).await?;
        if let Some(language) = config.language.as_deref().filter(|_| field == SettingField::Language) {
            if self.cards.languages.locales.named(language).is_some() {
                return Ok(Ok(None));
            }
            // The change of language may switch the cards to the language of the person's client.
            let asker = self.cards.again(asker);
            let texts = self.cards.texts(&asker);
            return Ok(Ok(Some(self.cards_stay(texts, texts.config_answers_only()))));
        }
        let is_always = field == SettingField::Answers && config.answer_when == AnswerWhen::Always;
        let is_hidden = is_always && !self.sees_all(asker.place.chat).await;
        Ok(Ok(is_hidden.then(|| texts.privacy_hint().to_owned())))
    }
}

fn with_hint(mut card: Card, hint: Option<String>) -> Card {
    if let Some(hint) = hint {
        card.body = format!("{}\n\n{hint}", card.body);
    }
    card
}
