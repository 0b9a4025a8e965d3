//! Whether two memories say the same.

use std::collections::HashSet;

use super::judge::terms;
use super::lexicon::{LEXICON, Plain, is_unspaced};
use figaro_domain::facts::same_words;

/// Of all terms of two texts so many are in both, where they say the same.
const SAME: f32 = 0.8;
/// So many, where one says the other more closely.
const NEARLY: f32 = 0.6;

/// How two memories are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// They say the same.
    Same,
    /// The second says what the first says, more closely or the other way round.
    Newer,
    /// They say different things.
    Other,
}

/// How what is known is related to what is new.
pub(super) fn likeness(known: &str, new: &str) -> Likeness {
    if same_words(known, new) {
        return Likeness::Same;
    }
    let of_words = Overlap::of(&words_of(known), &words_of(new));
    // Most have no word in common; scripts without spaces are compared by their pieces below.
    if of_words.both == 0 && is_spaced(known) && is_spaced(new) {
        return Likeness::Other;
    }
    // What is too short to tell its language is told by the other.
    let language_of = format!("{known}. {new}");
    let of_stems = Overlap::of(&terms(known, &language_of), &terms(new, &language_of));
    let is_alike = numbers(known) == numbers(new);
    // Of two that differ in a number alone the second is of a later time.
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

/// What two texts have in common.
struct Overlap {
    /// Of all their words this part.
    share: f32,
    /// One has all words of the other.
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

    /// Whether all words but so many are in both, and these are most of them.
    const fn is_but_for(&self, count: usize) -> bool {
        self.both + count >= self.most && self.both > count
    }
}

fn is_spaced(text: &str) -> bool {
    !text.chars().any(is_unspaced)
}

/// The words of a text that are not about who speaks.
fn words_of(text: &str) -> HashSet<String> {
    let who = [&LEXICON.subjects, &LEXICON.possessives, &LEXICON.negations];
    let plain = Plain::of(text);
    let words = plain.words().filter(|word| !who.iter().any(|list| list.are_in(&Plain(format!(" {word} ")))));
    words.map(str::to_owned).collect()
}

/// Whether two words may be forms of one: where the language cannot be told, stems keep their endings.
fn is_form(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let both = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    one == other || (both >= 4 && both + 2 >= one.len().max(other.len()))
}

fn negates(text: &str) -> bool {
    LEXICON.negations.are_in(&Plain::of(text))
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
