//! Checks whether a message supports a fact that a model proposes to remember.

use std::collections::HashSet;

use super::super::words::{self, detect};
use super::lexicon::{LEXICON, NormalizedText, is_unspaced};
use super::own::{holds, own_words, sentences};
use super::secrets::has_secret;
use super::subject::{SentenceSubject, clauses, split};
use figaro_domain::memory::MAX_CONTENT_CHARS;
use figaro_domain::message::Span;

/// Minimum share of a memory's content that has to occur in the person's own words.
const SUPPORT: f32 = 0.5;
/// Minimum characters of a fact.
const MIN_CHARS: usize = 4;
/// Minimum characters of a fact in Chinese or Japanese.
const MIN_UNSPACED_CHARS: usize = 3;

/// A message to be judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgedMessage<'a> {
    /// Text of the message.
    pub text: &'a str,
    /// Parts that are not the writer's own words.
    pub foreign: &'a [Span],
}

/// Reason why a proposal is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactRefusal {
    /// The person did not say it: it is quoted, forwarded, code, made up, or from a message that does not exist.
    NotSaid,
    /// It is an order to the bot, or is about its rules and rights.
    Order,
    /// The fact is about somebody else.
    Others,
    /// It is a question, a joke, imagined, or says nothing lasting.
    NoFact,
    /// It contains a secret, such as a password.
    Secret,
    /// The fact is too long or too short.
    Length,
    /// The same fact is remembered already.
    Known,
    /// The memory it refers to does not exist.
    NoMemory,
}

/// Checks that a message supports a fact: `quote` are the words that say it, `content` is the text to remember.
///
/// # Errors
/// The reason of the refusal.
pub(crate) fn judge(said: JudgedMessage<'_>, quote: &str, content: &str) -> Result<(), FactRefusal> {
    let least = if content.is_ascii() { MIN_CHARS } else { MIN_UNSPACED_CHARS };
    let chars = content.trim().chars().count();
    if !(least..=MAX_CONTENT_CHARS).contains(&chars) || content.trim().contains('\n') {
        return Err(FactRefusal::Length);
    }
    if has_secret(quote) || has_secret(content) {
        return Err(FactRefusal::Secret);
    }
    let own = own_words(said.text, said.foreign);
    // Words on both sides of a cut were never said in a row.
    if said.text.starts_with('/') || !holds(&own, quote) {
        return Err(FactRefusal::NotSaid);
    }
    let around: Vec<&str> = sentences(&own).into_iter().filter(|sentence| touches(sentence, quote)).collect();
    let plain = NormalizedText::of(&around.join(" "));
    if is_order(&plain) || is_order(&NormalizedText::of(content)) {
        return Err(FactRefusal::Order);
    }
    if is_no_fact(&own, &around, &plain, quote) {
        return Err(FactRefusal::NoFact);
    }
    about_writer(&around, quote, content, &own)
}

/// Returns `true` if a message may state a fact about its writer, in a sentence or a part of one, so that it is worth
/// reading and asking for consent.
#[must_use]
pub fn may_hold_fact(said: JudgedMessage<'_>) -> bool {
    let own = own_words(said.text, said.foreign);
    sentences(&own).into_iter().any(|sentence| {
        let is_fact = |words: &str| judge(said, words.trim(), words.trim()).is_ok();
        // A plan for tomorrow may stand beside a lasting fact.
        let is_mixed = || LEXICON.passing.are_in(&NormalizedText::of(sentence));
        is_fact(sentence) || (is_mixed() && split(sentence).into_iter().any(|(part, _)| is_fact(part)))
    })
}

/// Returns `true` if a sentence and a quotation from the same text share consecutive words.
fn touches(sentence: &str, quote: &str) -> bool {
    holds(sentence, quote) || sentences(quote).into_iter().any(|part| holds(sentence, part))
}

fn is_order(plain: &NormalizedText) -> bool {
    let words = &*LEXICON;
    let is_resolution = words.resolutions.are_in(plain);
    words.orders.are_in(plain) || (words.standing.are_in(plain) && !is_resolution)
}

