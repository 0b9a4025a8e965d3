//! Search for the older messages of a chat relevant to a question, as many as fit.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::chats::{ChatIndex, Chats};
use super::excerpt::excerpt;
use super::index::{Index, IndexEntry, IndexQuery, Ranked, best};
use super::question::RecallQuery;
use super::remember::{LINE_TOKENS, MAX_TOKENS, WHOLE, check, words_of};
use super::repeats::Statement;
use super::wishes::StatedWish;
use super::words::{self, StemmerLanguage, Term};
use figaro_base::ids::{ChatId, SessionId};
use figaro_base::text::estimate_tokens;
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::vector::ByteVector;
use figaro_store::{SessionEnd, StoreError};

/// Approximate tokens of the date above the messages of a day.
const DAY_TOKENS: usize = 9;
/// Minimum tokens of an excerpt; a shorter one says nothing.
const MIN_EXCERPT: usize = 40;
/// Minimum tokens of any message.
const MIN_TOKENS: usize = 5;
/// Minimum importance of messages that come first, whatever the question, within a [`SHARE_OF_VITAL`] of the room.
const VITAL: u8 = 9;
/// Minimum importance of such messages from other sessions of the chat.
const VITAL_ANYWHERE: u8 = 10;
/// Divisor of the room for vital messages.
const SHARE_OF_VITAL: usize = 12;
/// Divisor of the room for standing wishes, those relevant to the question first.
const SHARE_OF_WISHES: usize = 12;
/// Divisor of the room for tastes that questions began with, those relevant to the question first.
const SHARE_OF_TASTES: usize = 12;
/// Best messages read for the rare things that they name: later messages about these may have changed them.
const READ_FOR_LATER: usize = 3;
/// Maximum tokens of a message that counts as an update; a longer one says more than that something changed.
const SHORT: usize = 64;
/// Minimum score of a later message about a rare thing, as a share of the score of the earlier one.
const LATER: f32 = 0.5;
/// Minimum importance of messages that take the remaining room.
const IMPORTANT: u8 = 8;
/// Divisor of the room for messages near in meaning, whatever their words.
const SHARE_OF_MEANING: usize = 4;
/// Minimum terms of a question; one with fewer continues what was said before.
const FEW_TERMS: usize = 2;
/// Weight of the terms of the text before.
const BEFORE_WEIGHT: f32 = 0.5;

/// An older message relevant to a question.
#[derive(Debug, Clone)]
pub struct Recalled {
    /// The whole message.
    pub message: Arc<Message>,
    /// Text to show, whole or an excerpt.
    pub text: String,
    /// `true` if `text` is only an excerpt.
    pub is_part: bool,
    /// Relevance; higher is better, comparable within one question.
    pub score: f32,
}

/// A message selected to be shown.
#[derive(Debug, Clone, Copy)]
struct SelectedMessage {
    at: usize,
    score: f32,
}

