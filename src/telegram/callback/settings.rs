//! The buttons that show and change a chat's settings, its zone and its model, and undo what the model changed.

use std::fmt::{self, Display};
use std::str::FromStr;

use chrono_tz::Tz;

use super::{Family, Fields, Gone, MAX_BYTES, ModelKey, Page, Short};
use crate::ids::RunId;

/// A setting that a card changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The language of answers.
    Language,
    /// The tone of answers.
    Tone,
    /// Instructions in the chat's own words.
    Instructions,
    /// The agent that answers.
    Agent,
    /// When the bot answers in a group.
    Answers,
}

impl Field {
    /// All of them, in the order of the card.
    pub const ALL: [Self; 5] = [Self::Language, Self::Tone, Self::Instructions, Self::Agent, Self::Answers];

    /// Its name, in buttons and as people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Language => "language",
            Self::Tone => "tone",
            Self::Instructions => "instructions",
            Self::Agent => "agent",
            Self::Answers => "answers",
        }
    }
}

impl FromStr for Field {
    type Err = Gone;

    fn from_str(name: &str) -> Result<Self, Gone> {
        Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(name)).ok_or(Gone)
    }
}

/// Buttons of the card of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Config {
    /// Shows the card.
    Show,
    /// Shows the card of one setting.
    Ask(Field),
    /// Changes a setting.
    Set(Choice),
    /// Takes the value of a setting away.
    Clear(Field),
}

/// A value for a setting, together short enough for a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    field: Field,
    value: String,
}

impl Choice {
    /// This value for this setting; `None` if it is empty or too long for a button.
    #[must_use]
    pub fn new(field: Field, value: &str) -> Option<Self> {
        let choice = Self { field, value: value.to_owned() };
        let bytes = Config::Set(choice.clone()).to_string().len();
        (!value.is_empty() && bytes <= MAX_BYTES).then_some(choice)
    }

    /// The setting that the button changes.
    #[must_use]
    pub const fn field(&self) -> Field {
        self.field
    }

    /// The value that the button sets.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl Family for Config {
    const NAME: &'static str = "config";
}

impl Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Show => write!(f, "{name}:show"),
            Self::Ask(field) => write!(f, "{name}:ask:{}", field.name()),
            Self::Set(Choice { field, value }) => write!(f, "{name}:set:{}:{value}", field.name()),
            Self::Clear(field) => write!(f, "{name}:clear:{}", field.name()),
        }
    }
}

impl FromStr for Config {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "show" => Self::Show,
            "ask" => Self::Ask(fields.parse()?),
            "set" => Self::Set(Choice::new(fields.parse()?, fields.rest()?).ok_or(Gone)?),
            "clear" => Self::Clear(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// The button that undoes what the model changed of a chat's settings in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo(pub RunId);

impl Family for Undo {
    const NAME: &'static str = "undo";
}

impl Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::NAME, self.0)
    }
}

impl FromStr for Undo {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let turn = fields.parse()?;
        fields.end(Self(turn))
    }
}

/// Buttons of the card of a chat's zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Shows the card.
    Show,
    /// The chat is in this zone.
    Set(Tz),
    /// The chat's tasks in other zones come to this one.
    Move(Tz),
    /// The chat has no zone of its own.
    Clear,
}

impl Family for Zone {
    const NAME: &'static str = "zone";
}

impl Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Show => write!(f, "{name}:show"),
            Self::Set(zone) => write!(f, "{name}:set:{zone}"),
            Self::Move(zone) => write!(f, "{name}:move:{zone}"),
            Self::Clear => write!(f, "{name}:clear"),
        }
    }
}

impl FromStr for Zone {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "show" => Self::Show,
            "set" => Self::Set(fields.parse()?),
            "move" => Self::Move(fields.parse()?),
            "clear" => Self::Clear,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// Buttons of the card of a chat's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// Shows the card.
    Show,
    /// Shows a page of what a provider serves.
    Served(Short<40>, Page),
    /// This model answers in the chat.
    Set(ModelKey<54>),
    /// The chat has no model of its own.
    Clear,
}

impl Family for Model {
    const NAME: &'static str = "model";
}

impl Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Show => write!(f, "{name}:show"),
            Self::Served(provider, page) => write!(f, "{name}:served:{provider}:{page}"),
            Self::Set(model) => write!(f, "{name}:set:{model}"),
            Self::Clear => write!(f, "{name}:clear"),
        }
    }
}

impl FromStr for Model {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "show" => Self::Show,
            "served" => Self::Served(fields.parse()?, fields.page()),
            "set" => Self::Set(fields.rest()?.parse()?),
            "clear" => Self::Clear,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
