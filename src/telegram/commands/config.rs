//! `/config`: a card of the chat's settings, each a button to choose, change or clear; or changed by words behind the
//! command. In a group only admins and owners change them.

use super::{Asker, Card, Commands, Pressed};
use crate::domain::chat::{AnswerWhen, ChatConfig, ConfigPatch, MAX_SETTING_CHARS};
use crate::domain::config_change::Setting;
use crate::domain::model::list;
use crate::ids::{ChatId, UserId};
use crate::policy::access::Standing;
use crate::prompts::texts::{Texts, fill};
use crate::store::StoreError;
use crate::telegram::send::Button;
use crate::text::one_line;

/// Languages offered as buttons, by their own names; any other can be typed.
const LANGUAGES: [&str; 6] = ["English", "Português", "Español", "Deutsch", "Русский", "Français"];

/// So many agents are offered as buttons; any other can be typed.
const MOST_CHOICES: usize = 12;

/// The most characters of a setting that a line shows.
const VALUE_CHARS: usize = 80;

/// A setting that can be changed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Language,
    Tone,
    Instructions,
    Agent,
    Answers,
}

impl Field {
    const ALL: [Self; 5] = [Self::Language, Self::Tone, Self::Instructions, Self::Agent, Self::Answers];

    const fn name(self) -> &'static str {
        match self {
            Self::Language => "language",
            Self::Tone => "tone",
            Self::Instructions => "instructions",
            Self::Agent => "agent",
            Self::Answers => "answers",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(name))
    }

    pub(super) fn label(self, texts: &Texts) -> &str {
        match self {
            Self::Language => &texts.config_language,
            Self::Tone => &texts.config_personality,
            Self::Instructions => &texts.config_instructions,
            Self::Agent => &texts.config_agent,
            Self::Answers => &texts.config_answers,
        }
    }
}

impl Commands {
    pub(super) async fn config_command(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        if argument.is_empty() {
            return self.config_card(asker).await;
        }
        let (name, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        if name.eq_ignore_ascii_case("timezone") {
            return self.timezone_command(asker, value).await;
        }
        let config = self.store.chat_config(asker.place.chat).await?;
        let Some(field) = Field::named(name).filter(|field| self.applies(*field, asker, &config)) else {
            return Ok(Card::text(&self.texts(asker).config_usage));
        };
        if value.trim().is_empty() {
            return Ok(self.ask(asker, &config, field));
        }
        let value = Some(value.trim()).filter(|value| !value.eq_ignore_ascii_case("clear"));
        match self.change(asker, field, value).await? {
            Ok(hint) => Ok(with_hint(self.config_card(asker).await?, hint)),
            Err(complaint) => Ok(Card::text(complaint)),
        }
    }

    pub(super) async fn press_config(&self, what: &str, asker: &Asker) -> Result<Pressed, StoreError> {
        let mut words = what.splitn(3, ':');
        let (verb, name, value) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next());
        if verb == "show" {
            return Ok(Pressed::card(self.config_card(asker).await?));
        }
        let Some(field) = Field::named(name) else {
            return Ok(Pressed::toast(&self.texts(asker).gone));
        };
        match verb {
            "ask" => {
                let config = self.store.chat_config(asker.place.chat).await?;
                Ok(Pressed::card(self.ask(asker, &config, field)))
            }
            "set" | "clear" => match self.change(asker, field, value.filter(|_| verb == "set")).await? {
                Ok(hint) => {
                    let card = with_hint(self.config_card(asker).await?, hint);
                    Ok(Pressed::both(&self.texts(asker).config_saved, card))
                }
                Err(complaint) => Ok(Pressed::toast(complaint)),
            },
            _ => Ok(Pressed::toast(&self.texts(asker).gone)),
        }
    }

    /// Whether Telegram shows the bot all messages of a group: privacy mode hides nothing from an admin.
    async fn sees_all(&self, chat: ChatId) -> bool {
        self.me.reads_all || self.admins.is_admin(chat, &UserId::telegram(self.me.id.0)).await
    }

    /// Answers-when means something in groups only; an agent where there is one to choose or to clear.
    fn applies(&self, field: Field, asker: &Asker, config: &ChatConfig) -> bool {
        match field {
            Field::Language | Field::Tone | Field::Instructions => true,
            Field::Agent => config.agent.is_some() || self.prompts.choosable().next().is_some(),
            Field::Answers => asker.place.is_group(),
        }
    }

