//! Search through several chats, for people who look for a message. Unlike [`recall`](super::recall), which fills the room of a
//! prompt with what belongs to a question, it returns only messages that have the words, and those nearest to them in meaning.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::chats::{ChatIndex, Chats};
use super::index::{IndexQuery, Match, rarity};
use super::question::RecallQuery;
use super::recall::{RankedMessage, Recalled, asked};
use super::words::Term;
use figaro_base::ids::{ChatId, SessionId};
use figaro_base::tz::Tz;
use figaro_domain::conversation::EntryKey;
use figaro_domain::usage::Payer;
use figaro_domain::vector::ByteVector;
use figaro_store::StoreError;

/// One result in so many is one of meaning: a text with the very words comes first.
const SHARE_OF_MEANING: usize = 4;
/// Messages that are found by their meaning alone: further ones have little to do with the words.
const BY_MEANING: usize = 10;
/// Maximum length of a message that is shown whole, in approximate tokens.
const WHOLE_TOKENS: usize = 150;

/// Words that somebody looks for.
#[derive(Debug, Clone)]
pub struct ChatSearch<'a> {
    pub text: &'a str,
    /// Time of the search, which resolves dates such as "last May".
    pub asked_at: DateTime<Utc>,
    /// Payer of the vector of the words.
    pub payer: Payer,
    /// Maximum number of results.
    pub limit: usize,
}

/// A message of one of the chats.
#[derive(Debug, Clone)]
pub struct SearchHit {
    pub chat: ChatId,
    /// The message, and the part of it to show.
    pub found: Recalled,
}

/// Messages of a chat that may be results.
#[derive(Debug)]
struct Candidates {
    asked: IndexQuery,
    /// Number of messages of the chat.
    messages: usize,
    /// Number of messages that have each term.
    having: Vec<(Term, usize)>,
    by_words: Vec<(RankedMessage, Match)>,
    /// Their score is the cosine.
    by_meaning: Vec<RankedMessage>,
}

/// A message with the place of its chat among all.
type Placed = (usize, RankedMessage);

impl Chats {
    /// Returns the messages of these chats that have the words or mean much the same, best first. Each chat comes with its time
    /// zone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn search(
        &self,
        chats: &[(ChatId, Tz)],
        search: &ChatSearch<'_>,
    ) -> Result<Vec<SearchHit>, StoreError> {
        // Asked once, and before any index is held: it may be slow.
        let vector = match self.meaning() {
            Some(meaning) => meaning.of_question(search.text, search.payer.clone()).await,
            None => None,
        };
        let mut candidates = Vec::new();
        for (chat, zone) in chats {
            candidates.push(self.candidates(*chat, *zone, search, vector.as_ref()).await?);
            // Long chats take some milliseconds each, and others want an answer.
            tokio::task::yield_now().await;
        }
        let merged = merged(by_words(&candidates), by_meaning(&candidates), search.limit);
        let mut found: Vec<(usize, SearchHit)> = Vec::new();
        for (at, ((chat, _), of_chat)) in chats.iter().zip(&candidates).enumerate() {
            let of_this = merged.iter().enumerate().filter(|(_, (of, _))| *of == at);
            let ranks: HashMap<EntryKey, usize> = of_this.map(|(rank, (_, one))| (one.key, rank)).collect();
            let places: Vec<RankedMessage> =
                merged.iter().filter(|(of, _)| *of == at).map(|(_, one)| *one).collect();
            let read = self.read(&places, &of_chat.asked, WHOLE_TOKENS)?;
            found.extend(read.into_iter().filter_map(|found| {
                let message = &found.message;
                let rank = *ranks.get(&EntryKey { session: message.session, index: message.index })?;
                Some((rank, SearchHit { chat: *chat, found }))
            }));
        }
        found.sort_by_key(|(rank, _)| *rank);
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    async fn candidates(
        &self,
        chat: ChatId,
        zone: Tz,
        search: &ChatSearch<'_>,
        vector: Option<&ByteVector>,
    ) -> Result<Candidates, StoreError> {
        let query = RecallQuery {
            chat,
            session: None,
            text: search.text,
            before: None,
            asked_at: search.asked_at,
            zone,
            shown: None,
            tokens: usize::MAX,
            payer: search.payer.clone(),
        };
        let ends = self.store().session_ends(chat)?;
        let place = self.of(chat);
        let mut held = place.lock().await;
        let was_held = held.is_some();
        let ready = self.ready(&mut held, &query, &ends).await?;
        // Messages of deleted sessions stay in an index until it is made anew.
        let living: HashSet<SessionId> = ends.iter().map(|end| end.session).collect();
        let candidates = candidates(ready, asked(&ready.index, &query), &living, vector, search.limit);
        let bytes = ready.bytes();
        // A search must not drop the indexes of chats in which people talk.
        if was_held || self.has_room(bytes) {
            self.measured(chat, bytes);
        } else {
            *held = None;
        }
        Ok(candidates)
    }
}

