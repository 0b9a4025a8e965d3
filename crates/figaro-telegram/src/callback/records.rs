//! The buttons of records and of the packs that give them their forms.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Family, Fields, Gone, Page, Short, hash};
use figaro_base::ids::RecordId;

/// A kind of a pack in a button: twelve digits of the hash of both names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindKey(u64);

impl KindKey {
    /// What stands for this kind of this pack, the same wherever it is made.
    #[must_use]
    pub(crate) fn of(pack: &str, kind: &str) -> Self {
        Self(hash(&format!("{pack}/{kind}")) & 0xffff_ffff_ffff)
    }
}

impl Display for KindKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

impl FromStr for KindKey {
    type Err = Gone;

    fn from_str(text: &str) -> Result<Self, Gone> {
        let key = u64::from_str_radix(text, 16).map(Self).map_err(|_no_digits| Gone)?;
        if key.to_string() == text { Ok(key) } else { Err(Gone) }
    }
}

/// The buttons of `/records`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Records {
    /// Shows the kinds of the chat's packs.
    Kinds,
    /// Shows a page of the packs, to choose of.
    Packs(Page),
    /// Takes a pack for the chat.
    Take(Short<40>, Page),
    /// Puts a pack back.
    Leave(Short<40>, Page),
    /// Shows a page of the records of a kind.
    Kind(KindKey, Page),
    /// Shows one record.
    Open(RecordId),
    /// Asks what is to be saved; of the card of a kind, with that kind.
    Add(Option<KindKey>),
    /// Has the bot remind of it.
    Remind(RecordId),
    /// Draws a chart of its readings: the first, the second, …
    Chart(RecordId, u8),
    /// Asks whether it is to be removed.
    Ask(RecordId),
    /// Removes it, and those that belong to it.
    Remove(RecordId),
    /// Puts it back.
    Undo(RecordId),
}

impl Records {
    /// Whether pressing it changes something; else it only shows.
    #[must_use]
    pub(crate) const fn changes(&self) -> bool {
        match self {
            Self::Kinds | Self::Packs(_) | Self::Kind(..) | Self::Open(_) | Self::Chart(..) => false,
            Self::Take(..)
            | Self::Leave(..)
            | Self::Add(_)
            | Self::Remind(_)
            | Self::Ask(_)
            | Self::Remove(_)
            | Self::Undo(_) => true,
        }
    }
}

impl Family for Records {
    const NAME: &'static str = "records";
}

impl Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAME;
        match self {
            Self::Kinds => write!(f, "{name}:kinds"),
            Self::Packs(page) => write!(f, "{name}:packs:{page}"),
            Self::Take(pack, page) => write!(f, "{name}:use:{pack}:{page}"),
            Self::Leave(pack, page) => write!(f, "{name}:off:{pack}:{page}"),
            Self::Kind(kind, page) => write!(f, "{name}:kind:{kind}:{page}"),
            Self::Open(record) => write!(f, "{name}:open:{record}"),
            Self::Add(None) => write!(f, "{name}:add"),
            Self::Add(Some(kind)) => write!(f, "{name}:add:{kind}"),
            Self::Remind(record) => write!(f, "{name}:remind:{record}"),
            Self::Chart(record, at) => write!(f, "{name}:chart:{record}:{at}"),
            Self::Ask(record) => write!(f, "{name}:ask:{record}"),
            Self::Remove(record) => write!(f, "{name}:drop:{record}"),
            Self::Undo(record) => write!(f, "{name}:undo:{record}"),
        }
    }
}

impl FromStr for Records {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "kinds" => Self::Kinds,
            "packs" => Self::Packs(fields.page()),
            "use" => Self::Take(fields.parse()?, fields.page()),
            "off" => Self::Leave(fields.parse()?, fields.page()),
            "kind" => Self::Kind(fields.parse()?, fields.page()),
            "open" => Self::Open(fields.parse()?),
            "add" => Self::Add(fields.parse().ok()),
            "remind" => Self::Remind(fields.parse()?),
            "chart" => Self::Chart(fields.parse()?, fields.parse()?),
            "ask" => Self::Ask(fields.parse()?),
            "drop" => Self::Remove(fields.parse()?),
            "undo" => Self::Undo(fields.parse()?),
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}
