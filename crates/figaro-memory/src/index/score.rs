//! Ranking of messages for a question. Each message is scored by BM25 (Robertson and Zaragoza, "The Probabilistic
//! Relevance Framework", 2009). It also gets a part of the scores of its neighbours and its episode, because an answer
//! often shares no word with its question, and more if the question names its writer.
//!
//! The weights were chosen on public conversations of people (`docs/memory.md`). Each is on a plateau: half or twice its
//! value changes the share of found messages by less than a point.

use std::collections::HashMap;

use super::super::words::{Term, Weighted};
use super::{Index, IndexedMessage, NONE, Posting};
use figaro_base::ids::SessionId;

/// Saturation of repeated terms in a message, BM25's k1.
const SATURATION: f32 = 0.9;
/// Length normalisation, BM25's b.
const LENGTH: f32 = 0.4;
/// Bonus of a message with all terms of the question over one with few.
const COVERAGE: f32 = 1.5;
/// Share of the score of each neighbouring message.
const NEIGHBOUR: f32 = 0.5;
/// Share of the score of messages two away.
const SECOND_NEIGHBOUR: f32 = 0.3;
/// Share of the episode's score.
const EPISODE: f32 = 1.2;
/// Saturation of repeated terms in an episode.
const EPISODE_SATURATION: f32 = 1.0;
/// Bonus of a message whose writer the question names.
const SPEAKER: f32 = 0.5;
/// Reduction for each further message with the same terms of the question: such messages say much the same.
const SAMENESS: f32 = 0.1;
/// Maximum steps of that reduction.
const MAX_SAME: u16 = 20;
/// Best messages checked for sameness.
const COMPARED: usize = 2_000;
/// Share of the question's terms, by weight, that counts as most of them.
const MOST: f32 = 0.75;
/// Maximum messages with a term that names one thing.
const FEW: usize = 3;

/// Weight of meaning relative to words: the nearest message gets this share of the best score by words.
const MEANING: f32 = 0.5;

#[derive(Debug, Clone, Default)]
pub(crate) struct IndexQuery {
    pub(crate) terms: Vec<Weighted>,
    /// Terms of writers that it may name.
    pub(crate) speakers: Vec<Term>,
    /// `true` if it has so few terms that it continues what was said before.
    pub(crate) is_short: bool,
    /// Similarity of each message in meaning, from [`Vectors::cosines`](super::Vectors::cosines); empty if only words are
    /// compared.
    pub(crate) alike: Vec<f32>,
}

/// A message relevant to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    /// Position in the index.
    pub(crate) at: usize,
    /// Relevance above 0; comparable within one question.
    pub(crate) score: f32,
}

/// A message that has terms of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Match {
    /// Position in the index.
    pub(crate) at: usize,
    /// Its terms with their weight by frequency, without their rarity.
    pub(crate) terms: Vec<(Term, f32)>,
}

struct Scores {
    /// Score of each message by its own terms.
    messages: Vec<f32>,
    /// Bit set of the question's terms in each message.
    signatures: Vec<u32>,
    /// Weight of the question's terms in each message.
    covered: Vec<f32>,
    /// Weight of all terms of the question.
    total: f32,
    episodes: Vec<f32>,
    /// Frequency of the current term in each episode; zeros between two terms.
    in_episodes: Vec<f32>,
}

impl Index {
    /// Returns the `limit` messages most relevant to a question, best first, of one session or of all. Leaves out
    /// messages without a match in or near them.
    #[must_use]
    pub(crate) fn rank(&self, asked: &IndexQuery, session: Option<SessionId>, limit: usize) -> Vec<Ranked> {
        let only = session.map(|session| self.numbers.get(&session).copied().unwrap_or(NONE));
        if self.is_empty() || limit == 0 || only == Some(NONE) {
            return Vec::new();
        }
        let mut scores = self.scored(asked);
        scores.count_coverage();
        scores.lower_same();
        let complete = scores.complete();
        let room =
            |at: usize, placed: &IndexedMessage| if complete.contains(&at) { 1.0 } else { placed.room };
        for (at, placed) in self.messages.iter().enumerate() {
            scores.messages[at] *= room(at, placed);
        }
        let named = self.written_by(&asked.speakers);
        let mut ranked = Vec::new();
        for (at, placed) in self.messages.iter().enumerate() {
            let near = with_neighbours(&self.messages, &scores.messages, at);
            let score = near + EPISODE * scores.episodes[placed.episode as usize];
            if score <= 0.0 || only.is_some_and(|only| only != placed.session) {
                continue;
            }
            let by_name = if named.as_ref().is_some_and(|named| named[at]) { 1.0 + SPEAKER } else { 1.0 };
            ranked.push(Ranked { at, score: score * by_name * room(at, placed) });
        }
        if !asked.alike.is_empty() {
            ranked = self.with_meaning(&ranked, &asked.alike, only);
        }
        best(ranked, limit)
    }

