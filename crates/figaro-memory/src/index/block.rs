//! Encoding of index entries as bytes, so that an index need not be rebuilt after a start.
//!
//! A block contains: a version; the number of sessions and their ids, 16 bytes each; the number of messages; and the
//! messages. A message contains: the number of its session in the block, its index, four bytes of its id as a check,
//! the seconds since the message before, its cost; importance, standing-wish flag and language, a byte each; the number
//! of terms, and each term as four bytes and its tenths as one. Numbers are unsigned LEB128, the seconds with a sign in
//! the lowest bit; fixed-size values are little-endian.

use std::collections::HashMap;

use super::{IndexEntry, Remembered, TermCount};
use crate::wishes::StatedWish;
use crate::words::{StemmerLanguage, Term};
use figaro_base::ids::SessionId;

/// Format version; a block of another is ignored, and the index is rebuilt.
const VERSION: u8 = 4;

/// The bytes are not a block of this format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a block of an index of this version")]
pub(crate) struct BadBlock;

#[must_use]
pub(crate) fn encode(messages: &[Remembered]) -> Vec<u8> {
    let mut sessions: Vec<SessionId> = Vec::new();
    let mut numbers: HashMap<SessionId, u64> = HashMap::new();
    for message in messages {
        numbers.entry(message.session).or_insert_with(|| {
            sessions.push(message.session);
            sessions.len() as u64 - 1
        });
    }
    let mut bytes = vec![VERSION];
    number(&mut bytes, sessions.len() as u64);
    sessions.iter().for_each(|session| bytes.extend(session.to_bytes()));
    number(&mut bytes, messages.len() as u64);
    let mut before = 0;
    for Remembered { session, entry, terms } in messages {
        number(&mut bytes, numbers.get(session).copied().unwrap_or_default());
        number(&mut bytes, u64::from(entry.index));
        bytes.extend(entry.check.to_le_bytes());
        signed(&mut bytes, entry.at.wrapping_sub(before));
        before = entry.at;
        number(&mut bytes, u64::from(entry.cost));
        bytes.extend([
            entry.importance,
            entry.wish.map_or(0, |wish| wish as u8),
            entry.language.map_or(0, |language| language as u8),
        ]);
        number(&mut bytes, terms.len() as u64);
        for TermCount { term, tenths } in terms {
            bytes.extend(term.0.to_le_bytes());
            bytes.push(*tenths);
        }
    }
    bytes
}

/// Decodes the messages of a block.
///
/// # Errors
/// If [`encode`] did not make the bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Remembered>, BadBlock> {
    let mut rest = BlockReader(bytes);
    if rest.byte()? != VERSION {
        return Err(BadBlock);
    }
    let count = rest.count(16)?;
    let sessions: Vec<SessionId> =
        (0..count).map(|_| rest.array().map(SessionId::from_bytes)).collect::<Result<_, _>>()?;
    let count = rest.count(10)?;
    let mut messages = Vec::with_capacity(count);
    let mut before = 0_i64;
    for _ in 0..count {
        let session = *sessions.get(rest.size()?).ok_or(BadBlock)?;
        let index = u32::try_from(rest.number()?).map_err(|_large| BadBlock)?;
        let check = u32::from_le_bytes(rest.array()?);
        before = before.wrapping_add(rest.signed()?);
        let cost = u16::try_from(rest.number()?).map_err(|_large| BadBlock)?;
        let (importance, wish) = (rest.byte()?, StatedWish::of_number(rest.byte()?));
        let language = StemmerLanguage::of_number(rest.byte()?);
        let count = rest.count(5)?;
        let mut terms = Vec::with_capacity(count);
        for _ in 0..count {
            let term = Term(u32::from_le_bytes(rest.array()?));
            terms.push(TermCount { term, tenths: rest.byte()? });
        }
        let entry = IndexEntry { index, check, at: before, cost, importance, wish, language };
        messages.push(Remembered { session, entry, terms });
    }
    if rest.0.is_empty() { Ok(messages) } else { Err(BadBlock) }
}

fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn signed(bytes: &mut Vec<u8>, value: i64) {
    number(bytes, (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned());
}

struct BlockReader<'a>(&'a [u8]);

impl BlockReader<'_> {
    fn byte(&mut self) -> Result<u8, BadBlock> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadBlock> {
        let (first, rest) = self.0.split_first_chunk().ok_or(BadBlock)?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u64, BadBlock> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(BadBlock)
    }

    fn signed(&mut self) -> Result<i64, BadBlock> {
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn size(&mut self) -> Result<usize, BadBlock> {
        usize::try_from(self.number()?).map_err(|_large| BadBlock)
    }

    /// Reads a count of items of at least `least` bytes each, and checks that enough bytes remain.
    fn count(&mut self, least: usize) -> Result<usize, BadBlock> {
        let count = self.size()?;
        if count.saturating_mul(least) <= self.0.len() { Ok(count) } else { Err(BadBlock) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn remembered() -> impl Strategy<Value = Vec<Remembered>> {
        let sessions: Vec<SessionId> = (0..4).map(|_| SessionId::new()).collect();
        let terms = prop::collection::vec((any::<u32>(), any::<u8>()), 0..20);
        let one =
            (prop::sample::select(sessions), any::<(u32, u32, i64, u16, u8)>(), 0..=2_u8, 0..=19_u8, terms);
        let one = one.prop_map(|(session, (index, check, at, cost, importance), wish, language, terms)| {
            Remembered {
                session,
                entry: IndexEntry {
                    index,
                    check,
                    at,
                    cost,
                    importance,
                    wish: StatedWish::of_number(wish),
                    language: StemmerLanguage::of_number(language),
                },
                terms: terms
                    .into_iter()
                    .map(|(term, tenths)| TermCount { term: Term(term), tenths })
                    .collect(),
            }
        });
        prop::collection::vec(one, 0..30)
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(messages in remembered()) {
            prop_assert_eq!(decode(&encode(&messages)), Ok(messages));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..100_usize, messages in remembered()) {
            drop(decode(&bytes));
            let mut whole = encode(&messages);
            whole.truncate(whole.len().saturating_sub(cut));
            if cut > 0 {
                prop_assert!(decode(&whole).is_err());
            }
        }
    }
}
