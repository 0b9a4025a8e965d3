//! Current time and date, read from the prompt.

use chrono::{Datelike, NaiveDateTime, TimeZone};
use figaro_base::tz::Tz;

use super::language::{DemoLanguage, DemoText};
use super::question::DemoQuestion;
use super::schedule;
use super::shape::Shape;
use super::step::DemoStep;

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

const IS: DemoText = DemoText {
    en: "It is {}, by the clock of this chat.",
    pt: "São {}, pelo relógio deste chat.",
    es: "Son las {}, según el reloj de este chat.",
};

const THERE: DemoText = DemoText { en: "It is {}, there.", pt: "Lá são {}.", es: "Allí son las {}." };
/// Months, in the order of the year.
const MONTHS: DemoText = DemoText {
    en: "January February March April May June July August September October November December",
    pt: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
};
/// Time, weekday, day and month.
const DATE: DemoText = DemoText {
    en: "{time} on {weekday}, {day} {month}",
    pt: "{time} de {weekday}, {day} de {month}",
    es: "{time} del {weekday} {day} de {month}",
};
const ONLY_HERE: DemoText = DemoText {
    en: "I only know the clock of this chat: it is {}.",
    pt: "Só conheço o relógio deste chat: são {}.",
    es: "Solo conozco el reloj de este chat: son las {}.",
};

/// Returns `true` if a message asks for the time or the date.
pub(super) fn is_asked(question: &DemoQuestion) -> bool {
    question.now.is_some() && Shape::Placed.fits(question, &ASKS)
}

/// Answers with time and date, in the place named by the message if the place is known.
pub(super) fn tell(question: &DemoQuestion) -> DemoStep {
    let said = |words: DemoText, now: Option<NaiveDateTime>| {
        let now = now.map(|now| date(now, question.language)).unwrap_or_default();
        DemoStep::Say(words.with(question.language, &now))
    };
    let Some(place) = question.after(&["in", "em", "en"]) else { return said(IS, question.now) };
    match there(question, place.trim_end_matches('?')) {
        Some(now) => said(THERE, Some(now)),
        None => said(ONLY_HERE, question.now),
    }
}

/// Says a time with its date: `14:05 on Tuesday, 24 November`.
fn date(now: NaiveDateTime, language: DemoLanguage) -> String {
    let month = MONTHS.of(language).split(' ').nth(now.month0() as usize).unwrap_or_default();
    let weekday = schedule::weekday_name(now.weekday(), language);
    DATE.of(language)
        .replace("{time}", &now.format("%H:%M").to_string())
        .replace("{weekday}", weekday)
        .replace("{day}", &now.day().to_string())
        .replace("{month}", month)
}

/// Returns the time in a city with a time zone named after it.
fn there(question: &DemoQuestion, place: &str) -> Option<NaiveDateTime> {
    let city = |name: &str| name.rsplit('/').next().unwrap_or(name).replace('_', " ");
    let zone = Tz::all().find(|zone| city(zone.name()).eq_ignore_ascii_case(place))?;
    let now = question.zone?.from_local_datetime(&question.now?).earliest()?;
    Some(now.with_timezone(&zone).naive_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_prompt() {
        let now = chrono::NaiveDate::from_ymd_opt(2026, 11, 24).and_then(|day| day.and_hms_opt(14, 5, 0));
        let asked = DemoQuestion { now, ..DemoQuestion::of("What time is it?") };
        assert!(
            is_asked(&asked) && !is_asked(&DemoQuestion { now, ..DemoQuestion::of("what time suits you?") })
        );
        let of = |text: &str| match tell(&DemoQuestion {
            now,
            zone: Some(figaro_base::tz::Tz::UTC),
            ..DemoQuestion::of(text)
        }) {
            DemoStep::Say(words) => words,
            other => panic!("{other:?}"),
        };
        assert_eq!(of("what time is it in Tokyo?"), "It is 23:05 on Tuesday, 24 November, there.");
        assert_eq!(of("que horas são em Lisbon?"), "Lá são 14:05 de terça-feira, 24 de novembro.");
        assert_eq!(
            of("what time is it in Bree?"),
            "I only know the clock of this chat: it is 14:05 on Tuesday, 24 November."
        );
        let told = "It is 14:05 on Tuesday, 24 November, by the clock of this chat.";
        assert_eq!(tell(&asked), DemoStep::Say(told.to_owned()));
    }
}
