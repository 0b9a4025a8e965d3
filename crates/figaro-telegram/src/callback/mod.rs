//! Data of buttons: one type for each family of buttons, written as `FAMILY:FIELD:…` within the 64 bytes that
//! Telegram allows. Cards build buttons from these types, and commands parse presses into them; nothing else writes
//! or splits the data of a button.
//!
//! Buttons stay in chats for years, so the format of a family is only extended, never changed. Free text, such as a
//! name, has a type with a length limit, so that every value of a family fits.

mod access;
mod agents;
mod approve;
mod audit;
mod back;
mod budget;
mod business;
mod buttons;
mod chat;
mod dashboard;
mod docs;
mod forget;
mod inline;
mod memory;
mod people;
mod persona;
mod pins;
mod question;
mod records;
mod servers;
mod sessions;
mod settings;
mod tasks;
#[cfg(test)]
mod tests;
mod trail;
mod turn;

use std::fmt::{self, Display};
use std::str::FromStr;

pub(crate) use access::{
    AccessDecision, AdmitButton, AdmitGroupButton, DenyHereButton, GiveRoleButton, GroupDecision,
    MakeCodeButton,
};
pub(crate) use agents::AgentsButton;
pub(crate) use approve::ApproveButton;
pub(crate) use audit::AuditButton;
pub(crate) use back::BackButton;
pub(crate) use budget::{BudgetButton, BudgetKey, key_of};
pub(crate) use business::BusinessButton;
pub(crate) use chat::{
    DrawButton, HelpButton, NotesButton, StartButton, StatusButton, UsageButton, VoiceButton, WhyButton,
};
pub(crate) use dashboard::SignOutButton;
pub(crate) use docs::DocsButton;
pub(crate) use forget::{ExportButton, ForgetButton, PrivacyButton, SaidKey, SearchNumber};
pub(crate) use inline::InlineButton;
pub(crate) use memory::MemoryButton;
pub(crate) use people::PeopleButton;
pub(crate) use persona::PersonaButton;
pub(crate) use pins::{KeepAnswerButton, PinsButton};
pub(crate) use question::ChooseButton;
pub(crate) use records::{KindKey, RecordsButton};
pub(crate) use servers::ServersButton;
pub(crate) use sessions::SessionsButton;
pub(crate) use settings::{ConfigButton, ModelButton, SettingChoice, SettingField, UndoButton, ZoneButton};
pub(crate) use tasks::{AgentKey, TaskPress, TaskVerb, TasksButton};
pub use trail::ParentCard;
pub(crate) use trail::Trail;
pub(crate) use turn::{RetryButton, TurnTag, VersionButton};

use figaro_domain::model::ModelName;

/// Maximum size of a button's data in the Bot API, in bytes.
pub(crate) const MAX_BYTES: usize = 64;
const SEPARATOR: char = ':';

/// Index of a list page, from 0.
pub(crate) type Page = u32;

/// A family of buttons. `Display` writes the whole data, starting with the family's name; `FromStr` parses it.
pub trait ButtonFamily: Display + FromStr<Err = Gone> {
    /// First field of the data; selects the handler of a press.
    const NAME: &'static str;
}

/// Data that this version does not know: of an older version, or forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no button says this")]
pub struct Gone;

/// Callback data of a button, at most `MAX_BYTES` long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data(String);

impl Data {
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<F: ButtonFamily> From<F> for Data {
    /// A value that is too long is reduced to its family's name and answered like an old button; Telegram would
    /// refuse the whole message.
    fn from(value: F) -> Self {
        let data = value.to_string();
        if data.len() <= MAX_BYTES {
            return Self(data);
        }
        tracing::error!(family = F::NAME, bytes = data.len(), "the data of a button is too long");
        Self(F::NAME.to_owned())
    }
}

/// Returns the name of the family at the start of `data`.
#[must_use]
pub(crate) fn family(data: &str) -> &str {
    data.split_once(SEPARATOR).map_or(data, |(family, _)| family)
}

/// Reads the fields after the family's name one by one.
#[derive(Debug)]
pub struct Fields<'a>(Option<&'a str>);

impl<'a> Fields<'a> {
    /// Starts reading data of the family `F`.
    ///
    /// # Errors
    /// [`Gone`] for data of another family.
    pub fn of<F: ButtonFamily>(data: &'a str) -> Result<Self, Gone> {
        let rest = data.strip_prefix(F::NAME).and_then(|rest| rest.strip_prefix(SEPARATOR));
        rest.map(|rest| Self(Some(rest))).ok_or(Gone)
    }

    /// Returns the next field as text.
    ///
    /// # Errors
    /// [`Gone`] if no field is left.
    pub fn word(&mut self) -> Result<&'a str, Gone> {
        let rest = self.0.ok_or(Gone)?;
        let (word, rest) = rest.split_once(SEPARATOR).map_or((rest, None), |(word, rest)| (word, Some(rest)));
        self.0 = rest;
        Ok(word)
    }

    /// Parses the next field.
    ///
    /// # Errors
    /// [`Gone`] if no field is left or its value is invalid.
    pub fn parse<T: FromStr>(&mut self) -> Result<T, Gone> {
        self.word()?.parse().map_err(|_error: T::Err| Gone)
    }

    /// Parses the next field as a page; 0 if the field is missing or invalid.
    pub(crate) fn page(&mut self) -> Page {
        self.parse().unwrap_or_default()
    }

    /// Returns the rest of the data, which may contain separators.
    ///
    /// # Errors
    /// [`Gone`] if nothing is left.
    pub(crate) fn rest(&mut self) -> Result<&'a str, Gone> {
        self.0.take().ok_or(Gone)
    }

    /// Returns `value` if no field is left.
    ///
    /// # Errors
    /// [`Gone`] if a field is left.
    pub fn end<T>(&self, value: T) -> Result<T, Gone> {
        if self.0.is_some() { Err(Gone) } else { Ok(value) }
    }
}

/// Text of 1 to `N` bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Short<const N: usize>(String);

impl<const N: usize> Short<N> {
    /// Returns `None` if the text is empty or too long.
    #[must_use]
    pub(crate) fn new(text: &str) -> Option<Self> {
        (!text.is_empty() && text.len() <= N).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const N: usize> FromStr for Short<N> {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        Self::new(text).ok_or(Gone)
    }
}

impl<const N: usize> Display for Short<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Model in a button, in at most `N` bytes: its name or, where that is too long, its [`mark`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelKey<const N: usize>(Short<N>);

impl<const N: usize> ModelKey<N> {
    /// Uses the name if it fits, and the mark otherwise.
    #[must_use]
    pub(crate) fn of(model: &ModelName) -> Self {
        let name = Short::new(&model.to_string());
        Self(name.unwrap_or_else(|| Short(mark(model))))
    }

    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<const N: usize> FromStr for ModelKey<N> {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        text.parse().map(Self)
    }
}

impl<const N: usize> Display for ModelKey<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns a key of 17 bytes for a model with a long name: `#` and the FNV-1a hash of the name, the same in every
/// process.
#[must_use]
pub(crate) fn mark(model: &ModelName) -> String {
    format!("#{:016x}", hash(&model.to_string()))
}

/// Returns the FNV-1a hash of a name.
fn hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
