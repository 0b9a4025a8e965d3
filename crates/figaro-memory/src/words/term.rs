//! Terms: what an index knows of words. Numbers in place of the words, so that an index is small and holds no text.

/// A folded stem, a pair of letters or a date, as a number that is the same in every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(pub(crate) u32);

/// What kind of thing a term stands for: equal letters of two kinds are two terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A stem.
    Word = b'w',
    /// A part of a compound, or what a longer word begins with.
    Part = b'p',
    /// A piece of a script without spaces.
    Gram = b'g',
    /// A year, month, day or weekday.
    Date = b'd',
    /// Who wrote it.
    Speaker = b's',
}

impl Term {
    /// FNV-1a of the kind and the bytes, folded to 32 bits. It is stored: it must never change.
    pub(super) fn new(kind: Kind, text: &[u8]) -> Self {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let bytes = std::iter::once(kind as u8).chain(text.iter().copied());
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        let folded = (hash ^ (hash >> 32)) as u32;
        Self(folded)
    }
}
