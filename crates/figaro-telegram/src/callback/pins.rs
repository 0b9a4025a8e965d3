//! The buttons of pins: those of the list and of a pin's card, and those with which an answer is pinned.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page};
use figaro_base::ids::{MessageId, PinId};

/// The buttons of the list and of a pin's card. The page is that of the list which the card was opened from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pins {
    /// Shows a page of the list.
    List(Page),
    /// Shows the card of a pin.
    Open(PinId, Page),
    /// Makes it more important.
    More(PinId, Page),
    /// Makes it less important.
    Less(PinId, Page),
    /// Removes it.
    Remove(PinId, Page),
    /// Puts a removed one back.
    Undo(PinId, Page),
    /// Replies to the message that it was pinned from.
    Source(PinId),
}

impl Family for Pins {
    const NAME: &'static str = "pins";
}

impl Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::List(page) => write!(f, "{name}:list:{page}"),
            Self::Open(pin, page) => write!(f, "{name}:open:{pin}:{page}"),
            Self::More(pin, page) => write!(f, "{name}:more:{pin}:{page}"),
            Self::Less(pin, page) => write!(f, "{name}:less:{pin}:{page}"),
            Self::Remove(pin, page) => write!(f, "{name}:drop:{pin}:{page}"),
            Self::Undo(pin, page) => write!(f, "{name}:undo:{pin}:{page}"),
            Self::Source(pin) => write!(f, "{name}:source:{pin}"),
        }
    }
}

impl FromStr for Pins {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "list" => Self::List(fields.page()),
            "open" => Self::Open(fields.parse()?, fields.page()),
            "more" => Self::More(fields.parse()?, fields.page()),
            "less" => Self::Less(fields.parse()?, fields.page()),
            "drop" => Self::Remove(fields.parse()?, fields.page()),
            "undo" => Self::Undo(fields.parse()?, fields.page()),
            "source" => Self::Source(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// The buttons with which an answer is pinned, and what was pinned just now is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepAnswer {
    /// Asks whether the answer with the button is to be pinned.
    Ask,
    /// Pins the answer that ends with this message.
    Yes(MessageId),
    /// Leaves it.
    No,
    /// Removes what was pinned just now.
    Undo(PinId),
}

impl Family for KeepAnswer {
    const NAME: &'static str = "pin";
}

impl Display for KeepAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Ask => write!(f, "{name}:ask"),
            Self::Yes(message) => write!(f, "{name}:yes:{message}"),
            Self::No => write!(f, "{name}:no"),
            Self::Undo(pin) => write!(f, "{name}:undo:{pin}"),
        }
    }
}

impl FromStr for KeepAnswer {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "ask" => Self::Ask,
            "yes" => Self::Yes(MessageId(fields.parse()?)),
            "no" => Self::No,
            "undo" => Self::Undo(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
