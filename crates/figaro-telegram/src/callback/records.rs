//! Buttons of records and of the packs that define their kinds.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::buttons::{as_text, buttons};
use super::{Gone, Page, Short, hash};
use figaro_base::ids::RecordId;

/// Kind of a pack in a button: 12 hex digits of the hash of both names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindKey(u64);

impl KindKey {
    /// Returns the key of a pack's kind; equal names give the same key in every process.
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
    /// Buttons of the cards of `/records`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) enum RecordsButton = "records" {
        /// Shows the kinds of the chat's packs.
        Kinds = "kinds",
        /// Shows a page of the packs to choose from.
        Packs(page: Page) = "packs",
        /// Enables a pack in the chat.
        Take(pack: Short<40>, page: Page) = "use",
        /// Disables a pack in the chat.
        Leave(pack: Short<40>, page: Page) = "off",
        /// Shows a page of the records of a kind.
        Kind(kind: KindKey, page: Page) = "kind",
        Open(record: RecordId) = "open",
        /// Asks for the record to save; with the kind if pressed on the card of a kind.
        Add(kind: Option<KindKey>) = "add",
        /// Lets the bot remind of the record.
        Remind(record: RecordId) = "remind",
        /// Draws a chart of the record's readings; `at` selects the chart.
        Chart(record: RecordId, at: u8) = "chart",
        /// Asks for confirmation to remove the record.
        Ask(record: RecordId) = "ask",
        /// Removes the record and the records that belong to it.
        Remove(record: RecordId) = "drop",
        /// Restores a record that was removed.
        Undo(record: RecordId) = "undo",
    }
}

impl RecordsButton {
    /// Returns `true` if a press changes something, `false` if it only shows.
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
