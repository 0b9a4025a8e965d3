//! How a chat wants its answers: when, spoken or not, and in which form.

use serde::{Deserialize, Serialize};

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
    /// All variants, in the order in which they are offered to a person.
    pub const ALL: [Self; 3] = [Self::Mention, Self::Always, Self::Off];

    /// Returns the name used in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mention => "mention",
            Self::Always => "always",
            Self::Off => "off",
        }
    }

    /// Returns the variant with this name, in any case; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|when| when.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// Condition for speaking answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoiceMode {
    /// Answers are never spoken.
    #[default]
    Off,
    /// Answers to voice messages and other sounds are spoken.
    Reply,
    /// Every answer is spoken.
    Always,
}

impl VoiceMode {
    /// All variants, in the order in which they are offered to a person.
    pub const ALL: [Self; 3] = [Self::Off, Self::Reply, Self::Always];

    /// Returns the name used in commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Reply => "reply",
            Self::Always => "always",
        }
    }

    /// Returns `true` if the answer to a question is spoken. `is_heard`: the question was spoken, too.
    #[must_use]
    pub const fn speaks(self, is_heard: bool) -> bool {
        match self {
            Self::Off => false,
            Self::Reply => is_heard,
            Self::Always => true,
        }
    }
}

/// Form in which a chat gets its answers, set by `format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// Answers with tables, headings, formulas or sections to open are rich messages, others are text.
    #[default]
    Auto,
    /// All answers are text.
    Plain,
}

impl AnswerFormat {
    /// All variants, in the order in which they are offered to a person.
    pub const ALL: [Self; 2] = [Self::Auto, Self::Plain];

    /// Returns the name used in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Plain => "plain",
        }
    }

    /// Returns the variant with this name, in any case; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name.trim()))
    }
}
