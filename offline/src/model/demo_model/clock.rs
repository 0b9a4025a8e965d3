//! What time it is and which day: the prompt says it.

use super::language::Words;
use super::question::Question;
use super::step::Step;

const ASKS: [&str; 11] = [
    "what time is it",
    "what's the time",
    "what day is it",
    "what day is today",
    "what is the date",
    "que horas são",
    "que dia é hoje",
    "qual é a data",
    "qué hora es",
    "qué día es hoy",
    "what is today's date",
];

const IS: Words = Words {
    en: "It is {}, by the clock of this chat.",
    pt: "São {}, pelo relógio deste chat.",
    es: "Son las {}, según el reloj de este chat.",
};

/// Whether a message asks for the time or the date.
pub(super) fn is_asked(question: &Question) -> bool {
    question.now.is_some() && ASKS.iter().any(|asks| question.begins(asks))
}

/// Says the time and the date.
pub(super) fn tell(question: &Question) -> Step {
    let now = question.now.map(|now| now.format("%H:%M, %Y-%m-%d").to_string()).unwrap_or_default();
    Step::Say(IS.with(question.language, &now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_prompt() {
        let now = chrono::NaiveDate::from_ymd_opt(2026, 11, 24).and_then(|day| day.and_hms_opt(14, 5, 0));
        let asked = Question { now, ..Question::of("What time is it?") };
        assert!(is_asked(&asked) && !is_asked(&Question { now, ..Question::of("what time suits you?") }));
        let told = "It is 14:05, 2026-11-24, by the clock of this chat.";
        assert_eq!(tell(&asked), Step::Say(told.to_owned()));
    }
}
