//! The addresses that a call would have loaded, with bounds: whoever writes a call could else fill the memory with them.

use std::collections::BTreeSet;

use super::MAX_ADDRESS;

/// A call may name at most so many addresses.
pub(super) const MAX_FOUND: usize = 200;
/// Telegram takes a rich text of at most so many UTF-16 units.
pub(super) const MAX_RICH_TEXT: usize = 32_768;

/// What a call has too much of, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    /// A rich text is too long.
    #[error("a rich text has at most {MAX_RICH_TEXT} UTF-16 units. Send it as several messages")]
    Text,
    /// An address is too long.
    #[error("an address has at most {MAX_ADDRESS} bytes, and one in this call is longer. Leave it out")]
    Address,
    /// There are too many addresses.
    #[error("a call names at most {MAX_FOUND} addresses. Send it as several messages")]
    Count,
}

/// A set of addresses.
#[derive(Debug, Default)]
pub(crate) struct Found {
    addresses: BTreeSet<String>,
    /// How many bytes were looked at to find them, each as often as it was.
    #[cfg(test)]
    pub(super) looked: usize,
}

impl Found {
    /// Adds an address.
    ///
    /// # Errors
    /// When it is longer than [`MAX_ADDRESS`], or one too many.
    pub(crate) fn add(&mut self, address: String) -> Result<(), Excess> {
        if address.len() > MAX_ADDRESS {
            return Err(Excess::Address);
        }
        self.addresses.insert(address);
        if self.addresses.len() > MAX_FOUND { Err(Excess::Count) } else { Ok(()) }
    }

    /// Iterates over all addresses, each once.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.addresses.iter().map(String::as_str)
    }

    /// Counts that a text is looked at, for the test that holds the work to the length of what is read.
    pub(super) fn look<'a>(&mut self, text: &'a str) -> &'a str {
        #[cfg(test)]
        {
            self.looked += text.len();
        }
        text
    }
}
