//! Dates in texts: named ("8 May", "on Friday"), and relative to the time of writing ("last May", "two weeks ago"). A
//! date becomes terms for its year, month, day and weekday, and one for the exact day.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};
use serde::Deserialize;

use super::term::{Term, TermKind};

/// Meaning of a word in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Month(u32),
    Weekday(u32),
    Number(u32),
    Day,
    Week,
    Weekend,
    MonthUnit,
    Year,
    /// Days from today; negative in the past.
    Relative(i64),
    Last,
    Next,
    Ago,
    LastWeek,
    LastMonth,
    LastYear,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DateWords {
    months: Vec<String>,
    weekdays: Vec<String>,
    numbers: Vec<String>,
    last: String,
    next: String,
    ago: String,
    day: String,
    week: String,
    weekend: String,
    month: String,
    year: String,
    today: String,
    yesterday: String,
    before_yesterday: String,
    tomorrow: String,
    last_week: String,
    last_month: String,
    last_year: String,
}

impl DateWords {
    fn senses(&self) -> Vec<(&str, Sense)> {
        let all: [Vec<(&str, Sense)>; 18] = [
            many(&self.months, Sense::Month),
            many(&self.weekdays, Sense::Weekday),
            many(&self.numbers, Sense::Number),
            one(&self.last, Sense::Last),
            one(&self.next, Sense::Next),
            one(&self.ago, Sense::Ago),
            one(&self.day, Sense::Day),
            one(&self.week, Sense::Week),
            one(&self.weekend, Sense::Weekend),
            one(&self.month, Sense::MonthUnit),
            one(&self.year, Sense::Year),
            one(&self.today, Sense::Relative(0)),
            one(&self.yesterday, Sense::Relative(-1)),
            one(&self.before_yesterday, Sense::Relative(-2)),
            one(&self.tomorrow, Sense::Relative(1)),
            one(&self.last_week, Sense::LastWeek),
            one(&self.last_month, Sense::LastMonth),
            one(&self.last_year, Sense::LastYear),
        ];
        all.into_iter().flatten().collect()
    }
}

/// Maps several words to one sense.
fn one(words: &str, sense: Sense) -> Vec<(&str, Sense)> {
    words.split_whitespace().map(|word| (word, sense)).collect()
}

/// Maps lists of words to senses, numbered from 1.
fn many(lists: &[String], sense: fn(u32) -> Sense) -> Vec<(&str, Sense)> {
    lists.iter().zip(1..).flat_map(|(words, n)| one(words, sense(n))).collect()
}

/// Words of languages with spaces, and those of the others, longest first.
struct DateLexicon {
    words: HashMap<String, Vec<Sense>>,
    anywhere: Vec<(String, Sense)>,
}

static LEXICON: LazyLock<DateLexicon> = LazyLock::new(|| {
    let listed: BTreeMap<String, DateWords> =
        serde_saphyr::from_str(include_str!("dates.yaml")).unwrap_or_default();
    let mut lexicon = DateLexicon { words: HashMap::new(), anywhere: Vec::new() };
    for (language, listed) in &listed {
        for (word, sense) in listed.senses() {
            if matches!(language.as_str(), "zh" | "ja") {
                lexicon.anywhere.push((word.to_owned(), sense));
                continue;
            }
            let senses = lexicon.words.entry(word.to_owned()).or_default();
            if !senses.contains(&sense) {
                senses.push(sense);
            }
        }
    }
    lexicon.anywhere.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    lexicon
});

/// Maximum distance in words within one date.
const NEAR: usize = 3;

/// Returns the terms of the day on which a text was written.
pub(super) fn of_day(day: NaiveDate) -> [Term; 5] {
    [year(day.year()), month(day.month()), day_of_month(day.day()), weekday(day.weekday()), whole(day)]
}

fn year(year: i32) -> Term {
    Term::new(TermKind::Date, format!("y{year}").as_bytes())
}