impl Chats {
    /// Returns the older messages relevant to a question, best first. Their costs are estimates: a caller with a strict
    /// limit counts the tokens and drops the last ones.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recall(&self, question: &RecallQuery<'_>) -> Result<Vec<Recalled>, StoreError> {
        let ends = self.store().session_ends(question.chat)?;
        if !has_more(&ends, question.shown) || question.tokens < MIN_TOKENS {
            return Ok(Vec::new());
        }
        let place = self.of(question.chat);
        let mut held = place.lock().await;
        let mut chat = self.ready(&mut held, question, &ends).await?;
        let mut asked = asked(&chat.index, question);
        if let Some(text) = self.meant(chat, question, &asked) {
            // The embedder may be slow: other questions of the chat do not wait for it.
            drop(held);
            let vector = self.vector_of(question, &text).await;
            held = place.lock().await;
            chat = self.ready(&mut held, question, &ends).await?;
            asked.alike = alike(chat, vector.as_ref());
        }
        let ranked = chat.index.rank(&asked, question.session, limit(question));
        let ranked = self.with_later(&chat.index, question, ranked)?;
        let chosen = choose(chat, question, &asked, &ends, &ranked);
        self.measured(question.chat, chat.bytes());
        let placed = |one: &SelectedMessage| RankedMessage::of(&chat.index, one.at, one.score);
        let places: Vec<RankedMessage> = chosen.iter().filter_map(placed).collect();
        drop(held);
        self.read(&places, &asked, most_of_one(question))
    }

    /// Returns the chat's index with all messages up to these ends, and its vectors. A failure leaves no partial index
    /// behind: it is reloaded.
    pub(super) async fn ready<'a>(
        &self,
        held: &'a mut Option<ChatIndex>,
        question: &RecallQuery<'_>,
        ends: &[SessionEnd],
    ) -> Result<&'a ChatIndex, StoreError> {
        let mut chat = match held.take() {
            Some(chat) => chat,
            None => self.load(question.chat).await?,
        };
        if self.catch_up(question.chat, &mut chat, ends, question.zone)? {
            self.load_vectors(&mut chat, ends)?;
        } else {
            tracing::debug!(chat = %question.chat, "the index of a chat is being made; not all of it was looked through");
        }
        Ok(held.insert(chat))
    }

    /// Returns the text to embed; `None` if the chat has no vectors to compare it with.
    fn meant(&self, chat: &ChatIndex, question: &RecallQuery<'_>, asked: &IndexQuery) -> Option<String> {
        let has_vectors = chat.vectors.as_ref().is_some_and(|vectors| !vectors.is_empty());
        self.meaning().filter(|_| has_vectors)?;
        Some(match question.before {
            Some(before) if asked.is_short => format!("{before}\n{}", question.text),
            _ => question.text.to_owned(),
        })
    }

    /// Returns the vector of the question at its author's cost; `None` if it does not arrive in time.
    async fn vector_of(&self, question: &RecallQuery<'_>, text: &str) -> Option<ByteVector> {
        self.meaning()?.of_question(text, question.payer.clone()).await
    }

    /// Returns `true` if a chat has other sessions with messages.
    ///
    /// # Errors
    /// When the store fails.
    pub fn has_others(&self, chat: ChatId, session: SessionId) -> Result<bool, StoreError> {
        let ends = self.store().session_ends(chat)?;
        Ok(ends.iter().any(|end| end.session != session && end.next_index > 0))
    }

    /// Adds to the ranked messages later messages about rare things that the best ones name.
    fn with_later(
        &self,
        index: &Index,
        question: &RecallQuery<'_>,
        mut ranked: Vec<Ranked>,
    ) -> Result<Vec<Ranked>, StoreError> {
        let places = ranked.iter().filter_map(|one| RankedMessage::of(index, one.at, one.score));
        let is_read =
            |place: &RankedMessage| usize::from(place.entry.cost) <= WHOLE && !question.shows(place.key);
        let places = places.filter(is_read);
        let places: Vec<RankedMessage> = places.take(READ_FOR_LATER).collect();
        let keys: Vec<EntryKey> = places.iter().map(|place| place.key).collect();
        for (place, message) in places.iter().zip(self.store().messages_at(&keys)?) {
            let message = message.filter(|message| check(message.id) == place.entry.check);
            let Some(text) = message.and_then(|message| words_of(&message)) else { continue };
            let names = words::of_names(&text, place.entry.language);
            let Some(at) = index.later(place.at, &names, SHORT) else { continue };
            let score = LATER * place.score;
            match ranked.iter_mut().find(|one| one.at == at) {
                Some(known) => known.score = known.score.max(score),
                None => ranked.push(Ranked { at, score }),
            }
        }
        Ok(best(ranked, usize::MAX))
    }

    /// Reads the selected messages. Skips messages that are gone or replaced by others.
    pub(super) fn read(
        &self,
        places: &[RankedMessage],
        asked: &IndexQuery,
        most: usize,
    ) -> Result<Vec<Recalled>, StoreError> {
        let keys: Vec<EntryKey> = places.iter().map(|place| place.key).collect();
        let terms: HashSet<Term> = asked.terms.iter().map(|one| one.term).collect();
        let found = self.store().messages_at(&keys)?;
        let recalled = places.iter().zip(found).filter_map(|(place, message)| {
            let message = message.filter(|message| check(message.id) == place.entry.check)?;
            let whole = words_of(&message)?;
            let is_part = estimate_tokens(&whole) > most;
            let text = if is_part { excerpt(&whole, &terms, place.entry.language, most) } else { whole };
            Some(Recalled { message, text, is_part, score: place.score })
        });
        Ok(without_repeats(recalled.collect()))
    }
}

/// Returns the similarity of each message to a question in meaning; empty if unknown.
fn alike(chat: &ChatIndex, vector: Option<&ByteVector>) -> Vec<f32> {
    let known = chat.vectors.as_ref().zip(vector);
    known.map(|(vectors, vector)| vectors.cosines(vector, chat.index.len())).unwrap_or_default()
}

