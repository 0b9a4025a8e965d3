//! Chats and their settings.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

pub use super::answers::{AnswerFormat, AnswerWhen, VoiceMode};
use super::generation::Generation;
use super::model::ModelName;
use super::quiet::QuietHours;
use figaro_base::ids::{ChatId, PersonaId, RunId, TopicId};

/// A chat and its forum topic, as described by a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The chat; its id changes when a group becomes a supergroup.
    pub chat: ChatId,
    /// Kind of the chat: private, group or channel.
    pub kind: ChatKind,
    /// The title of a group or channel; `None` for a private chat.
    pub title: Option<String>,
    /// Forum topic; `None` for a chat without topics and for the General topic of a forum.
    pub topic: Option<TopicId>,
}

impl Place {
    /// Returns `true` for groups and channels, where several people can read.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.kind != ChatKind::Private
    }
}

/// Telegram's kinds of chat, as far as they matter to the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// A private chat of one person with the bot.
    Private,
    /// A group or a supergroup.
    Group,
    /// A channel, where only admins write.
    Channel,
}

impl ChatKind {
    /// Returns the word for the kind in a prompt.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Channel => "channel",
        }
    }
}

/// Persona chosen for a chat: from a file, or its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonaChoice {
    /// Persona from a file, by its name.
    File(String),
    /// Persona that belongs to the chat.
    Own {
        /// Id of the persona.
        id: PersonaId,
        /// Name of the persona, shown if the persona no longer exists.
        name: String,
    },
}

impl PersonaChoice {
    /// Returns `true` if this persona of the chat is chosen.
    #[must_use]
    pub fn is_own(&self, persona: PersonaId) -> bool {
        matches!(self, Self::Own { id, .. } if *id == persona)
    }

    /// Returns the name of the chosen persona.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Own { name, .. } => name,
        }
    }
}

/// Settings of a chat, made by its people or by the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatConfig {
    /// Instructions that this chat adds to the system prompt; at most [`MAX_SETTING_CHARS`] characters.
    pub custom_prompt: Option<String>,
    /// Language of answers, in free text; `None` for the language of each message.
    pub language: Option<String>,
    /// Tone of answers, in free text; `None` for the usual one.
    pub personality: Option<String>,
    /// Turns in which the model wrote these texts. A text is forgotten with the question of its turn.
    #[serde(skip_serializing_if = "TextTurns::is_empty")]
    pub written_in: TextTurns,
    /// IANA time zone of the chat; `None` for the bot's default.
    pub timezone: Option<Tz>,
    /// Condition for answering in a group.
    pub answer_when: AnswerWhen,
    /// Condition for speaking answers.
    #[serde(skip_serializing_if = "is_default")]
    pub voice: VoiceMode,
    /// `true` if the bot reacts to a question in a group while it works on it.
    #[serde(skip_serializing_if = "is_default")]
    pub eyes: bool,
    /// `true` if the cost of an answer stands under it.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: bool,
    /// Hours of each day in which no task runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHours>,
    /// Text that greets newcomers of a group; `None` to greet nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welcome: Option<String>,
    /// Form of answers: rich messages where these show more, or text alone.
    #[serde(skip_serializing_if = "is_default")]
    pub format: AnswerFormat,
    /// Name of the agent that answers in the chat. Ignored if the agent no longer exists.
    pub agent: Option<String>,
    /// Persona of the bot in this chat. Ignored if the persona no longer exists.
    pub persona: Option<PersonaChoice>,
    /// Names of the context packs whose records the chat keeps. Packs that no longer exist are ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packs: Vec<String>,
    /// The model that answers in this chat, if not the bot's default.
    pub model: Option<ModelName>,
    /// Parameters sent to the model, unless the request sets them.
    pub settings: Generation,
    /// Time when the chat was asked for its time zone, UTC; `None` if it never was.
    pub zone_asked: Option<DateTime<Utc>>,
}

/// Turns in which the model wrote texts of a chat's settings; `None` for a text that a person set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextTurns {
    /// Turn that set the instructions; `None` if a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_prompt: Option<RunId>,
    /// Turn that set the language; `None` if a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<RunId>,
    /// Turn that set the tone; `None` if a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personality: Option<RunId>,
}

