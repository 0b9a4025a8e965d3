//! Repeated times: times of day, or a cron expression.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use chrono::{DateTime, NaiveTime, Timelike, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

use super::super::schedule::Schedule;

/// Maximum number of times per day.
const MAX_TIMES: usize = 12;

/// Schedule stored in a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// Every day at these times, sorted and without duplicates.
    Daily(Vec<NaiveTime>),
    /// A cron expression or an `@name`, as written.
    Cron(String),
}

impl Times {
    /// Parses times of day such as `08:00, 20:00`, or a cron expression.
    ///
    /// # Errors
    /// If the text is neither, as a message for its author.
    pub(crate) fn read(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Self, String> {
        let text = text.trim();
        let parts: Vec<&str> =
            text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
        let times: Option<Vec<NaiveTime>> = parts.iter().map(|part| time_of_day(part)).collect();
        match times {
            Some(mut times) if !times.is_empty() => {
                times.sort_unstable();
                times.dedup();
                if times.len() > MAX_TIMES {
                    return Err(format!("takes at most {MAX_TIMES} times of a day"));
                }
                Ok(Self::Daily(times))
            }
            _ => match Schedule::recurring(text, zone, now) {
                Ok(_) => Ok(Self::Cron(text.split_whitespace().collect::<Vec<_>>().join(" "))),
                Err(_) => Err(format!(
                    "takes times of day such as `08:00, 20:00`, or a cron expression such as `0 9 * * 1`; this has `{text}`"
                )),
            },
        }
    }

    /// Returns the cron expressions that together form this schedule. Times with the same minute share one.
    #[must_use]
    pub fn crons(&self) -> Vec<String> {
        match self {
            Self::Cron(cron) => vec![cron.clone()],
            Self::Daily(times) => {
                let mut by_minute: BTreeMap<u32, Vec<String>> = BTreeMap::new();
                for time in times {
                    by_minute.entry(time.minute()).or_default().push(time.hour().to_string());
                }
                let cron =
                    |(minute, hours): (u32, Vec<String>)| format!("{minute} {} * * *", hours.join(","));
                by_minute.into_iter().map(cron).collect()
            }
        }
    }
}

impl Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => f.write_str(cron),
            Self::Daily(times) => {
                let times: Vec<String> = times.iter().map(|time| time.format("%H:%M").to_string()).collect();
                f.write_str(&times.join(", "))
            }
        }
    }
}

/// Parses a time of day such as `8:00`, `08:00` or `20:30:00`.
pub(super) fn time_of_day(text: &str) -> Option<NaiveTime> {
    ["%H:%M", "%H:%M:%S"].iter().find_map(|form| NaiveTime::parse_from_str(text.trim(), form).ok())
}
