//! Terms: numbers in place of words, so that an index is small and contains no text.

/// Number of a folded stem, letter pair or date; the same in every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(pub(crate) u32);

/// Kind of a term: equal letters of two kinds are two terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum TermKind {
    Word = b'w',
    /// Part of a compound, or beginning of a longer word.
    Part = b'p',
    /// Piece of a script without spaces.
    Gram = b'g',
    /// Year, month, day or weekday.
    Date = b'd',
    /// Name of the writer.
    Speaker = b's',
}

impl Term {
    /// Computes FNV-1a of the kind and the bytes, folded to 32 bits. Stored: it must never change.
    pub(super) fn new(kind: TermKind, text: &[u8]) -> Self {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let bytes = std::iter::once(kind as u8).chain(text.iter().copied());
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        let folded = (hash ^ (hash >> 32)) as u32;
        Self(folded)
    }
}