impl TextTurns {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ChatConfig {
    /// Clears the texts that the model wrote in these turns. Returns `true` if there were any. The values before them are
    /// not restored, since nobody may want them.
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

/// Changes of a chat's settings; the default changes nothing. `Some(None)` clears a setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigPatch {
    /// Instructions that this chat adds to the system prompt.
    pub custom_prompt: Option<Option<String>>,
    /// Language of answers, in free text.
    pub language: Option<Option<String>>,
    /// Tone of answers, in free text.
    pub personality: Option<Option<String>>,
    /// IANA time zone of the chat.
    pub timezone: Option<Option<Tz>>,
    /// Condition for answering in a group.
    pub answer_when: Option<AnswerWhen>,
    /// Condition for speaking answers. Only people change it, since speech costs.
    pub voice: Option<VoiceMode>,
    /// Reaction while the bot works on a question in a group.
    pub eyes: Option<bool>,
    /// Line with the cost of an answer under it.
    pub cost: Option<bool>,
    /// Hours of each day in which no task runs.
    pub quiet_hours: Option<Option<QuietHours>>,
    /// Text that greets newcomers of a group. Only people set it.
    pub welcome: Option<Option<String>>,
    /// Form of answers: rich messages where these show more, or text alone.
    pub format: Option<AnswerFormat>,
    /// Agent that answers in the chat. Only people change it, since an agent may limit the tools of the model.
    pub agent: Option<Option<String>>,
    /// Persona of the bot in this chat. Only people choose it. A reset clears it, and can be undone.
    pub persona: Option<Option<PersonaChoice>>,
    /// A context pack to add or to remove. None is added beyond [`MAX_PACKS`]. Only people choose packs; a reset keeps them.
    pub pack: Option<PackChange>,
    /// The model that answers in this chat, if not the bot's default.
    pub model: Option<Option<ModelName>>,
    /// All parameters sent to the model; replaces those that are set.
    pub settings: Option<Generation>,
    /// Name and new value of one of those parameters, as [`Generation::with`] takes them. An invalid value changes nothing.
    pub setting: Option<(String, Option<String>)>,
    /// Time when the chat was asked for its time zone, UTC. A reset keeps it.
    pub zone_asked: Option<DateTime<Utc>>,
}

/// A context pack that a chat adds or removes. Other packs stay as they are, even with concurrent changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackChange {
    /// Name of the pack to add or to remove.
    pub name: String,
    /// `true` to add the pack, `false` to remove it.
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
    /// Returns the change that clears every setting that a model may change, and the persona, the model and its parameters.
    /// The agent, the packs, spoken answers, reactions, the welcome and the time of the time zone question stay.
    #[must_use]
    pub fn reset() -> Self {
        Self {
            custom_prompt: Some(None),
            language: Some(None),
            personality: Some(None),
            timezone: Some(None),
            answer_when: Some(AnswerWhen::default()),
            voice: None,
            eyes: None,
            cost: None,
            quiet_hours: Some(None),
            welcome: None,
            format: Some(AnswerFormat::default()),
            agent: None,
            persona: Some(None),
            pack: None,
            model: Some(None),
            settings: Some(Generation::default()),
            setting: None,
            zone_asked: None,
        }
    }

    /// Applies the change to the settings of a chat. `None` fields leave their setting as it is. `turn` is the turn in which
    /// the model makes the change; `None` for a person.
    pub fn apply(self, config: &mut ChatConfig, turn: Option<RunId>) {
        let TextTurns { custom_prompt, language, personality } = &mut config.written_in;
        write(&mut config.custom_prompt, custom_prompt, self.custom_prompt, turn);
        write(&mut config.language, language, self.language, turn);
        write(&mut config.personality, personality, self.personality, turn);
        set(&mut config.timezone, self.timezone);
        set(&mut config.answer_when, self.answer_when);
        set(&mut config.voice, self.voice);
        set(&mut config.eyes, self.eyes);
        set(&mut config.cost, self.cost);
        set(&mut config.quiet_hours, self.quiet_hours);
        set(&mut config.welcome, self.welcome);
        set(&mut config.format, self.format);
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

/// Sets a text and the turn that wrote it. An unchanged text keeps its turn.
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

fn is_default<T: Default + PartialEq>(setting: &T) -> bool {
    *setting == T::default()
}

/// Maximum number of context packs of a chat: the forms of all are part of every prompt.
pub const MAX_PACKS: usize = 8;

/// Maximum length of a free-text setting, in characters: it is part of every prompt.
pub const MAX_SETTING_CHARS: usize = 2000;
