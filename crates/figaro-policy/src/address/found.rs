//! Addresses that a call would load, limited in number and size so that a call cannot fill the memory.

use std::collections::BTreeSet;

use super::MAX_ADDRESS;

pub(super) const MAX_FOUND: usize = 200;
/// Maximum UTF-16 units of a rich text at Telegram.
pub(super) const MAX_RICH_TEXT: usize = 32_768;

/// Exceeded limit of a call, with advice for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    /// A rich text is too long.
    #[error("a rich text has at most {MAX_RICH_TEXT} UTF-16 units. Send it as several messages")]
    Text,
    #[error("an address has at most {MAX_ADDRESS} bytes, and one in this call is longer. Leave it out")]
    Address,
    #[error("a call names at most {MAX_FOUND} addresses. Send it as several messages")]
    Count,
}

#[derive(Debug, Default)]
pub(crate) struct AddressSet {
    addresses: BTreeSet<String>,
    /// Bytes scanned to find the addresses, each scan counted.
    #[cfg(test)]
    pub(super) looked: usize,
}

impl AddressSet {
    /// Adds an address.
    ///
    /// # Errors
    /// When it is longer than [`MAX_ADDRESS`], or the set is full.
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

    /// Counts a scanned text, for the test that the work is linear in the input.
    pub(super) fn look<'a>(&mut self, text: &'a str) -> &'a str {
        #[cfg(test)]
        {
            self.looked += text.len();
        }
        text
    }
}
