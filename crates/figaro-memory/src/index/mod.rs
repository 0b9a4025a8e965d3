//! Index of a chat in memory: the terms of each message, and the search for relevant ones. It contains no text.

mod block;
mod score;
mod vectors;

use std::collections::HashMap;

pub(crate) use self::block::{decode, encode};
pub(crate) use self::score::{IndexQuery, Match, Ranked, best, rarity};
pub(crate) use self::vectors::Vectors;
use super::wishes::StatedWish;
use super::words::{StemmerLanguage, Term, Weighted};
use figaro_base::ids::SessionId;

/// A message in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) session: SessionId,
    /// Data besides its terms.
    pub(crate) entry: IndexEntry,
    /// Terms of the message, each once.
    pub(crate) terms: Vec<TermCount>,
}

/// Data of a message besides its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// Index in its session.
    pub(crate) index: u32,
    /// Part of its id: another message may have taken its place since.
    pub(crate) check: u32,
    /// Time of writing, in seconds since 1970.
    pub(crate) at: i64,
    /// Tokens of the whole message, at most 65,535.
    pub(crate) cost: u16,
    /// Importance from 0 to 10.
    pub(crate) importance: u8,
    /// Wish that a person states in it.
    pub(crate) wish: Option<StatedWish>,
    /// Language of the text, if known.
    pub(crate) language: Option<StemmerLanguage>,
}

/// A term of a message with its frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TermCount {
    pub(crate) term: Term,
    /// Frequency in the message, in tenths.
    pub(crate) tenths: u8,
}

impl TermCount {
    /// Merges repeated terms.
    #[must_use]
    pub(crate) fn of(terms: &[Weighted]) -> Vec<Self> {
        let mut sorted = terms.to_vec();
        sorted.sort_by_key(|one| one.term);
        let same = sorted.chunk_by(|one, other| one.term == other.term);
        let counted = same.map(|same| {
            let frequency: f32 = same.iter().map(|one| one.weight).sum();
            Self { term: same[0].term, tenths: (frequency * 10.0).round().clamp(1.0, 255.0) as u8 }
        });
        counted.collect()
    }
}

/// Minimum gap between two messages that ends an episode, in seconds.
const EPISODE_GAP: i64 = 3 * 3600;
/// Maximum messages of an episode.
const EPISODE_MESSAGES: u32 = 100;
/// Tokens above which a message takes the room of several: its score falls by a power of its relative length.
const LONG_TOKENS: f32 = 60.0;
/// Exponent of that, for its own words and again for those around it: a message ten times as long has a sixth of the
/// score by its own words.
const LONG_POWER: f32 = 0.4;
const NONE: u32 = u32::MAX;

/// A message that contains a term, and the term's frequency in tenths.
#[derive(Debug, Clone, Copy)]
struct Posting(u32);

impl Posting {
    const fn new(at: u32, tenths: u8) -> Self {
        Self(at << 8 | tenths as u32)
    }

    const fn at(self) -> usize {
        (self.0 >> 8) as usize
    }

    fn frequency(self) -> f32 {
        f32::from((self.0 & 0xff) as u8) / 10.0
    }
}

/// Returns the length of a message in terms, each counted by its frequency.
fn length(terms: &[TermCount]) -> u16 {
    let tenths: u32 = terms.iter().map(|counted| u32::from(counted.tenths)).sum();
    u16::try_from(tenths / 10).unwrap_or(u16::MAX)
}

/// Returns the factor by which a message's score falls for its length.
fn room(cost: u16) -> f32 {
    let cost = f32::from(cost);
    if cost > LONG_TOKENS { (cost / LONG_TOKENS).powf(-LONG_POWER) } else { 1.0 }
}

/// A message with its position among the others.
#[derive(Debug, Clone, Copy)]
struct IndexedMessage {
    entry: IndexEntry,
    /// Number of its session in this index.
    session: u32,
    /// Number of its episode: messages of one session without a long gap between them.
    episode: u32,
    /// Previous and next message of the episode, or [`NONE`].
    before: u32,
    behind: u32,
    /// Length in terms, each counted by its frequency.
    length: u16,
    /// Factor by which its score falls for its length.
    room: f32,
}

impl IndexedMessage {
    /// Returns `true` if it belongs to this session; always for `None`.
    fn is_of(&self, only: Option<u32>) -> bool {
        only.is_none_or(|only| only == self.session)
    }
}

/// Last message of a session.
#[derive(Debug, Clone, Copy)]
struct Last {
    at: u32,
    /// Number of messages in its episode.
    episode_messages: u32,
}

/// Index of one chat, for up to 16 million messages.
#[derive(Debug, Default)]
pub(crate) struct Index {
    sessions: Vec<SessionId>,
    numbers: HashMap<SessionId, u32>,
    last: Vec<Last>,
    messages: Vec<IndexedMessage>,
    episodes: u32,
    postings: HashMap<Term, Vec<Posting>>,
    total_length: u64,
    languages: HashMap<StemmerLanguage, u32>,
}

impl Index {
    /// Returns the number of messages.
    #[must_use]
    pub(crate) const fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns `true` if there are no messages.
    #[must_use]
    pub(crate) const fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the message at a position in the index, with its session.
    #[must_use]
    pub(crate) fn message(&self, at: usize) -> Option<(SessionId, IndexEntry)> {
        let placed = self.messages.get(at)?;
        Some((*self.sessions.get(placed.session as usize)?, placed.entry))
    }

