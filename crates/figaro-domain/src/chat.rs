//! Chats and their settings.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::generation::Generation;
use super::model::ModelName;
use figaro_base::ids::{ChatId, PersonaId, RunId, TopicId};

/// A chat and a forum topic of it, as a message in it describes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The chat; it gets another id when a group becomes a supergroup.
    pub chat: ChatId,
    /// Whether it is a private chat, a group or a channel.
    pub kind: ChatKind,
    /// The title of a group or channel; `None` for a private chat.
    pub title: Option<String>,
    /// The forum topic, none for a chat without topics and for a forum's General.
    pub topic: Option<TopicId>,
}

impl Place {
    /// Whether more people than one may read here: `true` for groups and channels.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.kind != ChatKind::Private
    }
}

/// Telegram's kinds of chat, as far as they matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// A private chat of one person with the bot.
    Private,
    /// A group or supergroup.
    Group,
    /// A channel, where only admins write.
    Channel,
}

impl ChatKind {
    /// The word for it in a prompt.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Channel => "channel",
        }
    }
}

/// When the bot answers in a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerWhen {
    /// When it is named, replied to, or given a command.
    #[default]
    Mention,
    /// The bot answers every message.
    Always,
    /// The bot answers commands only.
    Off,
}

impl AnswerWhen {
    /// All of them, in the order a person is offered them.
    pub const ALL: [Self; 3] = [Self::Mention, Self::Always, Self::Off];

    /// The name that stands for it in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mention => "mention",
            Self::Always => "always",
            Self::Off => "off",
        }
    }

    /// The variant with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|when| when.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// The persona that a chat has chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonaChoice {
    /// One of a file, by its name.
    File(String),
    /// One of the chat's own.
    Own {
        /// The id of the persona.
        id: PersonaId,
        /// Its name, to be told where the persona is gone.
        name: String,
    },
}

impl PersonaChoice {
    /// Whether this persona of the chat's own is chosen.
    #[must_use]
    pub fn is_own(&self, persona: PersonaId) -> bool {
        matches!(self, Self::Own { id, .. } if *id == persona)
    }

    /// The name of what is chosen.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Own { name, .. } => name,
        }
    }
}

/// What the people of a chat have set for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatConfig {
    /// Instructions that this chat adds to the system prompt; at most [`MAX_SETTING_CHARS`] characters.
    pub custom_prompt: Option<String>,
    /// The language to answer in, in free words; `None` for that of each message.
    pub language: Option<String>,
    /// The tone of answers, in free words; `None` for the usual one.
    pub personality: Option<String>,
    /// In which turns the model wrote these texts: each is forgotten with the question of its turn.
    #[serde(skip_serializing_if = "TextTurns::is_empty")]
    pub written_in: TextTurns,
    /// The IANA time zone of the chat; `None` for the bot's default.
    pub timezone: Option<Tz>,
    /// When to answer in a group.
    pub answer_when: AnswerWhen,
    /// The agent that answers here, by its name; one that is not there any more does not count.
    pub agent: Option<String>,
    /// How the bot speaks here; a persona that is not there any more does not count.
    pub persona: Option<PersonaChoice>,
    /// The context packs whose records the chat keeps, by their names; those that are not there any more do not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packs: Vec<String>,
    /// The model that answers in this chat, if not the bot's default.
    pub model: Option<ModelName>,
    /// The parameters that are sent to the model.
    pub settings: Generation,
    /// When its people were asked which time zone they are in, UTC; `None` if they never were.
    pub zone_asked: Option<DateTime<Utc>>,
}

/// By the texts of a chat's settings, the turns in which the model wrote them; `None` for what a person has set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextTurns {
    /// The turn of the instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_prompt: Option<RunId>,
    /// The turn of the language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<RunId>,
    /// The turn of the tone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personality: Option<RunId>,
}

