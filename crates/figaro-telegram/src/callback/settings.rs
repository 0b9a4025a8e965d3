//! Buttons that show and change the settings, time zone and model of a chat, and undo changes by the model.

use std::str::FromStr;

use figaro_base::tz::Tz;

use super::buttons::{ButtonField, add, buttons};
use super::{Fields, Gone, MAX_BYTES, ModelKey, Page, Short};
use figaro_base::ids::RunId;

/// Chat setting that the card of `/config` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingField {
    /// Language of answers, as free text; without a value, the language of each message.
    Language,
    /// Tone of answers, as free text.
    Tone,
    /// Instructions that the chat adds to the system prompt.
    Instructions,
    /// Name of the agent that answers; without a value, Figaro itself answers.
    Agent,
    /// Condition for answers in a group; the values are the names of [`AnswerWhen`](figaro_domain::chat::AnswerWhen).
    Answers,
    /// Reaction while the bot works on a question in a group: `on` or `off`.
    Eyes,
    /// Line under each answer that says what it cost: `on` or `off`.
    Cost,
    /// Hours of each day in which no task runs, such as `22:00–07:00`.
    Quiet,
    /// Text that greets newcomers of a group.
    Welcome,
    /// Form of answers; the values are the names of [`AnswerFormat`](figaro_domain::chat::AnswerFormat).
    Format,
}

impl SettingField {
    /// All settings, in the order in which the card shows them.
    pub(crate) const ALL: [Self; 10] = [
        Self::Language,
        Self::Tone,
        Self::Instructions,
        Self::Agent,
        Self::Answers,
        Self::Format,
        Self::Eyes,
        Self::Welcome,
        Self::Quiet,
        Self::Cost,
    ];

    /// Returns the name of the setting in callback data and after `/config`, in lower case. Buttons in chats carry
    /// it, so it must not change.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Language => "language",
            Self::Tone => "tone",
            Self::Instructions => "instructions",
            Self::Agent => "agent",
            Self::Answers => "answers",
            Self::Eyes => "eyes",
            Self::Cost => "cost",
            Self::Quiet => "quiet",
            Self::Welcome => "welcome",
            Self::Format => "format",
        }
    }
}

impl FromStr for SettingField {
    type Err = Gone;

    fn from_str(name: &str) -> Result<Self, Gone> {
        Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(name)).ok_or(Gone)
    }
}

buttons! {
    /// Buttons of the card of `/config`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum ConfigButton = "config" {
        /// Replaces the card of one setting with the card of all settings.
        Show = "show",
        /// Shows the card of one setting: its value, the choices, and how to set another value.
        Ask(field: SettingField) = "ask",
        /// Sets a setting to this value. People who may not change the chat's settings get a refusal.
        Set(choice: SettingChoice) = "set",
        /// Asks for the instructions, as a reply.
        Type = "type",
        /// Removes the value of a setting; the default applies again.
        Clear(field: SettingField) = "clear",
    }
}

/// A setting and its new value, which together fit the 64 bytes of a button's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingChoice {
    field: SettingField,
    value: String,
}

impl SettingChoice {
    /// Creates a choice; `None` if the value is empty or does not fit a button together with the setting's name.
    #[must_use]
    pub(crate) fn new(field: SettingField, value: &str) -> Option<Self> {
        let choice = Self { field, value: value.to_owned() };
        let bytes = ConfigButton::Set(choice.clone()).to_string().len();
        (!value.is_empty() && bytes <= MAX_BYTES).then_some(choice)
    }

    #[must_use]
    pub(crate) const fn field(&self) -> SettingField {
        self.field
    }

    /// Returns the new value of the setting; never empty.
    #[must_use]
    pub(crate) fn value(&self) -> &str {
        &self.value
    }
}

buttons! {
    /// Button that undoes the model's changes of a chat's settings in this turn, except settings that changed again
    /// since.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct UndoButton = "undo" (RunId)
}

buttons! {
    /// Buttons of the card of `/timezone`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ZoneButton = "zone" {
        /// Shows the card with the chat's zone and the time there.
        Show = "show",
        /// Sets the chat's zone. Tasks whose zone was only assumed follow it.
        Set(zone: Tz) = "set",
        /// Moves the chat's tasks in other zones to this zone; their clock times stay.
        Move(zone: Tz) = "move",
        /// Removes the chat's zone; the bot's default applies again.
        Clear = "clear",
    }
}

buttons! {
    /// Buttons of the card of `/model`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum ModelButton = "model" {
        /// Shows the card with the chat's model and the models named in the bot's settings.
        Show = "show",
        /// Shows a page of the models that a provider serves: the provider's name and the page, from 0.
        Served(provider: Short<40>, page: Page) = "served",
        /// Sets the model that answers in the chat.
        Set(model: ModelKey<54>) = "set",
        /// Removes the chat's model; the model of its agent, or the bot's default, answers again.
        Clear = "clear",
        /// Shows the card with the model's writing parameters.
        Writing = "writing",
        /// Asks for a writing parameter, as a reply.
        Type = "type",
        /// Removes all writing parameters of the chat.
        Plain = "plain",
    }
}

impl ButtonField for SettingField {
    fn write(&self, data: &mut String) {
        add(data, self.name());
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.parse()
    }
}

impl ButtonField for SettingChoice {
    fn write(&self, data: &mut String) {
        self.field.write(data);
        add(data, &self.value);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        Self::new(fields.parse()?, fields.rest()?).ok_or(Gone)
    }
}