    /// Iterates over all messages with their positions, in the order in which they were added.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &IndexEntry)> {
        self.messages.iter().map(|placed| &placed.entry).enumerate()
    }

    /// Returns the position of each message by its session and index. If two share a place, the later one counts.
    #[must_use]
    pub(crate) fn places(&self) -> HashMap<(SessionId, u32), usize> {
        let place = |(at, placed): (usize, &IndexedMessage)| {
            Some(((*self.sessions.get(placed.session as usize)?, placed.entry.index), at))
        };
        self.messages.iter().enumerate().filter_map(place).collect()
    }

    /// Returns the index after the last indexed message of a session; 0 for none.
    #[must_use]
    pub(crate) fn next_of(&self, session: SessionId) -> u32 {
        let last = self.numbers.get(&session).and_then(|number| self.last.get(*number as usize));
        last.and_then(|last| self.messages.get(last.at as usize)).map_or(0, |placed| placed.entry.index + 1)
    }

    /// Returns the languages of at least one in twenty messages, most frequent first.
    #[must_use]
    pub(crate) fn languages(&self) -> Vec<StemmerLanguage> {
        let least = u32::try_from(self.messages.len() / 20).unwrap_or(u32::MAX).max(1);
        let mut spoken: Vec<(u32, StemmerLanguage)> =
            self.languages.iter().map(|(language, count)| (*count, *language)).collect();
        spoken.retain(|(count, _)| *count >= least);
        spoken.sort_by(|one, other| other.cmp(one));
        spoken.into_iter().map(|(_, language)| language).collect()
    }

    /// Returns its approximate memory use in bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        let postings: usize = self.postings.values().map(|list| list.capacity() * size_of::<Posting>()).sum();
        let table = self.postings.capacity() * (size_of::<Term>() + size_of::<Vec<Posting>>() + 1);
        self.messages.capacity() * size_of::<IndexedMessage>() + postings + table
    }

    /// Returns the position of a message.
    #[must_use]
    pub(crate) fn at(&self, session: SessionId, index: u32) -> Option<usize> {
        let number = *self.numbers.get(&session)?;
        self.messages.iter().rposition(|placed| placed.session == number && placed.entry.index == index)
    }

    /// Adds a message, or updates it after an edit.
    pub(crate) fn put(&mut self, remembered: &Remembered) {
        let Remembered { session, entry, .. } = remembered;
        if entry.index >= self.next_of(*session) {
            self.add(remembered);
        } else if let Some(at) = self.at(*session, entry.index) {
            self.replace(at, remembered);
        }
    }

    fn replace(&mut self, at: usize, Remembered { entry, terms, .. }: &Remembered) {
        let (Some(placed), Ok(number)) = (self.messages.get_mut(at), u32::try_from(at)) else { return };
        let (before, length) = (*placed, length(terms));
        (placed.entry, placed.length, placed.room) = (*entry, length, room(entry.cost));
        self.total_length = self.total_length + u64::from(length) - u64::from(before.length);
        if let Some(count) = before.entry.language.and_then(|language| self.languages.get_mut(&language)) {
            *count = count.saturating_sub(1);
        }
        if let Some(language) = entry.language {
            *self.languages.entry(language).or_default() += 1;
        }
        self.postings.retain(|_, postings| {
            if let Ok(there) = postings.binary_search_by_key(&at, |posting| posting.at()) {
                postings.remove(there);
            }
            !postings.is_empty()
        });
        for TermCount { term, tenths } in terms {
            let postings = self.postings.entry(*term).or_default();
            let behind = postings.partition_point(|posting| posting.at() < at);
            postings.insert(behind, Posting::new(number, *tenths));
        }
    }

    /// Adds a message after those of its session. Ignores one that is out of order or beyond the limit.
    pub(crate) fn add(&mut self, remembered: &Remembered) {
        let Remembered { session, entry, terms } = remembered;
        let Ok(at) = u32::try_from(self.messages.len()) else { return };
        if entry.index < self.next_of(*session) || at >= 1 << 24 {
            return;
        }
        let length = length(terms);
        let placed = self.place(*session, *entry, at, length);
        self.total_length += u64::from(length);
        for TermCount { term, tenths } in terms {
            self.postings.entry(*term).or_default().push(Posting::new(at, *tenths));
        }
        if let Some(language) = entry.language {
            *self.languages.entry(language).or_default() += 1;
        }
        self.messages.push(placed);
    }

    fn place(&mut self, session: SessionId, entry: IndexEntry, at: u32, length: u16) -> IndexedMessage {
        let known = self.numbers.get(&session).copied();
        let number = known.unwrap_or_else(|| {
            let number = u32::try_from(self.sessions.len()).unwrap_or(NONE);
            self.sessions.push(session);
            self.last.push(Last { at, episode_messages: 0 });
            self.numbers.insert(session, number);
            number
        });
        let mut placed = IndexedMessage {
            entry,
            session: number,
            episode: self.episodes,
            before: NONE,
            behind: NONE,
            length,
            room: room(entry.cost),
        };
        let last = &mut self.last[number as usize];
        let before = known.and_then(|_| self.messages.get_mut(last.at as usize));
        match before {
            Some(before)
                if entry.at - before.entry.at <= EPISODE_GAP && last.episode_messages < EPISODE_MESSAGES =>
            {
                before.behind = at;
                (placed.before, placed.episode) = (last.at, before.episode);
                last.episode_messages += 1;
            }
            _ => {
                self.episodes += 1;
                last.episode_messages = 1;
            }
        }
        last.at = at;
        placed
    }
}