    /// Returns the messages that have any of these terms, those with most of them in this chat first.
    #[must_use]
    pub(crate) fn matches(&self, terms: &[Weighted]) -> Vec<Match> {
        let mean = self.total_length as f32 / self.messages.len().max(1) as f32;
        let mut found: HashMap<usize, (f32, Match)> = HashMap::new();
        for one in terms {
            let postings = self.postings.get(&one.term).map_or(&[][..], Vec::as_slice);
            for posting in postings {
                let at = posting.at();
                let weight = one.weight * saturated(posting.frequency(), &self.messages[at], mean);
                let (score, message) =
                    found.entry(at).or_insert_with(|| (0.0, Match { at, terms: Vec::new() }));
                *score += weight * rarity(self.messages.len(), postings.len());
                message.terms.push((one.term, weight));
            }
        }
        let mut found: Vec<(f32, Match)> = found.into_values().collect();
        found.sort_by(|(one, first), (other, second)| other.total_cmp(one).then(second.at.cmp(&first.at)));
        found.into_iter().map(|(_, message)| message).collect()
    }

    /// Returns the number of messages that have a term.
    #[must_use]
    pub(crate) fn having(&self, term: Term) -> usize {
        self.postings.get(&term).map_or(0, Vec::len)
    }

    /// Returns the messages nearest to a question in meaning, nearest first, of one session or of all, whatever their
    /// words. Leaves out those no nearer than most.
    #[must_use]
    pub(crate) fn nearest(
        &self,
        asked: &IndexQuery,
        session: Option<SessionId>,
        limit: usize,
    ) -> Vec<Ranked> {
        let only = session.map(|session| self.numbers.get(&session).copied().unwrap_or(NONE));
        let lifted = lifted(&asked.alike);
        let near = self.messages.iter().zip(lifted).enumerate();
        let near = near.filter(|(_, (placed, lifted))| *lifted > 0.0 && placed.is_of(only));
        best(near.map(|(at, (_, score))| Ranked { at, score }).collect(), limit)
    }

    /// Adds the scores by words and by meaning, each relative to its best.
    fn with_meaning(&self, by_words: &[Ranked], alike: &[f32], only: Option<u32>) -> Vec<Ranked> {
        let lifted = lifted(alike);
        let near = (0..self.messages.len()).map(|at| with_neighbours(&self.messages, &lifted, at));
        let near = near.zip(&self.messages);
        let mut scores: Vec<f32> =
            near.map(|(near, placed)| if placed.is_of(only) { near } else { 0.0 }).collect();
        let nearest = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        for (score, placed) in scores.iter_mut().zip(&self.messages) {
            *score *= MEANING / nearest * placed.room;
        }
        let most = by_words.iter().map(|ranked| ranked.score).fold(f32::MIN_POSITIVE, f32::max);
        by_words.iter().for_each(|ranked| scores[ranked.at] += ranked.score / most);
        let ranked = scores.into_iter().enumerate().map(|(at, score)| Ranked { at, score });
        ranked.filter(|ranked| ranked.score > 0.0).collect()
    }

    /// Returns the message after `at`, of at most `most` tokens, that has most of these terms, counting only rare ones;
    /// of equals the latest.
    pub(crate) fn later(&self, at: usize, terms: &[Term], most: usize) -> Option<usize> {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let postings = terms.iter().filter_map(|term| self.postings.get(term));
        for posting in postings.filter(|postings| postings.len() <= FEW).flatten() {
            *shared.entry(posting.at()).or_default() += 1;
        }
        let of = self.messages.get(at)?.session;
        let is_later = |other: &usize| {
            let placed = &self.messages[*other];
            *other > at && placed.session == of && usize::from(placed.entry.cost) <= most
        };
        let later = shared.into_iter().filter(|(other, _)| is_later(other));
        later.max_by_key(|(other, count)| (*count, *other)).map(|(other, _)| other)
    }

    fn scored(&self, asked: &IndexQuery) -> Scores {
        let (messages, episodes) = (self.messages.len(), self.episodes as usize);
        let mut scores = Scores {
            messages: vec![0.0; messages],
            signatures: vec![0; messages],
            covered: vec![0.0; messages],
            total: 0.0,
            episodes: vec![0.0; episodes],
            in_episodes: vec![0.0; episodes],
        };
        for asked in &asked.terms {
            if let Some(postings) = self.postings.get(&asked.term) {
                self.count_term(*asked, postings, &mut scores);
            }
        }
        scores
    }

