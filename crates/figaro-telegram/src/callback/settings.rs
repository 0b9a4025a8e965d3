//! The buttons that show and change a chat's settings, its zone and its model, and undo what the model changed.

use std::str::FromStr;

use chrono_tz::Tz;

use super::buttons::{Part, add, buttons};
use super::{Fields, Gone, MAX_BYTES, ModelKey, Page, Short};
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

buttons! {
    /// The buttons of the card of `/config`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Config = "config" {
        /// Shows the card with all settings in place of the one that is shown.
        Show = "show",
        /// Shows the card of one setting: its value, the values to choose from, and how to set another one.
        Ask(field: Field) = "ask",
        /// Gives a setting this value. Anyone who may not change the chat's settings is told so.
        Set(choice: Choice) = "set",
        /// Asks for the instructions, to be written in a reply.
        Type = "type",
        /// Takes the value of a setting away: the default holds again.
        Clear(field: Field) = "clear",
    }
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

buttons! {
    /// The button that undoes what the model changed of a chat's settings in this turn, as far as it still holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Undo = "undo" (RunId)
}

buttons! {
    /// The buttons of the card of `/timezone`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Zone = "zone" {
        /// Shows the card with the chat's zone and the time there.
        Show = "show",
        /// Sets the chat's zone. Tasks whose zone was assumed follow it.
        Set(zone: Tz) = "set",
        /// Moves the chat's tasks of other zones to this one; their clock times stay.
        Move(zone: Tz) = "move",
        /// Takes the chat's zone away: the bot's default holds again.
        Clear = "clear",
    }
}

buttons! {
    /// The buttons of the card of `/model`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Model = "model" {
        /// Shows the card with the chat's model and the models that the settings of the bot name.
        Show = "show",
        /// Shows a page of the models that a provider serves: the provider's name and the page, from 0.
        Served(provider: Short<40>, page: Page) = "served",
        /// Sets the model that answers in the chat.
        Set(model: ModelKey<54>) = "set",
        /// Takes the chat's model away: the one of its agent, or the bot's default, answers again.
        Clear = "clear",
        /// Shows the card with how the model writes.
        Writing = "writing",
        /// Asks for a parameter of how it writes, to be written in a reply.
        Type = "type",
        /// Takes all parameters of how it writes away.
        Plain = "plain",
    }
}

impl Part for Field {
    fn write(&self, data: &mut String) {
        add(data, self.name());
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.parse()
    }
}

impl Part for Choice {
    fn write(&self, data: &mut String) {
        self.field.write(data);
        add(data, &self.value);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        Self::new(fields.parse()?, fields.rest()?).ok_or(Gone)
    }
}
