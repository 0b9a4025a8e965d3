//! Search through several chats, for people who look for a message. Unlike [`recall`](super::recall), which fills the room of a
//! prompt, it returns only what bears on the words, the best of all chats first.
//!
//! Scores by words are comparable between chats, and so are cosines, but not one with the other: the two lists are merged by
//! reciprocal ranks (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
//! Methods", 2009).

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::chats::Chats;
use super::index::IndexQuery;
use super::question::RecallQuery;
use super::recall::{RankedMessage, Recalled, alike, asked};
use figaro_base::ids::ChatId;
use figaro_base::tz::Tz;
use figaro_domain::conversation::EntryKey;
use figaro_domain::usage::Payer;
use figaro_domain::vector::ByteVector;
use figaro_store::StoreError;

/// Constant of the fusion, from the paper: the higher it is, the less the first ranks count.
const FUSION: f32 = 60.0;
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
pub struct FoundMessage {
    pub chat: ChatId,
    /// The message, and the part of it to show.
    pub found: Recalled,
}

/// Messages of a chat that may be results.
#[derive(Debug)]
struct Candidates {
    asked: IndexQuery,
    by_words: Vec<RankedMessage>,
    /// Their score is the cosine.
    by_meaning: Vec<RankedMessage>,
}

impl Chats {
    /// Returns the messages of these chats that bear on the words, best first. Each chat comes with its time zone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn search(
        &self,
        chats: &[(ChatId, Tz)],
        search: &ChatSearch<'_>,
    ) -> Result<Vec<FoundMessage>, StoreError> {
        // Asked once, and before any index is held: it may be slow.
        let vector = match self.meaning() {
            Some(meaning) => meaning.of_question(search.text, search.payer.clone()).await,
            None => None,
        };
        let mut candidates = Vec::new();
        for (chat, zone) in chats {
            candidates.push(self.candidates(*chat, *zone, search, vector.as_ref()).await?);
        }
        let scores = fused(&candidates, search.limit);
        let mut found = Vec::new();
        for ((chat, _), of_chat) in chats.iter().zip(&candidates) {
            let all = of_chat.by_words.iter().chain(&of_chat.by_meaning);
            let mut places: HashMap<EntryKey, RankedMessage> = HashMap::new();
            for place in all {
                if let Some(score) = scores.get(&place.key) {
                    places.insert(place.key, place.scored(*score));
                }
            }
            let places: Vec<RankedMessage> = places.into_values().collect();
            let read = self.read(&places, &of_chat.asked, WHOLE_TOKENS)?;
            found.extend(read.into_iter().map(|found| FoundMessage { chat: *chat, found }));
        }
        found.sort_by(|one, other| {
            let (one, other) = (&one.found, &other.found);
            other.score.total_cmp(&one.score).then(other.message.created_at.cmp(&one.message.created_at))
        });
        Ok(found)
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
        let ready = self.ready(&mut held, &query, &ends).await?;
        let index = &ready.index;
        let mut asked = asked(index, &query);
        // Messages of deleted sessions stay in an index until it is made anew.
        let lives = |place: &RankedMessage| ends.iter().any(|end| end.session == place.key.session);
        let by_words = index.rank(&asked, None, search.limit).into_iter();
        let by_words = by_words.filter_map(|one| RankedMessage::of(index, one.at, one.score)).filter(lives);
        let by_words = by_words.collect();
        asked.alike = alike(ready, vector);
        let nearest = index.nearest(&asked, None, BY_MEANING).into_iter();
        let cosine = |at: usize| asked.alike.get(at).copied().unwrap_or_default();
        let by_meaning =
            nearest.filter_map(|one| RankedMessage::of(index, one.at, cosine(one.at))).filter(lives);
        let by_meaning = by_meaning.collect();
        self.measured(chat, ready.bytes());
        Ok(Candidates { asked, by_words, by_meaning })
    }
}

/// Returns the best messages of all chats with their scores in the fusion of both lists.
fn fused(candidates: &[Candidates], limit: usize) -> HashMap<EntryKey, f32> {
    let of_all = |list: fn(&Candidates) -> &Vec<RankedMessage>, limit| {
        let mut all: Vec<&RankedMessage> = candidates.iter().flat_map(list).collect();
        all.sort_by(|one, other| other.score.total_cmp(&one.score));
        all.truncate(limit);
        all
    };
    let by_words = of_all(|candidates| &candidates.by_words, limit);
    let by_meaning = of_all(|candidates| &candidates.by_meaning, BY_MEANING);
    let mut scores: HashMap<EntryKey, f32> = HashMap::new();
    for list in [by_words, by_meaning] {
        let mut rank = FUSION;
        for place in list {
            rank += 1.0;
            *scores.entry(place.key).or_default() += 1.0 / rank;
        }
    }
    let mut best: Vec<(EntryKey, f32)> = scores.into_iter().collect();
    best.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    best.truncate(limit);
    best.into_iter().collect()
}
