//! Cron expressions: parsing, and search of runs. Croner parses the fields and finds matching local times. This module maps
//! them to instants, because croner treats `0 2,14 * * *` as an interval and skips it in a gap.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use croner::CronPattern;
use croner::parser::CronParser;
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

use super::error::ScheduleError;
use super::field::CronField;
use super::wall;
use super::zoned::split_zone;

/// Range of a search, forward or back. 29 February falls on a given weekday every 28 years, or after 40 where a century has
/// no leap day.
const REACH: TimeDelta = TimeDelta::days(366 * 40);

/// A cron expression in its stored form: numbers instead of names, single spaces, and seconds only if not 0.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cron {
    text: String,
    follows_clock: bool,
    // The years alone take 5 KB.
    cron: Arc<croner::Cron>,
}

impl Cron {
    /// Parses an expression of 5 fields, of 6 with seconds first, or an `@name`.
    ///
    /// # Errors
    /// If the text is no cron expression, or names a day that does not exist.
    pub(super) fn read(text: &str) -> Result<Self, ScheduleError> {
        if let (Some(zone), _) = split_zone(text) {
            return Err(ScheduleError::Zone(zone.to_owned()));
        }
        let upper = text.trim().to_uppercase();
        let expression = match upper.strip_prefix('@') {
            Some(name) => named(name).ok_or(ScheduleError::Nickname(upper.clone()))?,
            None => &upper,
        };
        let mut fields: Vec<&str> = expression.split_whitespace().collect();
        match fields.len() {
            5 => fields.insert(0, "0"),
            6 => {}
            count => return Err(ScheduleError::Fields(count)),
        }
        let fields: Vec<String> = CronField::ALL
            .into_iter()
            .zip(fields)
            .map(|(field, text)| field.canonical(text))
            .collect::<Result<_, _>>()?;
        if let [_, _, _, days, _, weekdays] = fields.as_slice()
            && days != "*"
            && weekdays != "*"
            && !weekdays.starts_with('+')
            && (days.contains('*') || weekdays.contains('*'))
        {
            return Err(ScheduleError::UnclearDays(upper));
        }
        let follows_clock = fields.iter().skip(1).take(2).any(|field| field.starts_with('*'));
        let text = fields.join(" ");
        let text = text.strip_prefix("0 ").unwrap_or(&text);
        let cron = CronParser::new()
            .parse(text)
            .map_err(|error| ScheduleError::Refused { text: upper.clone(), why: error.to_string() })?;
        let cron = Self { text: text.to_owned(), follows_clock, cron: Arc::new(cron) };
        // Any span of this length works: the calendar repeats itself.
        let start = NaiveDate::from_ymd_opt(2000, 1, 1).unwrap_or_default().and_time(chrono::NaiveTime::MIN);
        match cron.shown_after(start) {
            Some(first) if first - start <= REACH => Ok(cron),
            _ => Err(ScheduleError::Never(upper)),
        }
    }

    /// Returns the expression as text: five fields, or six if the seconds are not 0.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the seconds, if not 0, and the fields from the minute on.
    pub(super) fn fields(&self) -> (Option<&str>, Vec<&str>) {
        let mut fields: Vec<&str> = self.text.split(' ').collect();
        let seconds = (fields.len() == 6).then(|| fields.remove(0));
        (seconds, fields)
    }

    /// Returns the fields as parsed by the library `croner`.
    pub(super) fn pattern(&self) -> &CronPattern {
        &self.cron.pattern
    }

    /// Returns `true` if the expression follows the clock instead of naming times of day. By the rule of vixie-cron, its
    /// minute or hour field begins with `*`.
    pub(super) const fn follows_clock(&self) -> bool {
        self.follows_clock
    }

    /// Returns the first run after an instant; `None` if there is none within 40 years.
    pub(super) fn next(&self, zone: Tz, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let local = wall::shown(zone, after);
        let end = local.checked_add_signed(REACH)?;
        let mut next: Option<DateTime<Utc>> = None;
        // Times that clocks will show again are earlier in local time, but later in real time.
        let mut at = local.checked_sub_signed(wall::shown_again_after(zone, after))?;
        while let Some(shown) = self.shown_after(at).filter(|shown| *shown <= end) {
            next = self.runs(zone, shown).into_iter().flatten().filter(|run| *run > after).chain(next).min();
            if shown > local && next.is_some() {
                break;
            }
            at = shown;
        }
        next
    }

    /// Returns the last run at or before an instant; `None` if there is none within 40 years.
    pub(super) fn last(&self, zone: Tz, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let local = wall::shown(zone, until);
        let end = local.checked_sub_signed(REACH)?;
        let mut last: Option<DateTime<Utc>> = None;
        // Times shown before the clocks went back are later in local time, but earlier in real time.
        let mut at = local.checked_add_signed(wall::shown_before(zone, until))?;
        while let Some(shown) = self.shown_until(at).filter(|shown| *shown >= end) {
            last = self.runs(zone, shown).into_iter().flatten().filter(|run| *run <= until).chain(last).max();
            if shown <= local && last.is_some() {
                break;
            }
            at = shown.checked_sub_signed(TimeDelta::seconds(1))?;
        }
        last
    }

    /// Returns the instants of a matching local time.
    fn runs(&self, zone: Tz, shown: NaiveDateTime) -> [Option<DateTime<Utc>>; 2] {
        if self.follows_clock {
            let readings = wall::readings(zone, shown);
            [readings.earliest(), readings.latest()]
        } else {
            [wall::settled(zone, shown), None]
        }
    }

    /// Returns the first matching local time after this one.
    pub(super) fn shown_after(&self, local: NaiveDateTime) -> Option<NaiveDateTime> {
        self.cron.find_next_occurrence(&local, false).ok()
    }

    /// Returns the last matching local time at or before this one.
    fn shown_until(&self, local: NaiveDateTime) -> Option<NaiveDateTime> {
        self.cron.find_previous_occurrence(&local, true).ok()
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cron").field(&self.text).finish()
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Cron {
    type Error = ScheduleError;

    fn try_from(text: String) -> Result<Self, ScheduleError> {
        Self::read(&text)
    }
}

impl From<Cron> for String {
    fn from(cron: Cron) -> Self {
        cron.text
    }
}

/// Returns the expression that an `@name` stands for, as in crontab(5).
fn named(name: &str) -> Option<&'static str> {
    match name {
        "HOURLY" => Some("0 * * * *"),
        "DAILY" | "MIDNIGHT" => Some("0 0 * * *"),
        "WEEKLY" => Some("0 0 * * 0"),
        "MONTHLY" => Some("0 0 1 * *"),
        "YEARLY" | "ANNUALLY" => Some("0 0 1 1 *"),
        _ => None,
    }
}
