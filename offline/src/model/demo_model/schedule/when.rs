//! Parses phrases for dates, times and recurrences, by tables of words in the demo model's languages, and builds schedules.

use chrono::{Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, Weekday};

use super::clock::{self, TimeOfDay, number};
use super::phrase::{any, begins};

/// Weekdays: names and cron field.
const WEEKDAYS: [([&str; 3], Weekday, &str); 7] = [
    (["monday", "segunda", "lunes"], Weekday::Mon, "1"),
    (["tuesday", "terça", "martes"], Weekday::Tue, "2"),
    (["wednesday", "quarta", "miércoles"], Weekday::Wed, "3"),
    (["thursday", "quinta", "jueves"], Weekday::Thu, "4"),
    (["friday", "sexta", "viernes"], Weekday::Fri, "5"),
    (["saturday", "sábado", "sábado"], Weekday::Sat, "6"),
    (["sunday", "domingo", "domingo"], Weekday::Sun, "0"),
];
/// Phrases for Monday to Friday, separated by `|`.
const WORKING_DAYS: &str = "on weekdays|every weekday|weekdays|each weekday|every working day|every workday|\
                       every business day|each working day|on workdays|on working days|on business days|\
                       monday to friday|monday through friday|todo dia útil|cada dia útil|todos os dias úteis|\
                       nos dias úteis|em dias úteis|de segunda a sexta-feira|cada día laborable|\
                       todos los días laborables|los días laborables|cada día hábil|todos los días hábiles|\
                       en días laborables|entre semana|de segunda a sexta|de lunes a viernes";
/// Phrases for other sets of weekdays, with their cron field.
const SETS: [(&str, &str); 5] = [
    ("every weekend", "0,6"),
    ("todo fim de semana", "0,6"),
    ("daily", "*"),
    ("diariamente", "*"),
    ("on weekends", "0,6"),
];
/// First words of a recurrence.
const EVERY: [&str; 11] = [
    "every",
    "each",
    "a cada",
    "cada",
    "todos os",
    "todas as",
    "todos los",
    "todas las",
    "todo",
    "toda",
    "todas",
];
/// First words of a delay.
const IN: [&str; 6] = ["in", "em", "en", "daqui a", "dentro de", "within"];
/// Delay of half an hour, said without a number.
const HALF_HOUR: [&str; 4] = ["in half an hour", "em meia hora", "daqui a meia hora", "en media hora"];
/// Words before a day.
const ON: [&str; 9] = ["on", "next", "this", "na", "no", "nesta", "el", "próxima", "próximo"];
/// Phrases for days, and their distance from today.
const DAYS: [([&str; 3], u64); 8] = [
    (["the day after tomorrow", "depois de amanhã", "pasado mañana"], 2),
    (["day after tomorrow", "depois de amanhã", "pasado mañana"], 2),
    (["tomorrow morning", "amanhã de manhã", "mañana por la mañana"], 1),
    (["tomorrow evening", "amanhã à noite", "mañana por la noche"], 1),
    (["today", "hoje", "hoy"], 0),
    (["tonight", "hoje à noite", "esta noche"], 0),
    (["tomorrow", "amanhã", "mañana"], 1),
    (["of tomorrow", "de amanhã", "de mañana"], 1),
];
/// Time units: name in the tool's arguments, and names in the languages.
const UNITS: [(&str, [&str; 3]); 5] = [
    ("second", ["second", "segundo", "segundo"]),
    ("minute", ["minute", "minuto", "minuto"]),
    ("hour", ["hour", "hora", "hora"]),
    ("day", ["day", "dia", "día"]),
    ("week", ["week", "semana", "semana"]),
];
const ONE: [&str; 6] = ["a", "an", "one", "um", "uma", "una"];
const MONTHS: [[&str; 3]; 12] = [
    ["january", "janeiro", "enero"],
    ["february", "fevereiro", "febrero"],
    ["march", "março", "marzo"],
    ["april", "abril", "abril"],
    ["may", "maio", "mayo"],
    ["june", "junho", "junio"],
    ["july", "julho", "julio"],
    ["august", "agosto", "agosto"],
    ["september", "setembro", "septiembre"],
    ["october", "outubro", "octubre"],
    ["november", "novembro", "noviembre"],
    ["december", "dezembro", "diciembre"],
];
/// Optional words at the start of a date.
const ON_DATE: [&str; 8] = ["on", "on the", "em", "no dia", "dia", "el", "el día", "para el"];
/// Phrases for parts of a day.
const PARTS: [&str; 17] = [
    "in the morning",
    "in the afternoon",
    "in the evening",
    "this morning",
    "this afternoon",
    "this evening",
    "da manhã",
    "da tarde",
    "da noite",
    "de manhã",
    "à tarde",
    "à noite",
    "de la mañana",
    "de la tarde",
    "de la noche",
    "por la tarde",
    "por la noche",
];
/// Words that move a time into the second half of the day.
const LATE: [&str; 6] = ["tonight", "afternoon", "evening", "tarde", "noite", "noche"];
/// Time phrases that are not supported, separated by `|`.
const UNKNOWN: &str = "half past|quarter to|quarter past|e meia|y media|at night|next week|next month|\
                       próxima semana|semana que vem|semana que viene|every month|every year|every other|todo mês|\
                       day after|next day|dia seguinte|dia a seguir|día siguiente|cada mes|twice a|working day|\
                       working days|workdays|business day|business days|útil|úteis|laborable|laborables|hábil|\
                       hábiles|holiday|holidays|feriado|festivo|on the|no dia|el día";