    /// A setting in one line; an agent that is not there any more is said to be gone.
    fn line(&self, texts: &Texts, config: &ChatConfig, field: Field) -> String {
        let shown = match (field, &config.agent) {
            (Field::Agent, Some(agent)) if self.prompts.chosen(config).is_none() => {
                fill(&texts.config_agent_gone, &[("agent", agent)])
            }
            _ => value(texts, config, field),
        };
        format!("{}: {shown}", field.label(texts))
    }

    async fn config_card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        let config = self.store.chat_config(asker.place.chat).await?;
        let fields = || Field::ALL.into_iter().filter(|field| self.applies(*field, asker, &config));
        let zone = match config.timezone {
            Some(zone) => zone.name().to_owned(),
            None => fill(&texts.config_default, &[("zone", self.default_zone.name())]),
        };
        let model = self.model_of(&config);
        let mut body: Vec<String> = fields().map(|field| self.line(texts, &config, field)).collect();
        body.push(format!("{}: {zone}", texts.config_timezone));
        body.push(format!("{}: {model}", texts.model_title));
        let mut buttons: Vec<Button> = fields()
            .map(|field| Button::new(field.label(texts), format!("config:ask:{}", field.name())))
            .collect();
        buttons.push(Button::new(&texts.config_timezone, "zone:show"));
        buttons.push(Button::new(&texts.model_title, "model:show"));
        let rows = buttons.chunks(2).map(<[Button]>::to_vec);
        Ok(Card::titled(&texts.config_title, body.join("\n")).rows(rows))
    }

    /// The card of one setting: what it asks, choices, clear, back.
    fn ask(&self, asker: &Asker, config: &ChatConfig, field: Field) -> Card {
        let texts = self.texts(asker);
        let choice =
            |label: &str, value: &str| Button::new(label, format!("config:set:{}:{value}", field.name()));
        let (question, choices) = match field {
            Field::Language => {
                let question = with_value(texts, &texts.config_ask_language, config.language.as_deref());
                (question, LANGUAGES.map(|name| choice(name, name)).to_vec())
            }
            Field::Tone => {
                let tones =
                    [&texts.tone_friendly, &texts.tone_formal, &texts.tone_playful, &texts.tone_terse];
                let question =
                    with_value(texts, &texts.config_ask_personality, config.personality.as_deref());
                (question, tones.map(|tone| choice(tone, tone)).to_vec())
            }
            Field::Instructions => {
                let now = config.custom_prompt.as_deref().or(Some(&texts.config_none));
                (with_value(texts, &texts.config_ask_instructions, now), Vec::new())
            }
            Field::Agent => {
                let names = self.prompts.choosable().map(|agent| agent.name.as_str());
                let question = with_value(texts, &texts.config_ask_agent, config.agent.as_deref());
                (question, names.take(MOST_CHOICES).map(|name| choice(name, name)).collect())
            }
            Field::Answers => {
                let choices = AnswerWhen::ALL.map(|when| choice(when_words(texts, when), when.name()));
                (texts.config_ask_answers.clone(), choices.to_vec())
            }
        };
        let clear = Button::new(&texts.button_clear, format!("config:clear:{}", field.name()));
        let back = Button::new(&texts.button_back, "config:show");
        Card::titled(field.label(texts), question)
            .rows(choices.chunks(2).map(<[Button]>::to_vec))
            .row(vec![clear, back])
    }

    /// The change of one setting to this value, or back to none; or a complaint.
    fn patch(&self, texts: &Texts, field: Field, value: Option<&str>) -> Result<ConfigPatch, String> {
        let none = ConfigPatch::default();
        let owned = Some(value.map(str::to_owned));
        Ok(match field {
            Field::Language => ConfigPatch { language: owned, ..none },
            Field::Tone => ConfigPatch { personality: owned, ..none },
            Field::Instructions => ConfigPatch { custom_prompt: owned, ..none },
            Field::Agent => {
                let agent = value.map(|name| self.agent_named(texts, name)).transpose()?;
                ConfigPatch { agent: Some(agent), ..none }
            }
            Field::Answers => {
                let when = value.map_or(Some(AnswerWhen::default()), AnswerWhen::named);
                let when = when.ok_or_else(|| texts.config_usage.clone())?;
                ConfigPatch { answer_when: Some(when), ..none }
            }
        })
    }

    /// The agent that someone named; or what there is instead.
    fn agent_named(&self, texts: &Texts, name: &str) -> Result<String, String> {
        let names: Vec<&str> = self.prompts.choosable().map(|agent| agent.name.as_str()).collect();
        let known = names.iter().find(|known| known.eq_ignore_ascii_case(name));
        known.map(|known| (*known).to_owned()).ok_or_else(|| {
            fill(&texts.config_agent_unknown, &[("agent", name), ("agents", &names.join(", "))])
        })
    }

    /// Why a person may not choose an agent: it brings a model that only an owner may choose.
    fn refused_agent(&self, asker: &Asker, name: &str) -> Option<String> {
        let model = self.prompts.agent(name)?.model.as_ref()?;
        let named = self.ledger.models.named();
        let may = asker.standing == Standing::Owner || named.contains(model);
        (!may).then(|| fill(&self.texts(asker).model_not_named, &[("models", &list(&named))]))
    }

    /// Changes a setting: a word to add to the card, or a complaint.
    async fn change(
        &self,
        asker: &Asker,
        field: Field,
        value: Option<&str>,
    ) -> Result<Result<Option<String>, String>, StoreError> {
        let texts = self.texts(asker);
        if !self.may_change(asker).await {
            return Ok(Err(texts.admin_only.clone()));
        }
        if value.is_some_and(|value| value.chars().count() > MAX_SETTING_CHARS) {
            let limit = MAX_SETTING_CHARS.to_string();
            return Ok(Err(fill(&texts.config_too_long, &[("limit", &limit)])));
        }
        let change = match self.patch(texts, field, value) {
            Ok(change) => change,
            Err(complaint) => return Ok(Err(complaint)),
        };
        let agent = change.agent.as_ref().and_then(Option::as_deref);
        if let Some(complaint) = agent.and_then(|agent| self.refused_agent(asker, agent)) {
            return Ok(Err(complaint));
        }
        let config = self.store.change_chat_config(asker.place.chat, change).await?;
        let is_always = field == Field::Answers && config.answer_when == AnswerWhen::Always;
        let is_hidden = is_always && !self.sees_all(asker.place.chat).await;
        Ok(Ok(is_hidden.then(|| texts.privacy_hint.clone())))
    }
}