fn candidates(
    chat: &ChatIndex,
    asked: IndexQuery,
    living: &HashSet<SessionId>,
    vector: Option<&ByteVector>,
    limit: usize,
) -> Candidates {
    let index = &chat.index;
    let placed = |at: usize, score: f32| {
        RankedMessage::of(index, at, score).filter(|place| living.contains(&place.key.session))
    };
    let matches = index.matches(&asked.terms).into_iter();
    let by_words = matches.filter_map(|found| Some((placed(found.at, 0.0)?, found))).take(limit).collect();
    let cosines = match (chat.vectors.as_ref(), vector) {
        (Some(vectors), Some(vector)) => vectors.cosines(vector, index.len()),
        _ => Vec::new(),
    };
    let mut by_meaning: Vec<RankedMessage> = cosines
        .into_iter()
        .enumerate()
        .filter(|(_, cosine)| *cosine > 0.0)
        .filter_map(|(at, cosine)| placed(at, cosine))
        .collect();
    sort(&mut by_meaning, |place| place);
    by_meaning.truncate(BY_MEANING);
    let having = asked.terms.iter().map(|one| (one.term, index.having(one.term))).collect();
    Candidates { messages: index.len(), having, asked, by_words, by_meaning }
}

/// Returns the messages of all chats that have the words, best first. How rare a word is counts over all of them: in a short chat
/// it says nothing.
fn by_words(candidates: &[Candidates]) -> Vec<Placed> {
    let all: usize = candidates.iter().map(|chat| chat.messages).sum();
    let mut having: HashMap<Term, usize> = HashMap::new();
    for (term, count) in candidates.iter().flat_map(|chat| &chat.having) {
        *having.entry(*term).or_default() += count;
    }
    let score = |found: &Match| -> f32 {
        let of_term = |(term, weight): &(Term, f32)| {
            weight * rarity(all, having.get(term).copied().unwrap_or_default())
        };
        found.terms.iter().map(of_term).sum()
    };
    let mut ranked = Vec::new();
    for (at, chat) in candidates.iter().enumerate() {
        ranked.extend(chat.by_words.iter().map(|(place, found)| (at, place.scored(score(found)))));
    }
    sort(&mut ranked, |(_, place)| place);
    ranked
}

/// Returns the messages of all chats that are nearest in meaning, nearest first.
fn by_meaning(candidates: &[Candidates]) -> Vec<Placed> {
    let of_chat = |(at, chat): (usize, &Candidates)| {
        chat.by_meaning.iter().map(move |place| (at, *place)).collect::<Vec<_>>()
    };
    let mut ranked: Vec<Placed> = candidates.iter().enumerate().flat_map(of_chat).collect();
    sort(&mut ranked, |(_, place)| place);
    ranked.truncate(BY_MEANING);
    ranked
}

/// Sorts by score, best first; of equals the later one.
fn sort<T>(ranked: &mut [T], place: impl Fn(&T) -> &RankedMessage) {
    ranked.sort_by(|one, other| {
        let (one, other) = (place(one), place(other));
        other.score.total_cmp(&one.score).then_with(|| other.at.cmp(&one.at))
    });
}

/// Takes from both lists, each message once, one in [`SHARE_OF_MEANING`] from the second.
fn merged(by_words: Vec<Placed>, by_meaning: Vec<Placed>, limit: usize) -> Vec<Placed> {
    let (mut words, mut meaning) = (by_words.into_iter(), by_meaning.into_iter());
    let (mut seen, mut merged) = (HashSet::new(), Vec::new());
    while merged.len() < limit {
        let is_of_meaning = (merged.len() + 1) % SHARE_OF_MEANING == 0;
        let next = match is_of_meaning {
            true => meaning.next().or_else(|| words.next()),
            false => words.next().or_else(|| meaning.next()),
        };
        let Some(next) = next else { break };
        if seen.insert(next.1.key) {
            merged.push(next);
        }
    }
    merged
}
