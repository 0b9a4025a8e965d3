//! Whom a sentence is about: its writer, with the people and animals of their life, or others.

use super::lexicon::{LEXICON, Plain};

/// Whom a part of a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// Its writer, or somebody of their family.
    Writer,
    /// Somebody else.
    Others,
    /// It does not say.
    Nobody,
}

/// A noun stands so near to the word that says whose it is.
const NEAR: usize = 4;

/// The parts of a sentence and whom each is about. A pronoun goes on with whom the part before was about, where that was
/// somebody of the writer's life.
pub(super) fn clauses(sentence: &str) -> Vec<(Plain, About)> {
    let mut found: Vec<(Plain, About)> = Vec::new();
    for clause in split(sentence) {
        let plain = Plain::of(clause);
        if plain.0.trim().is_empty() {
            continue;
        }
        let own_before = found
            .last()
            .is_some_and(|(before, about)| *about == About::Writer && LEXICON.family.are_in(before));
        let about = match (whom(&plain), found.last()) {
            (About::Others, _) if own_before && !LEXICON.others.are_in(&plain) => About::Writer,
            // It goes on with what was said.
            (About::Nobody, Some((_, before))) => *before,
            (about, _) => about,
        };
        found.push((plain, about));
    }
    found
}

fn split(sentence: &str) -> Vec<&str> {
    const JOINS: [&str; 22] = [
        " and ",
        " but ",
        " because ",
        " while ",
        " und ",
        " aber ",
        " weil ",
        " et ",
        " mais ",
        " e ",
        " mas ",
        " y ",
        " pero ",
        " porque ",
        " ma ",
        " и ",
        " а ",
        " но ",
        " ve ",
        " ama ",
        " en ",
        " maar ",
    ];
    let marks = sentence.split([',', ';', ':', '(', ')', '—', '–', '，', '、', '；', '،']);
    let mut parts: Vec<&str> = marks.flat_map(|part| part.split(" - ")).collect();
    for join in JOINS {
        parts = parts.into_iter().flat_map(|part| part.split(join)).collect();
    }
    parts
}

/// Whom a part of a sentence is about, taken by itself.
fn whom(clause: &Plain) -> About {
    let words = &*LEXICON;
    if let Some(at) = words.reports.first_in(clause) {
        // What somebody thinks or heard is about whom the rest is about.
        let rest = clause.from(at);
        let count = rest.words().count();
        let rest = Plain(format!(" {} ", rest.words().skip(2).collect::<Vec<_>>().join(" ")));
        let is_own = count > 2 && whom_plainly(&rest) == About::Writer;
        return if is_own { About::Writer } else { About::Others };
    }
    whom_plainly(clause)
}

fn whom_plainly(clause: &Plain) -> About {
    let words = &*LEXICON;
    let subject = words.subjects.first_in(clause);
    let possessive = words.possessives.first_in(clause);
    let pronoun = words.pronouns.first_in(clause);
    let other = words.others.first_in(clause);
    let first = subject.into_iter().chain(possessive).min();
    let Some(first) = first else {
        return match (words.objects.are_in(clause), pronoun.or(other)) {
            (_, Some(_)) => About::Others,
            (true, None) => About::Writer,
            (false, None) if words.beginnings.are_in(&clause.first_words(NEAR)) => About::Writer,
            (false, None) => About::Nobody,
        };
    };
    if pronoun.is_some_and(|pronoun| pronoun < first) || other.is_some_and(|other| other < first) {
        return About::Others;
    }
    // `My neighbour …` is about the neighbour, `I work with my neighbour …` is not.
    if subject.is_none_or(|subject| possessive.is_some_and(|possessive| possessive <= subject)) {
        let near = clause.from(first).first_words(NEAR);
        if words.others.are_in(&near) {
            return About::Others;
        }
    }
    About::Writer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(sentence: &str) -> Vec<About> {
        clauses(sentence).into_iter().map(|(_, about)| about).collect()
    }

    #[test]
    fn it_is_known_whom_a_sentence_is_about() {
        use About::{Nobody, Others, Writer};
        let cases: [(&str, &[About]); 21] = [
            ("I live in Riga", &[Writer]),
            ("My daughter Mia is 5 and she loves horses", &[Writer, Writer]),
            ("My neighbour Bob has diabetes", &[Others]),
            ("my best friend Ana is pregnant", &[Others]),
            ("I work with my friend Ana", &[Writer]),
            ("I heard that Bob is ill", &[Others]),
            ("I know my wife loves tulips", &[Writer]),
            ("Bob is HIV positive", &[Nobody]),
            ("Bob told me he has diabetes", &[Others]),
            ("She lives in Rome", &[Others]),
            ("Allergic to nuts", &[Writer]),
            ("Moro em Lisboa", &[Writer]),
            ("Meu vizinho está doente", &[Others]),
            ("Mein Nachbar ist krank, aber ich bin gesund", &[Others, Writer]),
            ("Мой сосед болеет", &[Others]),
            ("У меня аллергия на орехи", &[Writer]),
            ("Riga'da yaşıyorum", &[Writer]),
            ("我住在里加", &[Writer]),
            ("他住在里加", &[Others]),
            ("我的邻居有糖尿病", &[Others]),
            ("Nuts make me ill", &[Writer]),
        ];
        for (sentence, wanted) in cases {
            assert_eq!(about(sentence), wanted, "{sentence}");
        }
    }
}
