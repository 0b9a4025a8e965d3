//! The index of a chat in memory: what each remembered message is about, and which bear on a question. It holds no text.

mod block;
mod score;
mod vectors;

use std::collections::HashMap;

pub(crate) use self::block::{decode, encode};
pub(crate) use self::score::{Asked, Ranked, best};
pub(crate) use self::vectors::Vectors;
use super::words::{Language, Term, Weighted};
use figaro_base::ids::SessionId;

/// A message as an index remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remembered {
    /// The session that holds it.
    pub(crate) session: SessionId,
    /// What is known of it beside its terms.
    pub(crate) entry: Entry,
    /// Its terms, each once.
    pub(crate) terms: Vec<Counted>,
}

/// What is known of a message beside its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its place in the session.
    pub(crate) index: u32,
    /// A part of its id: another message may have come to its place since.
    pub(crate) check: u32,
    /// When it was written, in seconds since 1970.
    pub(crate) at: i64,
    /// How many tokens it takes whole, at most 65,535.
    pub(crate) cost: u16,
    /// From 0 to 10.
    pub(crate) importance: u8,
    /// Whether a person says in it what is to hold for what they ask later.
    pub(crate) is_wish: bool,
    /// The language it is written in, where that could be told.
    pub(crate) language: Option<Language>,
}

/// A term of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The term.
    pub(crate) term: Term,
    /// How often it stands there, in tenths.
    pub(crate) tenths: u8,
}

impl Counted {
    /// Terms that may stand several times, each once.
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

/// A gap between two messages longer than this ends an episode, in seconds.
const EPISODE_GAP: i64 = 3 * 3600;
/// An episode has at most so many messages.
const EPISODE_MESSAGES: u32 = 100;
/// A message of more tokens than this takes the room of several: it counts less by this power of how much longer it is.
const LONG_TOKENS: f32 = 60.0;
/// The exponent of that, for its own words and again for what is around it: a message ten times as long counts a sixth by its own.
const LONG_POWER: f32 = 0.4;
/// Stands for no message.
const NONE: u32 = u32::MAX;

/// How often a term stands in a message, in tenths, and in which.
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

/// How many terms a message has, each counted as often as it stands there.
fn length(terms: &[Counted]) -> u16 {
    let tenths: u32 = terms.iter().map(|counted| u32::from(counted.tenths)).sum();
    u16::try_from(tenths / 10).unwrap_or(u16::MAX)
}

/// How much less a message counts for the room it takes.
fn room(cost: u16) -> f32 {
    let cost = f32::from(cost);
    if cost > LONG_TOKENS { (cost / LONG_TOKENS).powf(-LONG_POWER) } else { 1.0 }
}

/// Where a message stands among the others.
#[derive(Debug, Clone, Copy)]
struct Placed {
    entry: Entry,
    /// The number of its session.
    session: u32,
    /// The number of its episode: messages of one session without a long gap between them.
    episode: u32,
    /// The message before and the one behind in the episode, or [`NONE`].
    before: u32,
    behind: u32,
    /// How many terms it has, each counted as often as it stands there.
    length: u16,
    /// How much less it counts for the room it takes.
    room: f32,
}

impl Placed {
    /// Whether it is of the session with this number, where only that counts.
    fn is_of(&self, only: Option<u32>) -> bool {
        only.is_none_or(|only| only == self.session)
    }
}

/// The last message of a session.
#[derive(Debug, Clone, Copy)]
struct Last {
    at: u32,
    /// How many messages its episode has.
    episode_messages: u32,
}

/// The index of one chat: up to 16 million messages.
#[derive(Debug, Default)]
pub(crate) struct Index {
    sessions: Vec<SessionId>,
    numbers: HashMap<SessionId, u32>,
    last: Vec<Last>,
    messages: Vec<Placed>,
    episodes: u32,
    postings: HashMap<Term, Vec<Posting>>,
    total_length: u64,
    languages: HashMap<Language, u32>,
}

impl Index {
    /// How many messages there are.
    #[must_use]
    pub(crate) const fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are none.
    #[must_use]
    pub(crate) const fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// What is known of the message at a place in the index, and its session.
    #[must_use]
    pub(crate) fn message(&self, at: usize) -> Option<(SessionId, Entry)> {
        let placed = self.messages.get(at)?;
        Some((*self.sessions.get(placed.session as usize)?, placed.entry))
    }