fn is_no_fact(own: &str, around: &[&str], plain: &NormalizedText, quote: &str) -> bool {
    let words = &*LEXICON;
    let laughs = words.laughs.iter().any(|laugh| own.contains(laugh.as_str()));
    let is_meant = !laughs && !words.jokes.are_in(&NormalizedText::of(own)) && !words.imagined.are_in(plain);
    let is_lasting = !words.passing.are_in(&NormalizedText::of(quote));
    let is_told = around.iter().all(|sentence| !asks(sentence, quote));
    let says_something = informative(quote).count() > 0;
    !(is_meant && is_lasting && is_told && says_something)
}

/// Returns `true` if a sentence asks what the quotation says; a statement may precede the question, separated by
/// punctuation.
fn asks(sentence: &str, quote: &str) -> bool {
    let is_question = sentence.trim_end().ends_with(['?', '？', '؟']) || sentence.contains('¿');
    if !is_question {
        return false;
    }
    let cut = sentence.rfind([',', ';', '，', '、', '،', '–', '—']);
    cut.is_none_or(|cut| !holds(&sentence[..cut], quote) || sentence[..cut].contains('¿'))
}

/// Returns the words of a text that carry meaning.
fn informative(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> = NormalizedText::of(text).words().map(str::to_owned).collect();
    words.into_iter().filter(|word| {
        let one = NormalizedText(format!(" {word} "));
        let lists =
            [&LEXICON.subjects, &LEXICON.possessives, &LEXICON.objects, &LEXICON.talk, &LEXICON.negations];
        let is_unspaced = word.chars().any(is_unspaced);
        is_unspaced || (!lists.iter().any(|list| list.are_in(&one)) && word.chars().count() > 1)
    })
}

/// Checks that the quotation is about the writer, and that the content to remember rests on those parts.
fn about_writer(around: &[&str], quote: &str, content: &str, own: &str) -> Result<(), FactRefusal> {
    let parts: Vec<(NormalizedText, SentenceSubject)> =
        around.iter().flat_map(|sentence| clauses(sentence)).collect();
    let quoted = NormalizedText::of(quote);
    let is_quoted = |clause: &NormalizedText| {
        let (clause, quoted) = (clause.0.trim(), quoted.0.trim());
        quoted.contains(clause) || clause.contains(quoted)
    };
    let of_quote: Vec<&(NormalizedText, SentenceSubject)> =
        parts.iter().filter(|(clause, _)| is_quoted(clause)).collect();
    // A quotation may span one detected part and half of another.
    let of_quote = if of_quote.is_empty() { parts.iter().collect() } else { of_quote };
    let terms_of = |wanted: fn(SentenceSubject) -> bool| -> HashSet<String> {
        let of = of_quote.iter().filter(|(_, about)| wanted(*about));
        of.flat_map(|(clause, _)| terms(&clause.0, own)).collect()
    };
    let of_writer = terms_of(|about| about == SentenceSubject::Writer);
    if of_writer.is_empty() {
        return Err(FactRefusal::Others);
    }
    let of_others = terms_of(|about| about != SentenceSubject::Writer);
    let wanted = terms(content, own);
    if wanted.iter().any(|term| of_others.contains(term) && !of_writer.contains(term)) {
        return Err(FactRefusal::Others);
    }
    let all = terms(own, own);
    let supported = wanted.iter().filter(|term| all.contains(*term)).count();
    let numbers = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_ascii_digit());
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let has_numbers = numbers(content).is_subset(&numbers(own));
    #[expect(clippy::cast_precision_loss, reason = "a memory has few words")]
    let is_supported = !wanted.is_empty() && supported as f32 >= wanted.len() as f32 * SUPPORT;
    if is_supported && has_numbers { Ok(()) } else { Err(FactRefusal::NotSaid) }
}

/// Returns the stems of a text, in the language of the message that it comes from.
pub(super) fn terms(text: &str, own: &str) -> HashSet<String> {
    words::stems(&NormalizedText::of(text).0, detect(own)).into_iter().collect()
}