fn month(month: u32) -> Term {
    Term::new(TermKind::Date, format!("m{month}").as_bytes())
}

fn day_of_month(day: u32) -> Term {
    Term::new(TermKind::Date, format!("d{day}").as_bytes())
}

fn weekday(day: Weekday) -> Term {
    Term::new(TermKind::Date, format!("w{}", day.number_from_monday()).as_bytes())
}

fn whole(day: NaiveDate) -> Term {
    Term::new(TermKind::Date, day.format("%Y-%m-%d").to_string().as_bytes())
}

/// Returns the terms of the dates that a text names, read on this day; each once. `words` are the folded words of the
/// text in order; `text` is the whole, folded.
pub(super) fn named(words: &[&str], text: &str, today: NaiveDate) -> Vec<Term> {
    let mut reading = DateReader { today, found: Vec::new(), senses: Vec::new() };
    for (at, word) in words.iter().enumerate() {
        for sense in LEXICON.words.get(*word).into_iter().flatten() {
            reading.senses.push((at, *sense));
        }
        if let Ok(number) = word.parse::<u32>() {
            reading.number(words, at, number);
        }
    }
    for (at, sense) in reading.senses.clone() {
        reading.word(at, sense);
    }
    if text.chars().any(|c| ('\u{3040}'..='\u{9fff}').contains(&c)) {
        reading.unspaced(text);
    }
    reading.found.sort_unstable();
    reading.found.dedup();
    reading.found
}

struct DateReader {
    today: NaiveDate,
    senses: Vec<(usize, Sense)>,
    found: Vec<Term>,
}

impl DateReader {
    fn number(&mut self, words: &[&str], at: usize, number: u32) {
        if (1900..2100).contains(&number) {
            self.found.push(year(number.cast_signed()));
            let rest = words.get(at + 1..at + 3).map(|rest| [rest[0].parse::<u32>(), rest[1].parse::<u32>()]);
            if let Some([Ok(month @ 1..=12), Ok(day @ 1..=31)]) = rest
                && let Some(date) = NaiveDate::from_ymd_opt(number.cast_signed(), month, day)
            {
                self.day(date);
            }
        }
        self.senses.push((at, Sense::Number(number)));
    }

    fn day(&mut self, day: NaiveDate) {
        self.found.extend(of_day(day));
    }

    /// Returns `true` if a word of this sense is near.
    fn near(&self, at: usize, sense: Sense) -> bool {
        self.senses.iter().any(|(other, found)| *found == sense && other.abs_diff(at) < NEAR)
    }

    /// Returns the number right before or after, or one word further.
    fn number_at(&self, at: usize) -> Option<u32> {
        let numbers = self.senses.iter().filter_map(|(other, sense)| match sense {
            Sense::Number(number) if (1..=2).contains(&other.abs_diff(at)) => {
                Some((other.abs_diff(at), *number))
            }
            _ => None,
        });
        numbers.min_by_key(|(distance, _)| *distance).map(|(_, number)| number)
    }

    fn word(&mut self, at: usize, sense: Sense) {
        match sense {
            Sense::Month(number) => self.month(at, number),
            Sense::Weekday(number) => self.weekday(at, number),
            Sense::Relative(days) => {
                if let Some(day) = shifted(self.today, days) {
                    self.day(day);
                }
            }
            Sense::Day | Sense::Week | Sense::MonthUnit | Sense::Year if self.near(at, Sense::Ago) => {
                if let Some(number) = self.number_at(at) {
                    self.ago(sense, number);
                }
            }
            Sense::Week | Sense::Weekend if self.near(at, Sense::Last) => {
                self.last_week(sense == Sense::Weekend)
            }
            Sense::LastWeek => self.last_week(false),
            Sense::MonthUnit if self.near(at, Sense::Last) => self.months_ago(1),
            Sense::LastMonth => self.months_ago(1),
            Sense::Year if self.near(at, Sense::Last) => self.found.push(year(self.today.year() - 1)),
            Sense::LastYear => self.found.push(year(self.today.year() - 1)),
            _ => {}
        }
    }