/// Keeps only the latest of vital messages that say the same and are unrelated to the question.
fn without_repeats(recalled: Vec<Recalled>) -> Vec<Recalled> {
    let meaning = |one: &Recalled| {
        let author = one.message.speaker.as_ref().map(|speaker| &speaker.user);
        (one.message.importance >= f32::from(VITAL)).then(|| Statement::of(&one.text, author))
    };
    let meanings: Vec<Option<Statement>> = recalled.iter().map(meaning).collect();
    let said: Vec<_> =
        meanings.iter().zip(&recalled).map(|(said, one)| (said, one.message.created_at)).collect();
    let is_repeated = |one: &Recalled, meaning: &Option<Statement>| {
        let is_later = |at| at > one.message.created_at;
        one.score <= 0.0
            && meaning.is_some()
            && said.iter().any(|(said, at)| *said == meaning && is_later(*at))
    };
    let stays: Vec<bool> =
        recalled.iter().zip(&meanings).map(|(one, meaning)| !is_repeated(one, meaning)).collect();
    recalled.into_iter().zip(stays).filter_map(|(one, stays)| stays.then_some(one)).collect()
}

/// A selected message with its rank, to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankedMessage {
    pub(super) at: usize,
    pub(super) key: EntryKey,
    entry: IndexEntry,
    pub(super) score: f32,
}

impl RankedMessage {
    /// Returns the message at a position of an index; `None` if there is none.
    pub(super) fn of(index: &Index, at: usize, score: f32) -> Option<Self> {
        let (session, entry) = index.message(at)?;
        Some(Self { at, key: EntryKey { session, index: entry.index }, entry, score })
    }

    /// Returns it with another score.
    pub(super) const fn scored(self, score: f32) -> Self {
        Self { score, ..self }
    }
}

/// Returns `true` if the chat has messages that are not in the context anyway.
fn has_more(ends: &[SessionEnd], shown: Option<EntryKey>) -> bool {
    ends.iter().any(|end| match shown {
        Some(shown) if shown.session == end.session => shown.index > 0 && end.next_index > 0,
        _ => end.next_index > 0,
    })
}

pub(super) fn asked(index: &Index, question: &RecallQuery<'_>) -> IndexQuery {
    let mut languages: Vec<StemmerLanguage> = index.languages();
    if let Some(language) = words::detect(question.text).filter(|language| !languages.contains(language)) {
        languages.push(language);
    }
    let today = question.asked_at.with_timezone(&question.zone).date_naive();
    let mut terms = words::of_question(question.text, &languages, today);
    let is_short = terms.len() < FEW_TERMS;
    if is_short && let Some(before) = question.before {
        let more = words::of_question(before, &languages, today).into_iter();
        let known: HashSet<Term> = terms.iter().map(|one| one.term).collect();
        let more = more.filter(|one| !known.contains(&one.term));
        terms.extend(more.map(|one| words::Weighted { weight: one.weight * BEFORE_WEIGHT, ..one }));
    }
    IndexQuery { terms, speakers: words::possible_speakers(question.text), is_short, alike: Vec::new() }
}

/// Returns the maximum number of relevant messages considered.
const fn limit(question: &RecallQuery<'_>) -> usize {
    question.tokens / MIN_TOKENS * 2
}

/// Selects the messages that fit: first standing wishes and vital messages within their shares, then relevant ones, then
/// important ones.
fn choose(
    chat: &ChatIndex,
    question: &RecallQuery<'_>,
    asked: &IndexQuery,
    ends: &[SessionEnd],
    ranked: &[Ranked],
) -> Vec<SelectedMessage> {
    let index = &chat.index;
    let living: HashSet<SessionId> = ends.iter().map(|end| end.session).collect();
    let mut choosing =
        Choosing { index, question, living, left: question.tokens, days: HashSet::new(), chosen: Vec::new() };
    let mut important: Vec<usize> =
        index.entries().filter(|(_, entry)| entry.importance >= IMPORTANT).map(|(at, _)| at).collect();
    let importance = |at: &usize| index.message(*at).map_or(0, |(_, entry)| entry.importance);
    important.sort_by_key(|at| std::cmp::Reverse((importance(at), *at)));
    let is_within = |at: &usize| match (question.session, index.message(*at)) {
        (Some(session), Some((of, _))) => of == session,
        _ => true,
    };
    let is_vital = |at: &&usize| importance(at) >= if is_within(at) { VITAL } else { VITAL_ANYWHERE };
    let told = |at: usize| SelectedMessage { at, score: 0.0 };
    // If the costs were too low, the last messages are dropped: wishes come before what only seems vital.
    for (wish, share) in [(StatedWish::Standing, SHARE_OF_WISHES), (StatedWish::Taste, SHARE_OF_TASTES)] {
        choosing.take_share(wishes(index, question, ranked, wish).into_iter().map(told), share);
    }
    choosing.take_share(important.iter().filter(is_vital).copied().map(told), SHARE_OF_VITAL);
    choosing.take_ranked(ranked, &index.nearest(asked, question.session, limit(question)));
    for at in important.into_iter().filter(is_within) {
        choosing.take(told(at), question.tokens);
    }
    let mut chosen = choosing.chosen;
    chosen.sort_by(|one, other| other.score.total_cmp(&one.score));
    chosen
}

