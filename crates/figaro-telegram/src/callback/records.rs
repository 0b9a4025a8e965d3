//! The buttons of records and of the packs that give them their forms.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::buttons::{as_text, buttons};
use super::{Gone, Page, Short, hash};
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

buttons! {
    /// The buttons of `/records`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum Records = "records" {
        /// Shows the kinds of the chat's packs.
        Kinds = "kinds",
        /// Shows a page of the packs, to choose of.
        Packs(page: Page) = "packs",
        /// Takes a pack for the chat.
        Take(pack: Short<40>, page: Page) = "use",
        /// Puts a pack back.
        Leave(pack: Short<40>, page: Page) = "off",
        /// Shows a page of the records of a kind.
        Kind(kind: KindKey, page: Page) = "kind",
        /// Shows one record.
        Open(record: RecordId) = "open",
        /// Asks what is to be saved; of the card of a kind, with that kind.
        Add(kind: Option<KindKey>) = "add",
        /// Has the bot remind of it.
        Remind(record: RecordId) = "remind",
        /// Draws a chart of its readings: the first, the second, …
        Chart(record: RecordId, at: u8) = "chart",
        /// Asks whether it is to be removed.
        Ask(record: RecordId) = "ask",
        /// Removes it, and those that belong to it.
        Remove(record: RecordId) = "drop",
        /// Puts it back.
        Undo(record: RecordId) = "undo",
    }
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

as_text!(KindKey);
