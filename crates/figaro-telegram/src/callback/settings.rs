//! The buttons that show and change a chat's settings, its zone and its model, and undo what the model changed.

use std::fmt::{self, Display};
use std::str::FromStr;

use chrono_tz::Tz;

use super::{Family, Fields, Gone, MAX_BYTES, ModelKey, Page, Short};
use figaro_base::ids::RunId;

/// A setting of a chat that the card of `/config` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// The language of answers, in free words; without a value that of each message.
    Language,
    /// The tone of answers, in free words.
    Tone,
    /// Instructions that the chat adds to the system prompt.
    Instructions,
    /// The agent that answers, by its name; without a value Figaro itself does.
    Agent,
    /// When the bot answers in a group; the values are the names of [`AnswerWhen`](figaro_domain::chat::AnswerWhen).
    Answers,
}

impl Field {
    /// All settings, in the order in which the card shows them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Language, Self::Tone, Self::Instructions, Self::Agent, Self::Answers];

    /// The name of the setting in callback data and after `/config`, in lower case. Stored buttons carry it, so it must not
    /// change.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
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

/// The buttons of the card of `/config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Config {
    /// Shows the card with all settings in place of the one that is shown.
    Show,
    /// Shows the card of one setting: its value, the values to choose from, and how to set another one.
    Ask(Field),
    /// Gives a setting this value. Anyone who may not change the chat's settings is told so.
    Set(Choice),
    /// Asks for the instructions, to be written in a reply.
    Type,
    /// Takes the value of a setting away: the default holds again.
    Clear(Field),
}

/// A setting and a value for it that together fit the 64 bytes of a button's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    field: Field,
    value: String,
}

impl Choice {
    /// A choice of this value; `None` if it is empty or does not fit a button together with the setting's name.
    #[must_use]
    pub(crate) fn new(field: Field, value: &str) -> Option<Self> {
        let choice = Self { field, value: value.to_owned() };
        let bytes = Config::Set(choice.clone()).to_string().len();
        (!value.is_empty() && bytes <= MAX_BYTES).then_some(choice)
    }

    /// The setting that is changed.
    #[must_use]
    pub(crate) const fn field(&self) -> Field {
        self.field
    }

    /// The value that the setting gets; never empty.
    #[must_use]
    pub(crate) fn value(&self) -> &str {
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
            Self::Type => write!(f, "{name}:type"),
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
            "type" => Self::Type,
            "clear" => Self::Clear(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// The button that undoes what the model changed of a chat's settings in this turn, as far as it still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undo(pub(crate) RunId);

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

/// The buttons of the card of `/timezone`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Shows the card with the chat's zone and the time there.
    Show,
    /// Sets the chat's zone. Tasks whose zone was assumed follow it.
    Set(Tz),
    /// Moves the chat's tasks of other zones to this one; their clock times stay.
    Move(Tz),
    /// Takes the chat's zone away: the bot's default holds again.
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

/// The buttons of the card of `/model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Model {
    /// Shows the card with the chat's model and the models that the settings of the bot name.
    Show,
    /// Shows a page of the models that a provider serves: the provider's name and the page, from 0.
    Served(Short<40>, Page),
    /// Sets the model that answers in the chat.
    Set(ModelKey<54>),
    /// Takes the chat's model away: the one of its agent, or the bot's default, answers again.
    Clear,
    /// Shows the card with how the model writes.
    Writing,
    /// Asks for a parameter of how it writes, to be written in a reply.
    Type,
    /// Takes all parameters of how it writes away.
    Plain,
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
            Self::Writing => write!(f, "{name}:writing"),
            Self::Type => write!(f, "{name}:type"),
            Self::Plain => write!(f, "{name}:plain"),
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
            "writing" => Self::Writing,
            "type" => Self::Type,
            "plain" => Self::Plain,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