    fn count_term(&self, asked: Weighted, postings: &[Posting], scores: &mut Scores) {
        let mean = self.total_length as f32 / self.messages.len() as f32;
        let weight = asked.weight * rarity(self.messages.len(), postings.len());
        let mark = asked.term.0.wrapping_mul(0x9e37_79b1) | 1;
        scores.total += weight;
        let mut episodes = Vec::new();
        for posting in postings {
            let (at, frequency) = (posting.at(), posting.frequency());
            let placed = &self.messages[at];
            scores.messages[at] += weight * saturated(frequency, placed, mean);
            scores.covered[at] += weight;
            scores.signatures[at] ^= mark;
            let in_episode = &mut scores.in_episodes[placed.episode as usize];
            if *in_episode == 0.0 {
                episodes.push(placed.episode as usize);
            }
            *in_episode += frequency;
        }
        let weight = asked.weight * rarity(scores.episodes.len(), episodes.len());
        for episode in episodes {
            let frequency = std::mem::take(&mut scores.in_episodes[episode]);
            scores.episodes[episode] += weight * frequency / (frequency + EPISODE_SATURATION);
        }
    }

    /// Marks the messages written by somebody with one of these names; `None` if none was, or all.
    fn written_by(&self, speakers: &[Term]) -> Option<Vec<bool>> {
        let known = speakers.iter().filter_map(|name| self.postings.get(name));
        let telling: Vec<_> = known.filter(|postings| postings.len() < self.messages.len()).collect();
        let mut named = (!telling.is_empty()).then(|| vec![false; self.messages.len()])?;
        telling.into_iter().flatten().for_each(|posting| named[posting.at()] = true);
        Some(named)
    }
}

/// Returns the score of a message with a part of its neighbours' in the episode.
fn with_neighbours(messages: &[IndexedMessage], scores: &[f32], at: usize) -> f32 {
    let step = |at: Option<usize>, way: fn(&IndexedMessage) -> u32| {
        let next = way(messages.get(at?)?);
        (next != NONE).then_some(next as usize)
    };
    let mut sum = scores[at];
    for way in [|placed: &IndexedMessage| placed.before, |placed: &IndexedMessage| placed.behind] {
        let first = step(Some(at), way);
        let second = step(first, way);
        sum += NEIGHBOUR * first.map_or(0.0, |at| scores[at]);
        sum += SECOND_NEIGHBOUR * second.map_or(0.0, |at| scores[at]);
    }
    sum
}

/// Returns how much each similarity exceeds the mean: models differ in the similarity of unrelated texts. A message
/// without a vector gets 0.
fn lifted(alike: &[f32]) -> Vec<f32> {
    let known = alike.iter().filter(|cosine| **cosine != 0.0);
    let mean = known.clone().sum::<f32>() / known.count().max(1) as f32;
    alike.iter().map(|cosine| (cosine - mean).max(0.0)).collect()
}

impl Scores {
    /// Returns the messages with most terms of the question, if few have: they are what is asked for, however long they
    /// are.
    fn complete(&self) -> Vec<usize> {
        let least = MOST * self.total;
        let has_most = |at: &usize| least > 0.0 && self.covered[*at] >= least;
        let complete: Vec<usize> = (0..self.covered.len()).filter(has_most).take(FEW + 1).collect();
        if complete.len() > FEW { Vec::new() } else { complete }
    }

    fn count_coverage(&mut self) {
        if self.total > 0.0 {
            for (score, covered) in self.messages.iter_mut().zip(&self.covered) {
                *score *= 1.0 + COVERAGE * covered / self.total;
            }
        }
    }

    /// Lowers messages with the same terms of the question as a better one.
    fn lower_same(&mut self) {
        let found = self.messages.iter().enumerate().filter(|(_, score)| **score > 0.0);
        let ranked = found.map(|(at, score)| Ranked { at, score: *score }).collect();
        let mut seen: HashMap<u32, u16> = HashMap::new();
        for Ranked { at, .. } in best(ranked, COMPARED) {
            let same = seen.entry(self.signatures[at]).or_default();
            self.messages[at] *= (1.0 - SAMENESS).powi(i32::from(*same));
            *same = (*same + 1).min(MAX_SAME);
        }
    }
}

/// Returns the best, best first; of equals the newest.
pub(crate) fn best(mut ranked: Vec<Ranked>, limit: usize) -> Vec<Ranked> {
    let order = |one: &Ranked, other: &Ranked| other.score.total_cmp(&one.score).then(other.at.cmp(&one.at));
    if ranked.len() > limit {
        ranked.select_nth_unstable_by(limit, order);
        ranked.truncate(limit);
    }
    ranked.sort_unstable_by(order);
    ranked
}

/// Computes BM25's share of a term with this frequency in a message; `mean` is the mean length of messages.
fn saturated(frequency: f32, placed: &IndexedMessage, mean: f32) -> f32 {
    let length = 1.0 - LENGTH + LENGTH * f32::from(placed.length) / mean.max(1.0);
    frequency * (SATURATION + 1.0) / (frequency + SATURATION * length)
}

/// Computes BM25's inverse document frequency of a term in `having` of `all` messages.
pub(crate) fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}
