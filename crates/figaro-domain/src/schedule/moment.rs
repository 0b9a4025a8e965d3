//! Time of a single run: a date and time (ISO 8601, RFC 3339), or a duration from now.

use chrono::{DateTime, Days, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use figaro_base::tz::Tz;

use super::error::ScheduleError;
use super::wall;

/// Maximum time until a run: five years.
const FARTHEST: Months = Months::new(5 * 12);
/// Maximum number of digits in a duration; a longer one is a mistake.
const MAX_DIGITS: usize = 12;

/// A time parsed from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// The time, UTC, in whole seconds.
    pub(super) at: DateTime<Utc>,
    /// `true` if it was given as a local time, without an offset.
    pub(super) wall: bool,
}

/// Parses a future time.
///
/// # Errors
/// If the text is no time, is in the past, or is more than five years ahead.
pub(super) fn read(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Moment, ScheduleError> {
    let upper = text.trim().to_uppercase();
    let moment = match duration(&upper)? {
        Some(duration) => Moment { at: later(now, duration, text.trim(), zone)?, wall: false },
        None => date_time(&upper, zone).ok_or_else(|| unread(text.trim(), &upper, zone, now))?,
    };
    let at = DateTime::from_timestamp(moment.at.timestamp(), 0).unwrap_or(moment.at);
    let moment = Moment { at, ..moment };
    if moment.at <= now {
        return Err(ScheduleError::Past { wanted: told(zone, moment.at), now: told(zone, now) });
    }
    if now.checked_add_months(FARTHEST).is_none_or(|farthest| moment.at > farthest) {
        return Err(ScheduleError::Far { wanted: told(zone, moment.at), now: told(zone, now) });
    }
    Ok(moment)
}

fn later(
    now: DateTime<Utc>,
    duration: TimeDelta,
    text: &str,
    zone: Tz,
) -> Result<DateTime<Utc>, ScheduleError> {
    let far = || ScheduleError::Far { wanted: format!("`{text}`"), now: told(zone, now) };
    now.checked_add_signed(duration).ok_or_else(far)
}

/// Parses a date and time with an offset, or as local time of the zone.
fn date_time(text: &str, zone: Tz) -> Option<Moment> {
    // A `T` or a space separates date and time; further spaces may come before an offset.
    let (date, time) = text.split_once(['T', ' '])?;
    let text = format!("{date}T{}", time.replace(' ', ""));
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"] {
        if let Ok(at) = DateTime::parse_from_str(&text, &format!("{format}%#z")) {
            return Some(Moment { at: at.to_utc(), wall: false });
        }
        if let Ok(local) = NaiveDateTime::parse_from_str(&text, format) {
            return Some(Moment { at: wall::settled(zone, local)?, wall: true });
        }
    }
    None
}

/// Parses a duration such as `IN 1H30M`, `2 DAYS`, `1.5H`, `PT20M`. Returns `None` if the text is none.
fn duration(text: &str) -> Result<Option<TimeDelta>, ScheduleError> {
    let long = || ScheduleError::NoFixedLength(text.to_lowercase());
    if let Some(iso) = text.strip_prefix('P') {
        let (days, times) = iso.split_once('T').unwrap_or((iso, ""));
        let units = parts(days).zip(parts(times));
        return match units {
            Some((days, _)) if days.iter().any(|(_, unit)| matches!(*unit, "Y" | "M")) => Err(long()),
            Some((days, times)) if !(days.is_empty() && times.is_empty()) => {
                let days = total(&days, |unit| unit_seconds(unit).filter(|_| matches!(unit, "W" | "D")));
                let times =
                    total(&times, |unit| unit_seconds(unit).filter(|_| matches!(unit, "H" | "M" | "S")));
                Ok(days.zip(times).and_then(|(days, times)| days.checked_add(&times)))
            }
            _ => Ok(None),
        };
    }
    let text_of_parts = text.strip_prefix("IN ").unwrap_or(text);
    let Some(parts) = parts(text_of_parts).filter(|parts| !parts.is_empty()) else { return Ok(None) };
    if parts.iter().any(|(_, unit)| matches!(*unit, "MONTH" | "MONTHS" | "YEAR" | "YEARS" | "Y" | "MO")) {
        return Err(long());
    }
    Ok(total(&parts, unit_seconds))
}

/// Splits a text into numbers and their units; `None` for any other text.
fn parts(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let unit = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(unit);
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        if number.is_empty() || unit.is_empty() {
            return None;
        }
        parts.push((number, unit));
        rest = behind.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("AND ").unwrap_or(rest);
    }
    Some(parts)
}

/// Returns the total duration of the parts; `None` if a part is no duration.
fn total(parts: &[(&str, &str)], seconds: impl Fn(&str) -> Option<f64>) -> Option<TimeDelta> {
    let mut sum = 0.0;
    for (number, unit) in parts {
        let number = Some(*number).filter(|number| number.len() <= MAX_DIGITS)?;
        sum += number.parse::<f64>().ok()? * seconds(unit)?;
    }
    // An out-of-range cast saturates at the limit, which is too large for any date.
    TimeDelta::try_seconds(sum.round() as i64)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "S" | "SEC" | "SECS" | "SECOND" | "SECONDS" => Some(1.0),
        "M" | "MIN" | "MINS" | "MINUTE" | "MINUTES" => Some(60.0),
        "H" | "HR" | "HRS" | "HOUR" | "HOURS" => Some(3_600.0),
        "D" | "DAY" | "DAYS" => Some(86_400.0),
        "W" | "WK" | "WEEK" | "WEEKS" => Some(604_800.0),
        _ => None,
    }
}

/// Returns the error for a text that is neither a time nor a duration.
fn unread(text: &str, upper: &str, zone: Tz, now: DateTime<Utc>) -> ScheduleError {
    let local = wall::shown(zone, now);
    if NaiveDate::parse_from_str(upper, "%Y-%m-%d").is_ok() {
        return ScheduleError::NoTime(text.to_owned());
    }
    let time = ["%H:%M", "%H:%M:%S"].into_iter().find_map(|form| NaiveTime::parse_from_str(upper, form).ok());
    if let Some(time) = time {
        let today = local.date();
        let next = if time > local.time() { Some(today) } else { today.checked_add_days(Days::new(1)) };
        let day = next.unwrap_or(today).to_string();
        return ScheduleError::NoDay { time: time.format("%H:%M").to_string(), day, now: told(zone, now) };
    }
    let tomorrow = local.date().checked_add_days(Days::new(1)).unwrap_or(local.date());
    ScheduleError::Unreadable {
        text: text.to_owned(),
        example: format!("{tomorrow}T09:00"),
        now: told(zone, now),
    }
}

/// Formats a time for an error: in the zone, with its offset.
fn told(zone: Tz, at: DateTime<Utc>) -> String {
    format!("{} ({zone})", at.with_timezone(&zone).format("%Y-%m-%dT%H:%M:%S%:z"))
}