const BEFORE: [&str; 5] = ["before", "after", "past", "antes", "depois"];

/// Requested time, as far as the message names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct RequestedTime {
    pub(super) every: Option<Every>,
    /// Delay from now, in the format of the tool.
    pub(super) after: Option<String>,
    pub(super) day: Option<DaySpec>,
    pub(super) time: Option<TimeOfDay>,
    /// `true` if the time is in the second half of the day.
    pub(super) is_late: bool,
}

/// Recurrence of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Every {
    /// On these weekdays, as a cron field.
    Days(&'static str),
    /// Interval in hours.
    Hours(u32),
    /// Interval in minutes.
    Minutes(u32),
}

/// Requested day of a single task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DaySpec {
    /// Number of days from today.
    Ahead(u64),
    /// Next such weekday.
    Next(Weekday),
    /// Date; the next such date if `year` is `None`.
    Date { day: u32, month: u32, year: Option<i32> },
}

/// Schedule in the format of the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) schedule: String,
    pub(super) recurring: bool,
}

impl RequestedTime {
    /// Reads the requested time from plain words. Also marks the words it used.
    pub(super) fn read(words: &[&str]) -> (Self, Vec<bool>) {
        let (mut when, mut used) = (Self::default(), vec![false; words.len()]);
        let mut at = 0;
        while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
            let length = when.take(rest).unwrap_or(0);
            used.iter_mut().skip(at).take(length).for_each(|used| *used = true);
            at += length.max(1);
        }
        when.is_late = words.iter().zip(&used).any(|(word, used)| *used && LATE.contains(word));
        if let Some(time) = when.time.as_mut().filter(|time| when.is_late && (1..12).contains(&time.hour)) {
            time.hour += 12;
        }
        (when, used)
    }

    /// Returns `true` if two times were read, or the unread words still contain one.
    pub(super) fn is_unclear(&self, rest: &[&str]) -> bool {
        let times = [self.every.is_some(), self.after.is_some(), self.day.is_some()];
        let is_double = times.iter().filter(|is_said| **is_said).count() > 1
            || self.after.is_some() && self.time.is_some();
        is_double || (0..rest.len()).any(|at| rest.get(at..).is_some_and(says_time))
    }

    /// Reads one part of the time at the start of the words, unless that part is set already. Returns the number of words
    /// used.
    fn take(&mut self, rest: &[&str]) -> Option<usize> {
        if let (None, Some((length, every))) = (self.every, every(rest)) {
            self.every = Some(every);
            return Some(length);
        }
        if let (None, Some((length, after))) = (&self.after, after(rest)) {
            self.after = Some(after);
            return Some(length);
        }
        if let (None, Some((length, day))) = (self.day, day(rest)) {
            self.day = Some(day);
            return Some(length);
        }
        if let Some(length) = any(rest, &PARTS) {
            return Some(length);
        }
        let (length, time) = clock::read(rest).filter(|_| self.time.is_none())?;
        self.time = Some(time);
        Some(length)
    }

    /// Returns `true` if the message names no time.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns `true` if more than a time of day is set.
    pub(super) fn is_whole(&self) -> bool {
        self.every.is_some() || self.after.is_some() || self.day.is_some()
    }

    /// Builds the schedule. `default` is used if no time of day is set. A single time requires `now`.
    pub(super) fn plan(&self, default: TimeOfDay, now: Option<NaiveDateTime>) -> Option<Plan> {
        if let Some(every) = self.every {
            let TimeOfDay { hour, minute } = self.time.unwrap_or(default);
            let schedule = match every {
                Every::Days(days) => format!("{minute} {hour} * * {days}"),
                Every::Hours(1) => "0 * * * *".to_owned(),
                Every::Hours(count) => format!("0 */{count} * * *"),
                Every::Minutes(1) => "* * * * *".to_owned(),
                Every::Minutes(count) => format!("*/{count} * * * *"),
            };
            return Some(Plan { schedule, recurring: true });
        }
        let schedule = match &self.after {
            Some(after) => after.clone(),
            None => self.once(default, now?)?.format("%Y-%m-%dT%H:%M").to_string(),
        };
        Some(Plan { schedule, recurring: false })
    }

    fn once(&self, default: TimeOfDay, now: NaiveDateTime) -> Option<NaiveDateTime> {
        let TimeOfDay { hour, minute } = self.time.unwrap_or(default);
        let time = NaiveTime::from_hms_opt(hour, minute, 0)?;
        let is_over = time <= now.time();
        let ahead = match self.day {
            Some(DaySpec::Ahead(days)) => days,
            Some(DaySpec::Next(weekday)) => {
                let days = weekday.days_since(now.weekday());
                if days == 0 && is_over { 7 } else { days.into() }
            }
            Some(DaySpec::Date { day, month, year }) => {
                let of = |year| Some(NaiveDate::from_ymd_opt(year, month, day)?.and_time(time));
                let date = of(year.unwrap_or(now.year()))?;
                return if date <= now && year.is_none() { of(now.year() + 1) } else { Some(date) };
            }
            None => u64::from(is_over),
        };
        Some(now.date().checked_add_days(Days::new(ahead))?.and_time(time))
    }
}

