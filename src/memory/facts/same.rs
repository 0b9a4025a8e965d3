//! Whether two memories say the same.

use std::collections::HashSet;

use super::judge::terms;
use super::lexicon::{LEXICON, Plain};
use crate::domain::facts::same_words;

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
    let (one, other) = (meaning(known), meaning(new));
    let both = one.intersection(&other).count();
    let all = one.union(&other).count();
    if all == 0 || numbers(known) != numbers(new) && both < one.len().min(other.len()) {
        return Likeness::Other;
    }
    #[expect(clippy::cast_precision_loss, reason = "a memory has few words")]
    let share = both as f32 / all as f32;
    let is_part = both == one.len().min(other.len());
    match (share, negates(known) == negates(new) && numbers(known) == numbers(new)) {
        (share, true) if share >= SAME => Likeness::Same,
        (share, false) if share >= SAME => Likeness::Newer,
        (share, _) if share >= NEARLY && is_part => Likeness::Newer,
        _ => Likeness::Other,
    }
}

fn meaning(text: &str) -> HashSet<String> {
    terms(text, text)
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