/// The value of a setting, shortened to one line.
pub(super) fn value(texts: &Texts, config: &ChatConfig, field: Field) -> String {
    let none = |value: &Option<String>, or: &str| {
        value.as_deref().map_or(or.to_owned(), |text| one_line(text, VALUE_CHARS))
    };
    match field {
        Field::Language => none(&config.language, &texts.config_auto),
        Field::Tone => none(&config.personality, &texts.config_none),
        Field::Instructions => none(&config.custom_prompt, &texts.config_none),
        Field::Agent => none(&config.agent, &texts.config_agent_none),
        Field::Answers => when_words(texts, config.answer_when).to_owned(),
    }
}

/// Whether a line shows a setting not as it is.
pub(super) fn is_cut(config: &ChatConfig, setting: Setting) -> bool {
    let text = match setting {
        Setting::Language => &config.language,
        Setting::Tone => &config.personality,
        Setting::Instructions => &config.custom_prompt,
        Setting::Answers | Setting::Zone | Setting::Model | Setting::Writing => &None,
    };
    text.as_deref().is_some_and(|text| one_line(text, VALUE_CHARS) != text)
}

/// A question with the whole of what is set now, if anything.
fn with_value(texts: &Texts, question: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{question}\n{}", fill(&texts.config_now, &[("value", value)])),
        None => question.to_owned(),
    }
}

fn with_hint(mut card: Card, hint: Option<String>) -> Card {
    if let Some(hint) = hint {
        card.body = format!("{}\n\n{hint}", card.body);
    }
    card
}

fn when_words(texts: &Texts, when: AnswerWhen) -> &str {
    match when {
        AnswerWhen::Mention => &texts.config_mention,
        AnswerWhen::Always => &texts.config_always,
        AnswerWhen::Off => &texts.config_off,
    }
}