fn every(words: &[&str]) -> Option<(usize, Every)> {
    if let Some(length) = any(words, &WORKING_DAYS.split('|').collect::<Vec<_>>()) {
        return Some((length, Every::Days("1-5")));
    }
    if let Some((phrase, days)) = SETS.iter().find(|(phrase, _)| begins(words, phrase).is_some()) {
        return Some((begins(words, phrase)?, Every::Days(days)));
    }
    let length = any(words, &EVERY)?;
    let rest = words.get(length..)?;
    if ["day", "days", "dia", "dias", "día", "días"].contains(rest.first()?) {
        return Some((length + 1, Every::Days("*")));
    }
    if let Some((_, cron)) = weekday(rest.first()?) {
        return Some((length + 1, Every::Days(cron)));
    }
    let (count, skipped) = rest.first()?.parse().map_or((1, 0), |count| (count, 1));
    match unit(rest.get(skipped)?)? {
        "hour" => Some((length + skipped + 1, Every::Hours(count))),
        "minute" => Some((length + skipped + 1, Every::Minutes(count))),
        _ => None,
    }
}

fn after(words: &[&str]) -> Option<(usize, String)> {
    if let Some(length) = any(words, &HALF_HOUR) {
        return Some((length, "in 30 minutes".to_owned()));
    }
    let length = any(words, &IN)?;
    if let Some((count, unit)) = words.get(length).and_then(|word| joined(word)) {
        return Some((length + 1, format!("in {count} {unit}s")));
    }
    let [count, name, ..] = words.get(length..)? else { return None };
    let count = if ONE.contains(count) { 1 } else { number(count)? };
    let unit = unit(name)?;
    Some((length + 2, format!("in {count} {unit}{}", if count == 1 { "" } else { "s" })))
}

