//! The older messages of a chat that bear on a question, as many as fit.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::chats::{ChatIndex, Chats};
use super::excerpt::excerpt;
use super::index::{Asked, Entry, Index, Ranked, best};
use super::question::Question;
use super::remember::{LINE_TOKENS, MAX_TOKENS, WHOLE, check, words_of};
use super::repeats::Said;
use super::words::{self, Language, Term};
use figaro_base::ids::{ChatId, SessionId};
use figaro_base::text::estimate_tokens;
use figaro_domain::conversation::{EntryKey, Message};
use figaro_domain::usage::Payer;
use figaro_domain::vector::ByteVector;
use figaro_store::{SessionEnd, StoreError};

/// The date above the messages of a day takes about so many tokens.
const DAY_TOKENS: usize = 9;
/// A part of a message of fewer tokens than this says nothing.
const MIN_EXCERPT: usize = 40;
/// No message takes fewer.
const MIN_TOKENS: usize = 5;
/// Messages of at least this importance come first, whatever is asked, within a [`SHARE_OF_VITAL`] of the room.
const VITAL: u8 = 9;
/// Such messages of other sessions of the chat too.
const VITAL_ANYWHERE: u8 = 10;
/// One part of so many.
const SHARE_OF_VITAL: usize = 12;
/// One part of so many of the room is for standing wishes, those first that bear on the question.
const SHARE_OF_WISHES: usize = 12;
/// So many of the best messages are read for the rare things that they name: what was said of these later may have changed them.
const READ_FOR_LATER: usize = 3;
/// What takes more tokens than this says more than that something has changed.
const SHORT: usize = 64;
/// So much of the score of a message has at least what was said later of a rare thing in it.
const LATER: f32 = 0.5;
/// Messages of at least this importance take what room is left.
const IMPORTANT: u8 = 8;
/// One part of so many of the room is for messages that are near in meaning, whatever their words.
const SHARE_OF_MEANING: usize = 4;
/// A question of fewer terms than this goes on with what was said before it.
const FEW_TERMS: usize = 2;
/// How much the terms of what was said before count.
const BEFORE_WEIGHT: f32 = 0.5;

/// An older message that bears on a question.
#[derive(Debug, Clone)]
pub struct Recalled {
    /// The message, whole.
    pub message: Arc<Message>,
    /// What of it is shown.
    pub text: String,
    /// Whether that is only a part.
    pub is_part: bool,
    /// The more the better; comparable within one question.
    pub score: f32,
}

/// A message that is to be shown.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    at: usize,
    score: f32,
}

