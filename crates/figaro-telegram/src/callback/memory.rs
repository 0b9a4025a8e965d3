//! The buttons of what is remembered about a person.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};
use figaro_base::ids::MemoryId;

/// The buttons of memories. They act for whoever presses, in their own chat with the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Shows a page of the list, from 0.
    List(Page),
    /// Shows one memory.
    Open(MemoryId),
    /// Shows the message that it was said in.
    Source(MemoryId),
    /// Asks for other words.
    Edit(MemoryId),
    /// Removes it.
    Remove(MemoryId),
    /// Puts it back.
    Undo(MemoryId),
    /// Agrees to facts being remembered.
    On,
    /// Has no more facts remembered.
    Off,
    /// Asks whether all are to be erased.
    Ask,
    /// Erases all.
    Erase,
}

impl Family for Memory {
    const NAME: &'static str = "memory";
}

impl Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Open(memory) => write!(f, "{name}:open:{memory}"),
            Self::Source(memory) => write!(f, "{name}:source:{memory}"),
            Self::Edit(memory) => write!(f, "{name}:edit:{memory}"),
            Self::Remove(memory) => write!(f, "{name}:drop:{memory}"),
            Self::Undo(memory) => write!(f, "{name}:undo:{memory}"),
            Self::On => write!(f, "{name}:on"),
            Self::Off => write!(f, "{name}:off"),
            Self::Ask => write!(f, "{name}:ask"),
            Self::Erase => write!(f, "{name}:erase"),
        }
    }
}

impl FromStr for Memory {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "open" => Self::Open(fields.parse()?),
            "source" => Self::Source(fields.parse()?),
            "edit" => Self::Edit(fields.parse()?),
            "drop" => Self::Remove(fields.parse()?),
            "undo" => Self::Undo(fields.parse()?),
            "on" => Self::On,
            "off" => Self::Off,
            "ask" => Self::Ask,
            "erase" => Self::Erase,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
