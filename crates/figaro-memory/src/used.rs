//! Detection of the short texts that an answer uses, by its words: for models that cannot say which they used.

use std::collections::HashSet;

use super::words::{detect, stems};

/// Returns the positions of the texts that an answer uses: it contains at least two in five of their distinctive words
/// that the question lacks.
#[must_use]
pub fn used(question: &str, answer: &str, texts: &[&str]) -> Vec<usize> {
    let language = detect(answer).or_else(|| detect(question));
    let all = |text: &str| stems(text, language).into_iter().collect::<HashSet<String>>();
    let (asked, said) = (all(question), all(answer));
    let is_used = |text: &str| {
        let telling = &all(text) - &asked;
        let told = telling.intersection(&said).count();
        told * 5 >= telling.len() * 2 && told > 0
    };
    texts.iter().zip(0..).filter(|(text, _)| is_used(text)).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_uses_what_it_says_and_the_question_did_not() {
        let known = [
            "I live in Riga",
            "I am allergic to peanuts",
            "I work as a cook",
            "Мой кот Мурзик",
            "我住在里斯本",
        ];
        let cases: [(&str, &str, &[usize]); 8] = [
            ("Does it rain?", "In Riga it rains until noon.", &[0]),
            ("May I eat satay?", "Better not: it has peanuts, and you are allergic to them.", &[1]),
            ("Is peanut butter healthy?", "It is rich in protein.", &[]),
            ("Is peanut butter healthy?", "Not for you: you are allergic to peanuts.", &[1]),
            ("Hello", "Hello! How can I help?", &[]),
            ("What do I do?", "You work as a cook in Riga.", &[0, 2]),
            ("Как зовут кота?", "Его зовут Мурзик.", &[3]),
            ("今天下雨吗？", "里斯本今天不下雨。", &[4]),
        ];
        assert_eq!(used("what is the weather like?", "In Riga it rains.", &["Lives in Riga"]), [0]);
        for (question, answer, expected) in cases {
            assert_eq!(used(question, answer, &known), expected, "{question} {answer}");
        }
    }
}
