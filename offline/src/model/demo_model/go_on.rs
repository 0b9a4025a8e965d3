//! Continues a stopped answer: computes the same answer again and says the rest of it.

use super::language::DemoText;
use super::question::DemoQuestion;
use super::step::DemoStep;
use crate::model::request::{ModelRequest, text_of};

const PHRASES: [&str; 7] = [
    "go on where you stopped",
    "continue de onde você parou",
    "continue de onde parou",
    "continue onde parou",
    "continúa donde te quedaste",
    "sigue donde te quedaste",
    "continue where you stopped",
];
const ALONE: [&str; 5] = ["go on", "continue", "continua", "continúa", "sigue"];

const NOTHING_LEFT: DemoText = DemoText {
    en: "That was all: there is nothing left to go on with.",
    pt: "Era tudo: não sobrou nada para continuar.",
    es: "Eso era todo: no queda nada por continuar.",
};

/// Returns `true` if a message asks to continue.
pub(super) fn is_asked(question: &DemoQuestion) -> bool {
    PHRASES.iter().any(|phrase| question.says(phrase)) || ALONE.iter().any(|phrase| question.is(phrase))
}

/// Continues the last answer of the conversation. `again` recomputes the answer to a request.
pub(super) fn step(
    question: &DemoQuestion,
    request: &ModelRequest,
    again: impl Fn(&ModelRequest) -> DemoStep,
) -> DemoStep {
    let rest = before(request).and_then(|(earlier, written)| match again(&earlier) {
        DemoStep::Say(whole) => Some(DemoStep::Say(left(&whole, &written)?)),
        DemoStep::SaySlowly(whole) => Some(DemoStep::SaySlowly(left(&whole, &written)?)),
        DemoStep::Call(..) => None,
    });
    rest.unwrap_or_else(|| DemoStep::say(NOTHING_LEFT, question))
}

/// Returns the request that led to the last answer, and the part of the answer already written.
fn before(request: &ModelRequest) -> Option<(ModelRequest, String)> {
    let (asked_at, _) = request.last_user()?;
    let (at, answer) = request
        .input()
        .iter()
        .enumerate()
        .take(asked_at)
        .rev()
        .find(|(_, item)| item["role"] == "assistant")?;
    Some((request.until(at), text_of(&answer["content"])))
}

/// Returns the rest of `whole` after `written`. Reopens a code block that was cut.
fn left(whole: &str, written: &str) -> Option<String> {
    let written = written.trim();
    let rest = whole.strip_prefix(written).filter(|rest| !rest.trim().is_empty())?;
    let mut fences = written.lines().filter(|line| line.starts_with("```"));
    let is_open = fences.clone().count() % 2 == 1;
    match fences.next_back().filter(|_| is_open) {
        Some(fence) => Some(format!("{fence}\n{}", rest.trim_start_matches('\n'))),
        None => Some(rest.trim_start().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_said() {
        let cases = [
            ("one two three", "one two", Some("three")),
            ("one two three", "one two three", None),
            ("one two three", "two", None),
            ("see:\n\n```rust\na\nb\n```\nend", "see:\n\n```rust\na", Some("```rust\nb\n```\nend")),
        ];
        for (whole, written, wanted) in cases {
            assert_eq!(left(whole, written).as_deref(), wanted, "{written}");
        }
    }

    #[test]
    fn some_words_ask_to_go_on() {
        for text in ["Go on where you stopped.", "Continue de onde você parou.", "go on", "Continue!"] {
            assert!(is_asked(&DemoQuestion::of(text)), "{text}");
        }
        assert!(!is_asked(&DemoQuestion::of("continue the list with eggs")));
    }
}
