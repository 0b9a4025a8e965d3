//! Whether a message says what a model proposes to remember of it.

use std::collections::HashSet;

use super::super::words::{self, detect};
use super::lexicon::{LEXICON, Plain, is_unspaced};
use super::own::{holds, own_words, sentences};
use super::secrets::has_secret;
use super::subject::{About, clauses, split};
use figaro_domain::memory::MAX_CONTENT_CHARS;
use figaro_domain::message::Span;

/// At least this share of what a memory says has to stand in the person's own words.
const SUPPORT: f32 = 0.5;
/// Shorter words say no fact.
const MIN_CHARS: usize = 4;
/// Chinese and Japanese say one in fewer.
const MIN_UNSPACED_CHARS: usize = 3;

/// A message as the rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Its text.
    pub text: &'a str,
    /// The parts of it that are not its writer's own words.
    pub foreign: &'a [Span],
}

/// Why something is not remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The person did not say it: it is quoted, forwarded, code, made up, or of a message that there is not.
    NotSaid,
    /// It orders the bot something, or is about its rules and rights.
    Order,
    /// It is about somebody else.
    Others,
    /// It is asked, joked, thought up, or says nothing that lasts.
    NoFact,
    /// It is a secret.
    Secret,
    /// It is too long or too short.
    Length,
    /// It is remembered already.
    Known,
    /// It is about a memory that there is not.
    NoMemory,
}

/// Whether a message says this: `quote` are the words that say it, `content` is what would be remembered.
///
/// # Errors
/// Why it does not.
pub(crate) fn judge(said: Said<'_>, quote: &str, content: &str) -> Result<(), Refusal> {
    let least = if content.is_ascii() { MIN_CHARS } else { MIN_UNSPACED_CHARS };
    let chars = content.trim().chars().count();
    if !(least..=MAX_CONTENT_CHARS).contains(&chars) || content.trim().contains('\n') {
        return Err(Refusal::Length);
    }
    if has_secret(quote) || has_secret(content) {
        return Err(Refusal::Secret);
    }
    let own = own_words(said.text, said.foreign);
    // Words on both sides of what was taken out were never said in a row.
    if said.text.starts_with('/') || !holds(&own, quote) {
        return Err(Refusal::NotSaid);
    }
    let around: Vec<&str> = sentences(&own).into_iter().filter(|sentence| touches(sentence, quote)).collect();
    let plain = Plain::of(&around.join(" "));
    if is_order(&plain) || is_order(&Plain::of(content)) {
        return Err(Refusal::Order);
    }
    if is_no_fact(&own, &around, &plain, quote) {
        return Err(Refusal::NoFact);
    }
    about_writer(&around, quote, content, &own)
}

/// Whether a message may say a fact about its writer, in a sentence or a part of one, so that it is worth reading and they are
/// asked whether it may be remembered.
#[must_use]
pub fn may_hold_fact(said: Said<'_>) -> bool {
    let own = own_words(said.text, said.foreign);
    sentences(&own).into_iter().any(|sentence| {
        let is_fact = |words: &str| judge(said, words.trim(), words.trim()).is_ok();
        // What is to be done tomorrow may stand beside what lasts.
        let is_mixed = || LEXICON.passing.are_in(&Plain::of(sentence));
        is_fact(sentence) || (is_mixed() && split(sentence).into_iter().any(|(part, _)| is_fact(part)))
    })
}

/// Whether a sentence and a quotation from the same text have words in common, one after the other.
fn touches(sentence: &str, quote: &str) -> bool {
    holds(sentence, quote) || sentences(quote).into_iter().any(|part| holds(sentence, part))
}

fn is_order(plain: &Plain) -> bool {
    let words = &*LEXICON;
    let is_resolution = words.resolutions.are_in(plain);
    words.orders.are_in(plain) || (words.standing.are_in(plain) && !is_resolution)
}

fn is_no_fact(own: &str, around: &[&str], plain: &Plain, quote: &str) -> bool {
    let words = &*LEXICON;
    let laughs = words.laughs.iter().any(|laugh| own.contains(laugh.as_str()));
    let is_meant = !laughs && !words.jokes.are_in(&Plain::of(own)) && !words.imagined.are_in(plain);
    let is_lasting = !words.passing.are_in(&Plain::of(quote));
    let is_told = around.iter().all(|sentence| !asks(sentence, quote));
    let says_something = informative(quote).count() > 0;
    !(is_meant && is_lasting && is_told && says_something)
}

/// Whether a sentence asks what the quotation says: a statement may stand before the question, parted from it.
fn asks(sentence: &str, quote: &str) -> bool {
    let is_question = sentence.trim_end().ends_with(['?', '？', '؟']) || sentence.contains('¿');
    if !is_question {
        return false;
    }
    let cut = sentence.rfind([',', ';', '，', '、', '،', '–', '—']);
    cut.is_none_or(|cut| !holds(&sentence[..cut], quote) || sentence[..cut].contains('¿'))
}

/// The words of a text that say something.
fn informative(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> = Plain::of(text).words().map(str::to_owned).collect();
    words.into_iter().filter(|word| {
        let one = Plain(format!(" {word} "));
        let lists =
            [&LEXICON.subjects, &LEXICON.possessives, &LEXICON.objects, &LEXICON.talk, &LEXICON.negations];
        let is_unspaced = word.chars().any(is_unspaced);
        is_unspaced || (!lists.iter().any(|list| list.are_in(&one)) && word.chars().count() > 1)
    })
}

/// What is said has to be about the writer, and what would be remembered has to be that.
fn about_writer(around: &[&str], quote: &str, content: &str, own: &str) -> Result<(), Refusal> {
    let parts: Vec<(Plain, About)> = around.iter().flat_map(|sentence| clauses(sentence)).collect();
    let quoted = Plain::of(quote);
    let is_quoted = |clause: &Plain| {
        let (clause, quoted) = (clause.0.trim(), quoted.0.trim());
        quoted.contains(clause) || clause.contains(quoted)
    };
    let of_quote: Vec<&(Plain, About)> = parts.iter().filter(|(clause, _)| is_quoted(clause)).collect();
    // A quotation over a part that was taken for one and half of another.
    let of_quote = if of_quote.is_empty() { parts.iter().collect() } else { of_quote };
    let terms_of = |wanted: fn(About) -> bool| -> HashSet<String> {
        let of = of_quote.iter().filter(|(_, about)| wanted(*about));
        of.flat_map(|(clause, _)| terms(&clause.0, own)).collect()
    };
    let of_writer = terms_of(|about| about == About::Writer);
    if of_writer.is_empty() {
        return Err(Refusal::Others);
    }
    let of_others = terms_of(|about| about != About::Writer);
    let wanted = terms(content, own);
    if wanted.iter().any(|term| of_others.contains(term) && !of_writer.contains(term)) {
        return Err(Refusal::Others);
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
    if is_supported && has_numbers { Ok(()) } else { Err(Refusal::NotSaid) }
}

/// The stems of a text in the language of the message that it is of.
pub(super) fn terms(text: &str, own: &str) -> HashSet<String> {
    words::stems(&Plain::of(text).0, detect(own)).into_iter().collect()
}