/// Returns the wishes of a kind that apply to the question: relevant ones first, best first, then the latest.
fn wishes(index: &Index, question: &RecallQuery<'_>, ranked: &[Ranked], wish: StatedWish) -> Vec<usize> {
    let scores: HashMap<usize, f32> = ranked.iter().map(|one| (one.at, one.score)).collect();
    let is_within = |at: usize| {
        question.session.is_none_or(|only| index.message(at).is_some_and(|(session, _)| session == only))
    };
    let all = index.entries().filter(|(at, entry)| entry.wish == Some(wish) && is_within(*at));
    let all = all.map(|(at, _)| Ranked { at, score: scores.get(&at).copied().unwrap_or(0.0) });
    best(all.collect(), usize::MAX).into_iter().map(|one| one.at).collect()
}

/// Returns the maximum tokens of one message, less than the whole room.
fn most_of_one(question: &RecallQuery<'_>) -> usize {
    (question.tokens / 2).clamp(MIN_EXCERPT, MAX_TOKENS)
}

struct Choosing<'a> {
    index: &'a Index,
    question: &'a RecallQuery<'a>,
    living: HashSet<SessionId>,
    left: usize,
    days: HashSet<i64>,
    chosen: Vec<SelectedMessage>,
}

impl Choosing<'_> {
    /// Takes those that fit into one `part`th of the room.
    fn take_share(&mut self, all: impl Iterator<Item = SelectedMessage>, part: usize) {
        let tokens = self.question.tokens;
        let most = tokens - self.left + tokens / part;
        for one in all {
            if most < tokens - self.left + MIN_TOKENS {
                return;
            }
            self.take(one, most);
        }
    }

    /// Takes relevant messages that fit, best first. One in [`SHARE_OF_MEANING`] is a message near in meaning that was
    /// not taken yet: its words may have nothing in common with the question.
    fn take_ranked(&mut self, ranked: &[Ranked], nearest: &[Ranked]) {
        let (mut ranked, mut nearest) = (ranked.iter(), nearest.iter());
        let (begun, mut by_meaning, mut score) = (self.left, 0, 0.0);
        while self.left >= MIN_TOKENS {
            let left = self.left;
            let is_due = by_meaning * SHARE_OF_MEANING < begun - left;
            if let Some(next) = is_due.then(|| nearest.find(|near| !self.has(near.at))).flatten() {
                self.take(SelectedMessage { at: next.at, score }, self.question.tokens);
                by_meaning += left - self.left;
            } else if let Some(next) = ranked.next() {
                score = next.score;
                self.take(SelectedMessage { at: next.at, score }, self.question.tokens);
            } else {
                return;
            }
        }
    }

    fn has(&self, at: usize) -> bool {
        self.chosen.iter().any(|chosen| chosen.at == at)
    }

    /// Takes a message if it fits, is not in the context anyway, and the total stays within `most` tokens. A message
    /// taken before gets the better score.
    fn take(&mut self, one: SelectedMessage, most: usize) {
        if let Some(before) = self.chosen.iter_mut().find(|before| before.at == one.at) {
            before.score = before.score.max(one.score);
            return;
        }
        let Some((session, entry)) = self.index.message(one.at) else { return };
        let is_shown = self.question.shows(EntryKey { session, index: entry.index });
        if is_shown || !self.living.contains(&session) {
            return;
        }
        let day = entry.at.div_euclid(86_400);
        let cost = usize::from(entry.cost).min(most_of_one(self.question) + LINE_TOKENS)
            + if self.days.contains(&day) { 0 } else { DAY_TOKENS };
        let taken = self.question.tokens - self.left;
        if cost > self.left || taken + cost > most {
            return;
        }
        self.left -= cost;
        self.days.insert(day);
        self.chosen.push(one);
    }
}
