//! Quiet hours of a chat: a span of each day in which no task runs there.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

/// Span of local time, to the minute. It may reach over midnight, and is never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QuietHours {
    from: NaiveTime,
    until: NaiveTime,
}

/// Text that is no span of hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("quiet hours are two times of the day, such as 22:00-07:00")]
pub struct NoQuietHours;

impl QuietHours {
    /// Returns the end of the quiet hours around this moment in a time zone, UTC; `None` outside of them.
    #[must_use]
    pub fn end_after(self, now: DateTime<Utc>, zone: Tz) -> Option<DateTime<Utc>> {
        let local = now.with_timezone(&zone).naive_local();
        let time = local.time();
        let is_quiet = match self.from < self.until {
            true => self.from <= time && time < self.until,
            false => self.from <= time || time < self.until,
        };
        let day = if time < self.until { local.date() } else { local.date().succ_opt()? };
        is_quiet.then(|| shown_after(day.and_time(self.until), now, zone))
    }
}

/// Returns the first moment after `now` at which the clocks show this local time. They may skip it, or show it twice.
fn shown_after(local: NaiveDateTime, now: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
    let shown = zone.from_local_datetime(&local);
    let moments = [shown.earliest(), shown.latest()].map(|moment| moment.map(|moment| moment.to_utc()));
    let skipped = zone.gap_end(local);
    let all = moments.into_iter().chain([skipped]).flatten();
    all.filter(|moment| *moment > now).min().unwrap_or(now + TimeDelta::minutes(1))
}

impl FromStr for QuietHours {
    type Err = NoQuietHours;

    /// Reads `22:00-07:00`, also with dots, with other dashes, and without minutes.
    fn from_str(text: &str) -> Result<Self, NoQuietHours> {
        let (from, until) = text.split_once(['-', '–', '—']).ok_or(NoQuietHours)?;
        let span = Self { from: time(from)?, until: time(until)? };
        if span.from == span.until { Err(NoQuietHours) } else { Ok(span) }
    }
}

fn time(text: &str) -> Result<NaiveTime, NoQuietHours> {
    let text = text.trim();
    let (hour, minute) = text.split_once([':', '.']).unwrap_or((text, "0"));
    let number = |part: &str| match part.len() {
        1 | 2 if part.bytes().all(|byte| byte.is_ascii_digit()) => {
            part.parse::<u32>().map_err(|_not_a_number| NoQuietHours)
        }
        _ => Err(NoQuietHours),
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    // Midnight is both the first and the last hour of a day.
    let hour = if (hour, minute) == (24, 0) { 0 } else { hour };
    NaiveTime::from_hms_opt(hour, minute, 0).ok_or(NoQuietHours)
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, until] = [self.from, self.until].map(|time| (time.hour(), time.minute()));
        write!(f, "{:02}:{:02}–{:02}:{:02}", from.0, from.1, until.0, until.1)
    }
}

impl TryFrom<String> for QuietHours {
    type Error = NoQuietHours;

    fn try_from(text: String) -> Result<Self, NoQuietHours> {
        text.parse()
    }
}

impl From<QuietHours> for String {
    fn from(hours: QuietHours) -> Self {
        hours.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_people_write_is_read() {
        for (text, read) in [
            ("22:00-07:00", Some("22:00–07:00")),
            ("22-7", Some("22:00–07:00")),
            (" 9.30 – 18.05 ", Some("09:30–18:05")),
            ("22—24", Some("22:00–00:00")),
            ("0-6", Some("00:00–06:00")),
            ("7-7", None),
            ("0-24", None),
            ("25-7", None),
            ("22:60-7", None),
            ("22", None),
            ("tonight", None),
            ("-", None),
            ("+2-7", None),
        ] {
            assert_eq!(
                text.parse::<QuietHours>().ok().map(|hours| hours.to_string()).as_deref(),
                read,
                "{text}"
            );
        }
    }

    #[test]
    fn they_end_when_the_clocks_of_the_chat_show_it() {
        let riga: Tz = "Europe/Riga".parse().unwrap();
        let cases = [
            // (quiet hours, now, their end)
            ("22-7", "2026-01-10T21:00:00Z", Some("2026-01-11T05:00:00Z")),
            ("22-7", "2026-01-11T04:59:59Z", Some("2026-01-11T05:00:00Z")),
            ("22-7", "2026-01-11T05:00:00Z", None),
            ("9-17", "2026-01-11T08:00:00Z", Some("2026-01-11T15:00:00Z")),
            ("9-17", "2026-01-11T18:00:00Z", None),
            // The clocks go from 03:00 to 04:00 at 01:00 UTC on the 29th of March.
            ("22-3:30", "2026-03-29T00:30:00Z", Some("2026-03-29T01:00:00Z")),
            // They show 03:30 twice on the 25th of October: at 00:30 and at 01:30 UTC.
            ("22-3:30", "2026-10-25T00:10:00Z", Some("2026-10-25T00:30:00Z")),
            ("22-3:30", "2026-10-25T01:10:00Z", Some("2026-10-25T01:30:00Z")),
        ];
        for (hours, now, end) in cases {
            let [now, end] =
                [Some(now), end].map(|time| time.map(|time| time.parse::<DateTime<Utc>>().unwrap()));
            let hours: QuietHours = hours.parse().unwrap();
            assert_eq!(hours.end_after(now.unwrap(), riga), end, "{hours} at {now:?}");
        }
    }

    proptest! {
        #[test]
        fn their_end_is_ahead_within_a_day_and_outside_of_them(
            from in 0_u32..1440,
            until in 0_u32..1440,
            at in 1_700_000_000_i64..1_900_000_000,
            zone in prop::sample::select(vec!["UTC", "Europe/Riga", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
        ) {
            prop_assume!(from != until);
            let text = format!("{}:{}-{}:{}", from / 60, from % 60, until / 60, until % 60);
            let hours: QuietHours = text.parse().unwrap();
            prop_assert_eq!(hours.to_string().parse::<QuietHours>().unwrap(), hours);
            let (zone, now) = (zone.parse::<Tz>().unwrap(), DateTime::from_timestamp(at, 0).unwrap());
            if let Some(end) = hours.end_after(now, zone) {
                prop_assert!(end > now && end - now <= TimeDelta::hours(25), "{now} {end}");
                prop_assert!(hours.end_after(end, zone).is_none_or(|next| next - end < TimeDelta::hours(2)));
            }
        }
    }
}