    fn month(&mut self, at: usize, number: u32) {
        self.found.push(month(number));
        let (this, now) = (self.today.year(), self.today.month());
        let of_year = if self.near(at, Sense::Last) {
            Some(if number < now { this } else { this - 1 })
        } else if self.near(at, Sense::Next) {
            Some(if number > now { this } else { this + 1 })
        } else {
            None
        };
        self.found.extend(of_year.map(year));
        if let Some(day @ 1..=31) = self.number_at(at) {
            self.found.push(day_of_month(day));
            let named = self.senses.iter().find_map(|(_, sense)| match sense {
                Sense::Number(year @ 1900..2100) => Some(year.cast_signed()),
                _ => None,
            });
            let date = named.or(of_year).and_then(|year| NaiveDate::from_ymd_opt(year, number, day));
            self.found.extend(date.map(whole));
        }
    }

    fn weekday(&mut self, at: usize, number: u32) {
        let today = self.today.weekday().number_from_monday();
        let back = match (today + 7 - number) % 7 {
            0 => 7,
            back => back,
        };
        if self.near(at, Sense::Last) {
            if let Some(day) = shifted(self.today, -i64::from(back)) {
                self.day(day);
            }
        } else if let Ok(number) = u8::try_from(number - 1)
            && let Ok(day) = Weekday::try_from(number)
        {
            self.found.push(weekday(day));
        }
    }

    fn ago(&mut self, unit: Sense, number: u32) {
        match unit {
            Sense::Day => {
                if let Some(day) = shifted(self.today, -i64::from(number)) {
                    self.day(day);
                }
            }
            Sense::Week => {
                // Nobody counts weeks to the day.
                for off in -2..=2 {
                    if let Some(day) = shifted(self.today, off - 7 * i64::from(number)) {
                        self.found.push(whole(day));
                    }
                }
            }
            Sense::MonthUnit => self.months_ago(number),
            _ => {
                let ago = i32::try_from(number).ok().and_then(|number| self.today.year().checked_sub(number));
                self.found.extend(ago.map(year));
            }
        }
    }

    fn months_ago(&mut self, number: u32) {
        if let Some(day) = self.today.checked_sub_months(Months::new(number)) {
            self.found.extend([month(day.month()), year(day.year())]);
        }
    }

    fn last_week(&mut self, weekend: bool) {
        let monday = i64::from(self.today.weekday().num_days_from_monday()) + 7;
        for day in (if weekend { 5 } else { 0 })..7 {
            if let Some(day) = shifted(self.today, day - monday) {
                self.found.push(whole(day));
            }
        }
    }

    /// Reads Chinese and Japanese: the words of the list, and numbers before 年, 月, 日 and 号.
    fn unspaced(&mut self, text: &str) {
        let mut rest = text.to_owned();
        for (word, sense) in &LEXICON.anywhere {
            if rest.contains(word.as_str()) {
                rest = rest.replace(word.as_str(), " ");
                self.word(usize::MAX / 2, *sense);
            }
        }
        let mut number = String::new();
        for c in text.chars() {
            match (c, number.parse::<u32>()) {
                ('0'..='9', _) => {
                    number.push(c);
                    continue;
                }
                ('年', Ok(of_year @ 1900..2100)) => self.found.push(year(of_year.cast_signed())),
                ('月', Ok(of_month @ 1..=12)) => self.found.push(month(of_month)),
                ('日' | '号' | '號', Ok(day @ 1..=31)) => self.found.push(day_of_month(day)),
                _ => {}
            }
            number.clear();
        }
    }
}

fn shifted(day: NaiveDate, days: i64) -> Option<NaiveDate> {
    let by = Days::new(days.unsigned_abs());
    if days < 0 { day.checked_sub_days(by) } else { day.checked_add_days(by) }
}