    /// All messages with their places, in the order in which they came.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.messages.iter().map(|placed| &placed.entry).enumerate()
    }

    /// Where each message is, by its session and its index there. Of two that came to one place it is the later.
    #[must_use]
    pub(crate) fn places(&self) -> HashMap<(SessionId, u32), usize> {
        let place = |(at, placed): (usize, &Placed)| {
            Some(((*self.sessions.get(placed.session as usize)?, placed.entry.index), at))
        };
        self.messages.iter().enumerate().filter_map(place).collect()
    }

    /// The index in its session behind the last message of it that is here: 0 for none.
    #[must_use]
    pub(crate) fn next_of(&self, session: SessionId) -> u32 {
        let last = self.numbers.get(&session).and_then(|number| self.last.get(*number as usize));
        last.and_then(|last| self.messages.get(last.at as usize)).map_or(0, |placed| placed.entry.index + 1)
    }

    /// The languages that at least one in twenty messages is in, most frequent first.
    #[must_use]
    pub(crate) fn languages(&self) -> Vec<Language> {
        let least = u32::try_from(self.messages.len() / 20).unwrap_or(u32::MAX).max(1);
        let mut spoken: Vec<(u32, Language)> =
            self.languages.iter().map(|(language, count)| (*count, *language)).collect();
        spoken.retain(|(count, _)| *count >= least);
        spoken.sort_by(|one, other| other.cmp(one));
        spoken.into_iter().map(|(_, language)| language).collect()
    }

    /// About how much memory it takes, in bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        let postings: usize = self.postings.values().map(|list| list.capacity() * size_of::<Posting>()).sum();
        let table = self.postings.capacity() * (size_of::<Term>() + size_of::<Vec<Posting>>() + 1);
        self.messages.capacity() * size_of::<Placed>() + postings + table
    }

    /// The place of a message.
    #[must_use]
    pub(crate) fn at(&self, session: SessionId, index: u32) -> Option<usize> {
        let number = *self.numbers.get(&session)?;
        self.messages.iter().rposition(|placed| placed.session == number && placed.entry.index == index)
    }

    /// Adds a message, or puts what it says now in the place of what it said.
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
        for Counted { term, tenths } in terms {
            let postings = self.postings.entry(*term).or_default();
            let behind = postings.partition_point(|posting| posting.at() < at);
            postings.insert(behind, Posting::new(number, *tenths));
        }
    }

    /// Adds a message behind those of its session. One that is out of order or one too many is ignored.
    pub(crate) fn add(&mut self, remembered: &Remembered) {
        let Remembered { session, entry, terms } = remembered;
        let Ok(at) = u32::try_from(self.messages.len()) else { return };
        if entry.index < self.next_of(*session) || at >= 1 << 24 {
            return;
        }
        let length = length(terms);
        let placed = self.place(*session, *entry, at, length);
        self.total_length += u64::from(length);
        for Counted { term, tenths } in terms {
            self.postings.entry(*term).or_default().push(Posting::new(at, *tenths));
        }
        if let Some(language) = entry.language {
            *self.languages.entry(language).or_default() += 1;
        }
        self.messages.push(placed);
    }

    fn place(&mut self, session: SessionId, entry: Entry, at: u32, length: u16) -> Placed {
        let known = self.numbers.get(&session).copied();
        let number = known.unwrap_or_else(|| {
            let number = u32::try_from(self.sessions.len()).unwrap_or(NONE);
            self.sessions.push(session);
            self.last.push(Last { at, episode_messages: 0 });
            self.numbers.insert(session, number);
            number
        });
        let mut placed = Placed {
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
