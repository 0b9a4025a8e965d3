//! What a button says when it is pressed: one type for each family of buttons, written `FAMILY:FIELD:…` within the 64 bytes
//! that Telegram allows. Cards make buttons of these types and commands read presses back into them; nothing else writes
//! or splits the data of a button.
//!
//! Buttons stay in chats for years, so the form of a family is never changed, only added to. Free text, such as a name,
//! has a type of its own that leaves room for the rest, so that every value of a family fits.

mod access;
mod agents;
mod approve;
mod audit;
mod back;
mod buttons;
mod chat;
mod forget;
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

pub(crate) use access::{Admit, AdmitGroup, Decision, DenyHere, GiveRole, GroupDecision, MakeCode};
pub(crate) use agents::Agents;
pub(crate) use approve::Approve;
pub(crate) use audit::Audit;
pub(crate) use back::Back;
pub(crate) use chat::{Help, Notes, Start, Status, Usage};
pub(crate) use forget::{Export, Forget, Privacy, SaidKey, Search};
pub(crate) use memory::Memory;
pub(crate) use people::People;
pub(crate) use persona::Persona;
pub(crate) use pins::{KeepAnswer, Pins};
pub(crate) use question::Choose;
pub(crate) use records::{KindKey, Records};
pub(crate) use servers::Servers;
pub(crate) use sessions::Sessions;
pub(crate) use settings::{Choice, Config, Field, Model, Undo, Zone};
pub(crate) use tasks::{AgentKey, TaskPress, TaskVerb, Tasks};
pub use trail::ParentCard;
pub(crate) use trail::Trail;
pub(crate) use turn::{Retry, TurnTag};

use figaro_domain::model::ModelName;

/// The most bytes of a button's data, by the Bot API.
pub(crate) const MAX_BYTES: usize = 64;
/// What parts the fields.
const SEPARATOR: char = ':';

/// A page of a list, from 0.
pub(crate) type Page = u32;

/// A family of buttons. `Display` writes the whole data, beginning with the family's name, and `FromStr` reads it.
pub trait Family: Display + FromStr<Err = Gone> {
    /// The first field, by which a press finds who deals with it.
    const NAME: &'static str;
}

/// Data that no button of this version says: of an older version, or made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no button says this")]
pub struct Gone;

/// The data of a button: at most `MAX_BYTES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data(String);

impl Data {
    /// As Telegram gets it.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<F: Family> From<F> for Data {
    /// A value that is too long becomes its family's name alone, which is answered as an old button is: Telegram would
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

/// The family that data is of.
#[must_use]
pub(crate) fn family(data: &str) -> &str {
    data.split_once(SEPARATOR).map_or(data, |(family, _)| family)
}

/// The fields of data behind the family's name, read one by one.
#[derive(Debug)]
pub struct Fields<'a>(Option<&'a str>);

impl<'a> Fields<'a> {
    /// The fields of data of a family.
    ///
    /// # Errors
    /// [`Gone`] for data of another family.
    pub fn of<F: Family>(data: &'a str) -> Result<Self, Gone> {
        let rest = data.strip_prefix(F::NAME).and_then(|rest| rest.strip_prefix(SEPARATOR));
        rest.map(|rest| Self(Some(rest))).ok_or(Gone)
    }

    /// The next field.
    ///
    /// # Errors
    /// [`Gone`] if there is none.
    pub fn word(&mut self) -> Result<&'a str, Gone> {
        let rest = self.0.ok_or(Gone)?;
        let (word, rest) = rest.split_once(SEPARATOR).map_or((rest, None), |(word, rest)| (word, Some(rest)));
        self.0 = rest;
        Ok(word)
    }

    /// The next field as a value.
    ///
    /// # Errors
    /// [`Gone`] if there is none, or it is no such value.
    pub fn parse<T: FromStr>(&mut self) -> Result<T, Gone> {
        self.word()?.parse().map_err(|_error: T::Err| Gone)
    }

    /// The next field as a page; the first page if there is no field, or it is no page.
    pub(crate) fn page(&mut self) -> Page {
        self.parse().unwrap_or_default()
    }

    /// All that is left, which may hold separators of its own.
    ///
    /// # Errors
    /// [`Gone`] if nothing is left.
    pub(crate) fn rest(&mut self) -> Result<&'a str, Gone> {
        self.0.take().ok_or(Gone)
    }

    /// The value that was read, if no field is left.
    ///
    /// # Errors
    /// [`Gone`] if one is.
    pub fn end<T>(&self, value: T) -> Result<T, Gone> {
        if self.0.is_some() { Err(Gone) } else { Ok(value) }
    }
}

/// Text of at most `N` bytes, and at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Short<const N: usize>(String);

impl<const N: usize> Short<N> {
    /// This text; `None` if it is empty or too long.
    #[must_use]
    pub(crate) fn new(text: &str) -> Option<Self> {
        (!text.is_empty() && text.len() <= N).then(|| Self(text.to_owned()))
    }

    /// The text, 1 to `N` bytes.
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

/// A model in a button, in at most `N` bytes: by its name or, where that is too long, by its [`mark`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelKey<const N: usize>(Short<N>);

impl<const N: usize> ModelKey<N> {
    /// What names this model.
    #[must_use]
    pub(crate) fn of(model: &ModelName) -> Self {
        let name = Short::new(&model.to_string());
        Self(name.unwrap_or_else(|| Short(mark(model))))
    }

    /// The name or the mark.
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

/// Seventeen bytes that stand for a model with a long name: `#` and the FNV-1a hash of the name, the same wherever it is
/// made.
#[must_use]
pub(crate) fn mark(model: &ModelName) -> String {
    format!("#{:016x}", hash(&model.to_string()))
}

/// The FNV-1a hash of a name.
fn hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
