//! Comparison of memories.

use std::collections::HashSet;

use super::judge::terms;
use super::lexicon::{LEXICON, NormalizedText, is_unspaced};
use figaro_domain::facts::same_words;

/// Minimum share of common terms in texts that say the same.
const SAME: f32 = 0.8;
/// Minimum share of common terms if one text is more precise than the other.
const NEARLY: f32 = 0.6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Both say the same.
    Same,
    /// The second makes the first more precise, updates it or negates it.
    Newer,
    /// The texts are about different things.
    Other,
}

/// Compares a known text with a new one.
pub(super) fn likeness(known: &str, new: &str) -> Likeness {
    if same_words(known, new) {
        return Likeness::Same;
    }
    let of_words = Overlap::of(&words_of(known), &words_of(new));
    // Most texts have no word in common; scripts without spaces are compared by their pieces below.
    if of_words.both == 0 && is_spaced(known) && is_spaced(new) {
        return Likeness::Other;
    }
    // A text too short to show its language takes that of the other.
    let language_of = format!("{known}. {new}");
    let of_stems = Overlap::of(&terms(known, &language_of), &terms(new, &language_of));
    let is_alike = numbers(known) == numbers(new);
    // If only a number differs, the second is the later state.
    if !is_alike && !of_words.is_but_for(1) {
        return Likeness::Other;
    }
    match negates(known) == negates(new) && is_alike {
        true if of_stems.share >= SAME => Likeness::Same,
        false if of_stems.share >= SAME || of_words.is_but_for(1) => Likeness::Newer,
        _ if of_words.share >= NEARLY && of_words.is_part => Likeness::Newer,
        _ => Likeness::Other,
    }
}

/// Overlap of the words of two texts.
struct Overlap {
    /// Share of common words among all words.
    share: f32,
    /// `true` if one has all words of the other.
    is_part: bool,
    both: usize,
    most: usize,
}

impl Overlap {
    fn of(one: &HashSet<String>, other: &HashSet<String>) -> Self {
        let both = one.iter().filter(|word| other.iter().any(|other| is_form(word, other))).count();
        let both = both.min(other.len());
        let all = (one.len() + other.len() - both).max(1);
        #[expect(clippy::cast_precision_loss, reason = "a memory has few words")]
        let share = both as f32 / all as f32;
        let (least, most) = (one.len().min(other.len()), one.len().max(other.len()));
        Self { share, is_part: both == least && least > 0, both, most }
    }

    /// Returns `true` if all but `count` words are common, and these are the majority.
    const fn is_but_for(&self, count: usize) -> bool {
        self.both + count >= self.most && self.both > count
    }
}

fn is_spaced(text: &str) -> bool {
    !text.chars().any(is_unspaced)
}

/// Returns the words of a text, except those about the speaker.
fn words_of(text: &str) -> HashSet<String> {
    let who = [&LEXICON.subjects, &LEXICON.possessives, &LEXICON.negations];
    let plain = NormalizedText::of(text);
    let words = plain
        .words()
        .filter(|word| !who.iter().any(|list| list.are_in(&NormalizedText(format!(" {word} ")))));
    words.map(str::to_owned).collect()
}

/// Returns `true` if two words may be forms of one: in an unknown language, stems keep their endings.
fn is_form(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let both = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    one == other || (both >= 4 && both + 2 >= one.len().max(other.len()))
}

fn negates(text: &str) -> bool {
    LEXICON.negations.are_in(&NormalizedText::of(text))
}

fn numbers(text: &str) -> HashSet<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_goes_by_words_numbers_and_negations() {
        use Likeness::{Newer, Other, Same};
        for (known, new, wanted) in [
            ("Lives in Riga", "lives in riga.", Same),
            ("I live in Riga", "Lives in Riga", Same),
            ("Lives in Riga", "Lives in Rome", Other),
            ("I like tea", "I like green tea", Newer),
            ("I like tea", "I don't like tea", Newer),
            ("My daughter Mia is 5", "My daughter Mia is 6", Newer),
            ("My daughter Mia is 5", "My son Max is 5", Other),
            ("Moro em Lisboa", "moro em lisboa", Same),
            ("我住在里加", "我住在里加。", Same),
            ("我住在里加", "我在银行工作", Other),
        ] {
            assert_eq!(likeness(known, new), wanted, "{known} / {new}");
        }
    }
}
