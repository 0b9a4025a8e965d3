//! Selects the few of many short texts that are relevant to a question.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

use super::words::{Term, detect, of_question, of_words};

/// Returns the texts most relevant to a question, best first, at most `limit`; texts that share no distinctive word with
/// it are left out. For lists of some hundred short texts, such as notes: nothing is cached between calls.
#[must_use]
pub fn bearing<'a>(question: &str, texts: &[&'a str], today: NaiveDate, limit: usize) -> Vec<&'a str> {
    let language = detect(question);
    let asked = of_question(question, &language.into_iter().collect::<Vec<_>>(), today);
    if asked.is_empty() {
        return Vec::new();
    }
    let wanted: HashSet<Term> = asked.iter().map(|one| one.term).collect();
    let terms = |text: &&str| -> HashSet<Term> {
        let language = detect(text).or(language);
        of_words(text, language).into_iter().filter(|term| wanted.contains(term)).collect()
    };
    let found: Vec<HashSet<Term>> = texts.iter().map(terms).collect();
    let mut having: HashMap<Term, usize> = HashMap::new();
    found.iter().flatten().for_each(|term| *having.entry(*term).or_default() += 1);
    let score = |terms: &HashSet<Term>| -> f32 {
        let weight = |asked: &super::words::Weighted| {
            let count = having.get(&asked.term).copied().unwrap_or(1);
            // A word in most of the texts does not distinguish them.
            if count * 2 > texts.len() {
                0.0
            } else {
                asked.weight * (texts.len() as f32 / count as f32).ln()
            }
        };
        asked.iter().filter(|asked| terms.contains(&asked.term)).map(weight).sum()
    };
    let mut ranked: Vec<(f32, usize)> =
        found.iter().map(score).zip(0..).filter(|(score, _)| *score > 0.0).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    ranked.into_iter().take(limit).map(|(_, at)| texts[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_a_telling_word_is_found() {
        let mut texts =
            vec!["book: the trial", "book: the castle by Kafka", "book about gardens", "pay the plumber"];
        let many: Vec<String> = (0..30).map(|number| format!("book number {number}")).collect();
        texts.extend(many.iter().map(String::as_str));
        let today = NaiveDate::from_ymd_opt(2026, 5, 1).unwrap();
        let of = |question: &str| bearing(question, &texts, today, 2);
        assert_eq!(of("Which books did I want about a garden?"), ["book about gardens"]);
        assert_eq!(of("was there something for plumbers?"), ["pay the plumber"]);
        assert_eq!(of("which book?"), Vec::<&str>::new(), "what all have tells nothing");
        assert_eq!(of("¿?"), Vec::<&str>::new());
    }
}