impl TextTurns {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ChatConfig {
    /// Clears the texts that the model wrote in these turns; `true` if there were any. What was there before is not set again:
    /// it is not known to be wanted.
    pub fn forget_turns(&mut self, turns: &BTreeSet<RunId>) -> bool {
        let TextTurns { custom_prompt, language, personality } = &mut self.written_in;
        let texts = [
            (&mut self.custom_prompt, custom_prompt),
            (&mut self.language, language),
            (&mut self.personality, personality),
        ];
        let mut is_changed = false;
        for (text, written_in) in texts {
            if written_in.take_if(|turn| turns.contains(turn)).is_some() {
                *text = None;
                is_changed = true;
            }
        }
        is_changed
    }
}

/// A change of some of a chat's settings; the default changes nothing. `Some(None)` clears a setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigPatch {
    /// Instructions that this chat adds to the system prompt.
    pub custom_prompt: Option<Option<String>>,
    /// The language of answers.
    pub language: Option<Option<String>>,
    /// The tone of answers, in free words.
    pub personality: Option<Option<String>>,
    /// The IANA time zone of the chat.
    pub timezone: Option<Option<Tz>>,
    /// When to answer in a group.
    pub answer_when: Option<AnswerWhen>,
    /// The agent that answers here. Only people change it: it may be what keeps a model from tools.
    pub agent: Option<Option<String>>,
    /// How the bot speaks here. Only people choose it; a reset clears it, and can be undone.
    pub persona: Option<Option<PersonaChoice>>,
    /// A context pack that the chat takes or leaves; beyond [`MAX_PACKS`] none is taken. Only people choose them; a reset leaves
    /// them.
    pub pack: Option<PackChange>,
    /// The model that answers in this chat, if not the bot's default.
    pub model: Option<Option<ModelName>>,
    /// All parameters that are sent to the model, in place of those that are set.
    pub settings: Option<Generation>,
    /// The name and the new value of one of those parameters, as [`Generation::with`] takes them. A value that does not fit
    /// changes nothing.
    pub setting: Option<(String, Option<String>)>,
    /// When its people were asked for their time zone, UTC; a reset does not forget it.
    pub zone_asked: Option<DateTime<Utc>>,
}

/// A context pack that a chat takes, or leaves: others stay as they are, whoever changes them at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackChange {
    /// The name of the pack.
    pub name: String,
    /// Whether the chat has it from now on.
    pub is_chosen: bool,
}

impl PackChange {
    fn apply(self, packs: &mut Vec<String>) {
        let is_there = packs.contains(&self.name);
        match self.is_chosen {
            true if !is_there && packs.len() < MAX_PACKS => packs.push(self.name),
            true => {}
            false => packs.retain(|pack| *pack != self.name),
        }
    }
}

impl ConfigPatch {
    /// The change that clears everything that a model may change, and the chat's persona, its model and the model's
    /// parameters. The agent and the time of the question about the zone stay.
    #[must_use]
    pub fn reset() -> Self {
        Self {
            custom_prompt: Some(None),
            language: Some(None),
            personality: Some(None),
            timezone: Some(None),
            answer_when: Some(AnswerWhen::default()),
            agent: None,
            persona: Some(None),
            pack: None,
            model: Some(None),
            settings: Some(Generation::default()),
            setting: None,
            zone_asked: None,
        }
    }

    /// Applies the change to the settings of a chat. Fields that are `None` leave their setting as it is. The model makes it in
    /// this turn; `None` for a person.
    pub fn apply(self, config: &mut ChatConfig, turn: Option<RunId>) {
        let TextTurns { custom_prompt, language, personality } = &mut config.written_in;
        write(&mut config.custom_prompt, custom_prompt, self.custom_prompt, turn);
        write(&mut config.language, language, self.language, turn);
        write(&mut config.personality, personality, self.personality, turn);
        set(&mut config.timezone, self.timezone);
        set(&mut config.answer_when, self.answer_when);
        set(&mut config.agent, self.agent);
        set(&mut config.persona, self.persona);
        if let Some(change) = self.pack {
            change.apply(&mut config.packs);
        }
        set(&mut config.model, self.model);
        set(&mut config.settings, self.settings);
        config.zone_asked = self.zone_asked.or(config.zone_asked);
        if let Some((name, value)) = self.setting
            && let Ok(settings) = config.settings.with(&name, value.as_deref())
        {
            config.settings = settings;
        }
    }
}

/// Sets a text, and notes in which turn. What says the same as before is still whose it was.
pub(crate) fn write(
    text: &mut Option<String>,
    written_in: &mut Option<RunId>,
    change: Option<Option<String>>,
    turn: Option<RunId>,
) {
    if let Some(value) = change.filter(|value| value != text) {
        *written_in = turn.filter(|_| value.is_some());
        *text = value;
    }
}

fn set<T>(setting: &mut T, change: Option<T>) {
    if let Some(value) = change {
        *setting = value;
    }
}

/// The most context packs of a chat: the forms of all stand in every prompt.
pub const MAX_PACKS: usize = 8;

/// The most characters a free-text setting may have: it stands in every prompt.
pub const MAX_SETTING_CHARS: usize = 2000;