/// Splits a word into count and unit: `1h` into 1 and `hour`, `90min` into 90 and `minute`.
fn joined(word: &str) -> Option<(u32, &'static str)> {
    let (count, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit())?);
    let unit = match unit {
        "h" | "hr" | "hrs" => "hour",
        "m" | "min" | "mins" => "minute",
        _ => return None,
    };
    Some((count.parse().ok()?, unit))
}

pub(super) fn unit(word: &str) -> Option<&'static str> {
    let one = word.strip_suffix('s').unwrap_or(word);
    let is_it = |names: &[&str; 3]| {
        names.contains(&one) || ["min", "sec"].contains(&one) && names[0].starts_with(one)
    };
    UNITS.iter().find(|(_, names)| is_it(names)).map(|(unit, _)| *unit)
}

fn day(words: &[&str]) -> Option<(usize, DaySpec)> {
    let ahead = |(names, days): &([&str; 3], u64)| Some((any(words, names)?, DaySpec::Ahead(*days)));
    if let Some(found) = DAYS.iter().find_map(ahead).or_else(|| date(words)) {
        return Some(found);
    }
    let before = any(words, &ON).unwrap_or(0);
    let name = words.get(before)?;
    let (weekday, _) = weekday(name)?;
    // `segunda` alone can mean “second” in Portuguese.
    let is_sure = before > 0 || name.ends_with("day") || name.ends_with("-feira");
    is_sure.then_some((before + 1, DaySpec::Next(weekday)))
}

/// Parses `on 24 December`, `December 24th 2027`, `24 de dezembro`.
fn date(words: &[&str]) -> Option<(usize, DaySpec)> {
    let before = any(words, &ON_DATE).unwrap_or(0);
    let rest = words.get(before..)?;
    let (length, day, month) = match rest {
        [day, "of" | "de", name, ..] if month(name).is_some() => (3, day, month(name)?),
        [day, name, ..] if month(name).is_some() => (2, day, month(name)?),
        [name, day, ..] => (2, day, month(name)?),
        _ => return None,
    };
    let digits = day.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']);
    let day = digits.parse().ok()?;
    let year = rest.get(length).and_then(|year| year.parse().ok()).filter(|year| (2000..2200).contains(year));
    Some((before + length + usize::from(year.is_some()), DaySpec::Date { day, month, year }))
}

fn month(word: &str) -> Option<u32> {
    MONTHS.iter().zip(1..).find(|(names, _)| names.contains(&word)).map(|(_, month)| month)
}

/// Returns `true` if the words begin with a time phrase.
fn says_time(words: &[&str]) -> bool {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) || number(word).is_some();
    let at_number = |length: usize| words.get(length).is_some_and(is_number);
    let is_span = match words {
        [name, before, ..] if BEFORE.contains(before) => unit(name).is_some(),
        [before, ..] if BEFORE.contains(before) => at_number(1),
        _ => false,
    };
    let is_date = words
        .first()
        .and_then(|word| word.split_once(['/', '-']))
        .is_some_and(|(day, _)| !day.is_empty() && day.chars().all(|c| c.is_ascii_digit()));
    let is_every = any(words, &EVERY).is_some_and(at_number);
    // `On the` and its translations mean a day only before a number.
    let is_unknown = any(words, &UNKNOWN.split('|').collect::<Vec<_>>()).is_some_and(|length| {
        !["on the", "no dia", "el día"].contains(&words.get(..length).unwrap_or_default().join(" ").as_str())
            || at_number(length)
    });
    is_span || is_date || is_every || is_unknown || !RequestedTime::read(words).0.is_empty()
}

fn weekday(word: &str) -> Option<(Weekday, &'static str)> {
    let word = word.strip_suffix("-feiras").or_else(|| word.strip_suffix("-feira")).unwrap_or(word);
    let one = word.strip_suffix('s').unwrap_or(word);
    let found = WEEKDAYS.iter().find(|(names, ..)| names.contains(&word) || names.contains(&one));
    found.map(|(_, weekday, cron)| (*weekday, *cron))
}
