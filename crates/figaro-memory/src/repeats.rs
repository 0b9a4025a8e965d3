//! Detection of texts that say the same with other forms of the same words.

use std::collections::BTreeSet;

use super::words::{self, Term};
use figaro_base::ids::UserId;
use figaro_domain::importance::others_in;

/// Content of a text and its author. Equal if the same person uses the same words about the same people, whatever their
/// forms, order and stop words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    author: Option<UserId>,
    terms: BTreeSet<Term>,
    others: Vec<&'static str>,
    /// The text itself if it has no words; such a text equals no other.
    text: Option<String>,
}

impl Statement {
    /// Builds the statement of a text.
    #[must_use]
    pub fn of(text: &str, author: Option<&UserId>) -> Self {
        let terms: BTreeSet<Term> = words::of_words(text, words::detect(text)).into_iter().collect();
        let others = others_in(text);
        let text = terms.is_empty().then(|| text.to_owned());
        Self { author: author.cloned(), terms, others, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_the_same_words_say_the_same_and_other_people_do_not() {
        let ann = UserId::telegram(7);
        let of = |text: &str| Statement::of(text, Some(&ann));
        let same = [
            ("I am allergic to nuts", "I'm allergic to nuts!"),
            ("I am allergic to nuts", "To nuts I am allergic"),
            ("Eu sou alérgico a amendoim", "Sou eu alérgico a amendoim!"),
            ("I am allergic to nuts", "I am not allergic to nuts"),
        ];
        for (one, other) in same {
            assert_eq!(of(one), of(other), "{one} / {other}");
        }
        let different = [
            ("I am allergic to nuts", "I am allergic to fish"),
            ("I am allergic to nuts", "She is allergic to nuts"),
            ("I am allergic to nuts", "My son is allergic to nuts"),
            ("…", "!!!"),
        ];
        for (one, other) in different {
            assert_ne!(of(one), of(other), "{one} / {other}");
        }
        assert_ne!(of("I am allergic to nuts"), Statement::of("I am allergic to nuts", None));
    }
}
