//! Table of merges: a hash and a merge level for each token of more than one byte. The tests write `o200k_base.bin` and
//! compare it with o200k_base.
//!
//! File format: little-endian `u32`s. First the start of each bucket and the end, then the entries by bucket. An entry
//! is a mark of 20 bits above a level of 12.

/// Number of o200k_base tokens in the table.
#[cfg(test)]
pub(super) const MERGES: u32 = 140_000;
/// Number of tokens per level, after the first tokens, which each have a level of their own.
#[cfg(test)]
const SHARED: u32 = (MERGES - FIRST).div_ceil(LEVELS - FIRST);
#[cfg(test)]
const FIRST: u32 = 2048;
#[cfg(test)]
const LEVELS: u32 = 1 << LEVEL_BITS;

const BUCKET_BITS: u32 = 14;
const LEVEL_BITS: u32 = 12;
const MARK_BITS: u32 = 20;
/// Maximum number of bytes in a hash.
const MAX_BYTES: usize = MAX_PIECE;
/// Maximum length of a piece in bytes. Longer words are split, since the cost grows with the square of the length.
pub(super) const MAX_PIECE: usize = 64;

static TABLE: &[[u8; 4]] = include_bytes!("o200k_base.bin").as_chunks().0;

/// Rolling hash of bytes: the hash of a suffix follows from those of the whole and of the prefix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hash(u64);

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
static POWERS: [u64; MAX_BYTES + 1] = powers();

const fn powers() -> [u64; MAX_BYTES + 1] {
    let mut powers = [1_u64; MAX_BYTES + 1];
    let mut at = 1;
    while at <= MAX_BYTES {
        powers[at] = powers[at - 1].wrapping_mul(BASE);
        at += 1;
    }
    powers
}

impl Hash {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) fn with(self, byte: u8) -> Self {
        Self(self.0.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1))
    }

    /// Returns the hash of the last `bytes` bytes, given the hash of the prefix before them.
    pub(super) fn without(self, start: Self, bytes: usize) -> Self {
        Self(self.0.wrapping_sub(start.0.wrapping_mul(POWERS[bytes])))
    }

    /// Returns the bucket, and the mark within it.
    fn place(self) -> (usize, u32) {
        let mix = |hash: u64| (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = mix(mix(self.0));
        let [bucket, mark] = [(64 - BUCKET_BITS, BUCKET_BITS), (20, MARK_BITS)]
            .map(|(from, bits)| u32::try_from(mixed >> from & ((1 << bits) - 1)).unwrap_or_default());
        (bucket as usize, mark)
    }
}

/// Returns the merge level of a token, 0 being the earliest; `None` if the table lacks the token.
pub(super) fn level(hash: Hash) -> Option<u16> {
    let (bucket, mark) = hash.place();
    let start = |bucket: usize| u32::from_le_bytes(TABLE[bucket]) as usize;
    let entries = &TABLE[start(bucket)..start(bucket + 1)];
    let entries = entries.iter().map(|entry| u32::from_le_bytes(*entry));
    let found = entries
        .filter(|entry| entry >> LEVEL_BITS == mark)
        .map(|entry| entry & ((1 << LEVEL_BITS) - 1))
        .next();
    found.and_then(|level| u16::try_from(level).ok())
}

/// Builds the file from the tokens and their numbers.
#[cfg(test)]
pub(super) fn file(tokens: impl IntoIterator<Item = (u32, Vec<u8>)>) -> Vec<u8> {
    let entry = |(number, token): (u32, Vec<u8>)| {
        let level = if number < FIRST { number } else { FIRST + (number - FIRST) / SHARED };
        let (bucket, mark) = token.iter().fold(Hash::EMPTY, |hash, byte| hash.with(*byte)).place();
        (bucket, mark << LEVEL_BITS | level)
    };
    let mut entries: Vec<(usize, u32)> = tokens.into_iter().map(entry).collect();
    entries.sort_unstable();
    let buckets = 1 << BUCKET_BITS;
    let starts = (0..=buckets).map(|bucket| entries.partition_point(|entry| entry.0 < bucket) + buckets + 1);
    let starts = starts.map(|start| u32::try_from(start).unwrap());
    starts.chain(entries.iter().map(|entry| entry.1)).flat_map(u32::to_le_bytes).collect()
}