impl Chats {
    /// The older messages that bear on a question, best first. Their costs are estimates: a caller that must keep to its tokens
    /// counts them, and leaves the last ones out.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recall(&self, question: &Question<'_>) -> Result<Vec<Recalled>, StoreError> {
        let ends = self.store().session_ends(question.chat).await?;
        if !has_more(&ends, question.shown) || question.tokens < MIN_TOKENS {
            return Ok(Vec::new());
        }
        let place = self.of(question.chat);
        let mut held = place.lock().await;
        let mut chat = self.ready(&mut held, question, &ends).await?;
        let mut asked = asked(&chat.index, question);
        if let Some(text) = self.meant(chat, question, &asked) {
            // The embedder may take long: other questions of the chat do not wait for it.
            drop(held);
            let vector = self.vector_of(question, &text).await;
            held = place.lock().await;
            chat = self.ready(&mut held, question, &ends).await?;
            asked.alike = alike(chat, vector.as_ref());
        }
        let ranked = chat.index.rank(&asked, question.session, limit(question));
        let ranked = self.with_later(&chat.index, question, ranked).await?;
        let chosen = choose(chat, question, &asked, &ends, &ranked);
        self.measured(question.chat, chat.bytes());
        let places: Vec<Place> = chosen.iter().filter_map(|one| place_of(&chat.index, one)).collect();
        drop(held);
        self.read(&places, &asked, most_of_one(question)).await
    }

    /// The index of the chat with all that was said until these ends, and its vectors. What fails leaves no half of an index
    /// behind: it is loaded again.
    async fn ready<'a>(
        &self,
        held: &'a mut Option<ChatIndex>,
        question: &Question<'_>,
        ends: &[SessionEnd],
    ) -> Result<&'a ChatIndex, StoreError> {
        let mut chat = match held.take() {
            Some(chat) => chat,
            None => self.load(question.chat).await?,
        };
        if self.catch_up(question.chat, &mut chat, ends, question.zone).await? {
            self.load_vectors(&mut chat, ends).await?;
        } else {
            tracing::debug!(chat = %question.chat, "the index of a chat is being made; not all of it was looked through");
        }
        Ok(held.insert(chat))
    }

    /// The words whose vector is asked for; `None` where the chat has no vectors to compare it with.
    fn meant(&self, chat: &ChatIndex, question: &Question<'_>, asked: &Asked) -> Option<String> {
        let has_vectors = chat.vectors.as_ref().is_some_and(|vectors| !vectors.is_empty());
        self.meaning().filter(|_| has_vectors)?;
        Some(match question.before {
            Some(before) if asked.is_short => format!("{before}\n{}", question.text),
            _ => question.text.to_owned(),
        })
    }

    /// The vector of what is asked, on the bill of whoever asks; `None` where none comes in time.
    async fn vector_of(&self, question: &Question<'_>, text: &str) -> Option<ByteVector> {
        let payer = Payer { chat: question.chat, user: question.user.clone() };
        self.meaning()?.of_question(text, payer).await
    }

    /// Whether a chat has other sessions than this in which something was said.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_others(&self, chat: ChatId, session: SessionId) -> Result<bool, StoreError> {
        let ends = self.store().session_ends(chat).await?;
        Ok(ends.iter().any(|end| end.session != session && end.next_index > 0))
    }

    /// What bears on a question, and what was said later of a rare thing that the best of it names.
    async fn with_later(
        &self,
        index: &Index,
        question: &Question<'_>,
        mut ranked: Vec<Ranked>,
    ) -> Result<Vec<Ranked>, StoreError> {
        let places =
            ranked.iter().filter_map(|one| place_of(index, &Chosen { at: one.at, score: one.score }));
        let is_read = |place: &Place| usize::from(place.entry.cost) <= WHOLE && !question.shows(place.key);
        let places = places.filter(is_read);
        let places: Vec<Place> = places.take(READ_FOR_LATER).collect();
        let keys: Vec<EntryKey> = places.iter().map(|place| place.key).collect();
        for (place, message) in places.iter().zip(self.store().messages_at(&keys).await?) {
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

    /// Reads what was chosen. What is there no more, or is another message by now, is left out.
    async fn read(&self, places: &[Place], asked: &Asked, most: usize) -> Result<Vec<Recalled>, StoreError> {
        let keys: Vec<EntryKey> = places.iter().map(|place| place.key).collect();
        let terms: HashSet<Term> = asked.terms.iter().map(|one| one.term).collect();
        let found = self.store().messages_at(&keys).await?;
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

/// How near each message is to a question in meaning; nothing where that is not known.
fn alike(chat: &ChatIndex, vector: Option<&ByteVector>) -> Vec<f32> {
    let known = chat.vectors.as_ref().zip(vector);
    known.map(|(vectors, vector)| vectors.cosines(vector, chat.index.len())).unwrap_or_default()
}

/// Of vital messages that say the same, and that the question is not about, the latest stays.
fn without_repeats(recalled: Vec<Recalled>) -> Vec<Recalled> {
    let meaning = |one: &Recalled| {
        let author = one.message.speaker.as_ref().map(|speaker| &speaker.user);
        (one.message.importance >= f32::from(VITAL)).then(|| Said::of(&one.text, author))
    };
    let meanings: Vec<Option<Said>> = recalled.iter().map(meaning).collect();
    let said: Vec<_> =
        meanings.iter().zip(&recalled).map(|(said, one)| (said, one.message.created_at)).collect();
    let is_repeated = |one: &Recalled, meaning: &Option<Said>| {
        let is_later = |at| at > one.message.created_at;
        one.score <= 0.0
            && meaning.is_some()
            && said.iter().any(|(said, at)| *said == meaning && is_later(*at))
    };
    let stays: Vec<bool> =
        recalled.iter().zip(&meanings).map(|(one, meaning)| !is_repeated(one, meaning)).collect();
    recalled.into_iter().zip(stays).filter_map(|(one, stays)| stays.then_some(one)).collect()
}

/// A chosen message, to be read.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: usize,
    key: EntryKey,
    entry: Entry,
    score: f32,
}

fn place_of(index: &Index, chosen: &Chosen) -> Option<Place> {
    let (session, entry) = index.message(chosen.at)?;
    Some(Place { at: chosen.at, key: EntryKey { session, index: entry.index }, entry, score: chosen.score })
}

/// Whether the chat has messages that are not shown anyway.
fn has_more(ends: &[SessionEnd], shown: Option<EntryKey>) -> bool {
    ends.iter().any(|end| match shown {
        Some(shown) if shown.session == end.session => shown.index > 0 && end.next_index > 0,
        _ => end.next_index > 0,
    })
}

fn asked(index: &Index, question: &Question<'_>) -> Asked {
    let mut languages: Vec<Language> = index.languages();
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
    Asked { terms, speakers: words::possible_speakers(question.text), is_short, alike: Vec::new() }
}

/// How many messages that bear on a question are looked at.
const fn limit(question: &Question<'_>) -> usize {
    question.tokens / MIN_TOKENS * 2
}

/// What fits: first what is wished for and what is vital, within their shares, then what bears on the question, then what is
/// important.
fn choose(
    chat: &ChatIndex,
    question: &Question<'_>,
    asked: &Asked,
    ends: &[SessionEnd],
    ranked: &[Ranked],
) -> Vec<Chosen> {
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
    let told = |at: usize| Chosen { at, score: 0.0 };
    // Where the costs were too low, what stands last is left out: wishes stand before what seems vital.
    choosing.take_share(wishes(index, question, ranked).into_iter().map(told), SHARE_OF_WISHES);
    choosing.take_share(important.iter().filter(is_vital).copied().map(told), SHARE_OF_VITAL);
    choosing.take_ranked(ranked, &index.nearest(asked, question.session, limit(question)));
    for at in important.into_iter().filter(is_within) {
        choosing.take(told(at), question.tokens);
    }
    let mut chosen = choosing.chosen;
    chosen.sort_by(|one, other| other.score.total_cmp(&one.score));
    chosen
}

/// The standing wishes that count where this is asked: those first that bear on the question, best first, then the latest.
fn wishes(index: &Index, question: &Question<'_>, ranked: &[Ranked]) -> Vec<usize> {
    let scores: HashMap<usize, f32> = ranked.iter().map(|one| (one.at, one.score)).collect();
    let is_within = |at: usize| {
        question.session.is_none_or(|only| index.message(at).is_some_and(|(session, _)| session == only))
    };
    let all = index.entries().filter(|(at, entry)| entry.is_wish && is_within(*at));
    let all = all.map(|(at, _)| Ranked { at, score: scores.get(&at).copied().unwrap_or(0.0) });
    best(all.collect(), usize::MAX).into_iter().map(|one| one.at).collect()
}

/// How many tokens one message may take: not all there are.
fn most_of_one(question: &Question<'_>) -> usize {
    (question.tokens / 2).clamp(MIN_EXCERPT, MAX_TOKENS)
}

struct Choosing<'a> {
    index: &'a Index,
    question: &'a Question<'a>,
    living: HashSet<SessionId>,
    left: usize,
    days: HashSet<i64>,
    chosen: Vec<Chosen>,
}

impl Choosing<'_> {
    /// Takes those of these that fit into one part of so many of the room.
    fn take_share(&mut self, all: impl Iterator<Item = Chosen>, part: usize) {
        let tokens = self.question.tokens;
        let most = tokens - self.left + tokens / part;
        for one in all {
            if most < tokens - self.left + MIN_TOKENS {
                return;
            }
            self.take(one, most);
        }
    }

    /// Takes what fits of those that bear on the question, best first. Among them, as one part of [`SHARE_OF_MEANING`], stand
    /// those that are near in meaning and were not taken: their words may have nothing in common with the question.
    fn take_ranked(&mut self, ranked: &[Ranked], nearest: &[Ranked]) {
        let (mut ranked, mut nearest) = (ranked.iter(), nearest.iter());
        let (begun, mut by_meaning, mut score) = (self.left, 0, 0.0);
        while self.left >= MIN_TOKENS {
            let left = self.left;
            let is_due = by_meaning * SHARE_OF_MEANING < begun - left;
            if let Some(next) = is_due.then(|| nearest.find(|near| !self.has(near.at))).flatten() {
                self.take(Chosen { at: next.at, score }, self.question.tokens);
                by_meaning += left - self.left;
            } else if let Some(next) = ranked.next() {
                score = next.score;
                self.take(Chosen { at: next.at, score }, self.question.tokens);
            } else {
                return;
            }
        }
    }

    fn has(&self, at: usize) -> bool {
        self.chosen.iter().any(|chosen| chosen.at == at)
    }

    /// Takes a message if it fits, is not shown anyway, and no more than so many tokens are taken then. One that was taken before
    /// gets the better score.
    fn take(&mut self, one: Chosen, most: usize) {
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
