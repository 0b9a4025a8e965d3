//! Schedules of tasks: parsing of times and cron expressions, and search of runs. Used by the task tools and the scheduler.
//!
//! At changes of the clocks, the rules of vixie-cron apply:
//! - A cron that names its times of day (`30 2 * * *`, `0 8,20 * * 1-5`) runs once at each of them. A time that clocks skip
//!   runs at the first instant after the gap, together with anything else due then. A time that clocks show twice runs at
//!   the first one.
//! - A cron whose minute or hour field begins with `*` (`*/15 * * * *`, `0 * * * *`, `0 */2 * * *`, `*/10 2 * * *`) follows
//!   the clock. It runs whenever clocks show a matching time: it goes on through an hour that comes twice, and leaves out
//!   skipped times. The seconds field does not matter for this.
//! - A single run given as a local time follows the first rule.
//!
//! If both day fields are given, a day that matches either is a match, as in crontab(5).

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

mod cron;
mod error;
mod field;
mod moment;
mod shape;
#[cfg(test)]
mod tests;
mod wall;
mod zoned;

pub(crate) use cron::Cron;
pub use error::ScheduleError;
pub use shape::ScheduleShape;
pub use zoned::split_zone;

/// Maximum time until the first run of a cron expression; a longer one is taken for a mistake. This is the longest wait for
/// 29 February.
const FARTHEST_FIRST: TimeDelta = TimeDelta::days(8 * 366);
/// Maximum number of runs checked for the shortest gap: more than a day of minutes.
const GAP_RUNS: usize = 1_500;
/// Maximum period checked for the shortest gap: more than a year.
const GAP_SPAN: TimeDelta = TimeDelta::days(400);
/// Grace period of a missed single run.
const ONCE_GRACE: TimeDelta = TimeDelta::hours(24);
/// Minimum grace period of a missed run of a cron expression.
const MIN_GRACE: TimeDelta = TimeDelta::minutes(2);
/// Maximum grace period of a missed run of a cron expression.
const MAX_GRACE: TimeDelta = TimeDelta::hours(6);
const DAY_MINUTES: i64 = 24 * 60;

/// Schedule of a task.
///
/// Stored as `{"cron":"0 9 * * 1-5"}` or `{"once":{"at":"2026-11-23T07:00:00Z","wall":true}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Runs repeatedly, by the clock of a time zone.
    Cron(Cron),
    /// Runs once, at a given time.
    Once {
        /// Due time, UTC.
        at: DateTime<Utc>,
        /// `true` if it was given as a local time, which moves with the time zone.
        wall: bool,
    },
}

impl Schedule {
    /// Parses a cron expression: 5 fields, 6 with seconds first, or an `@name`. Names of days and months are accepted.
    ///
    /// # Errors
    /// If the text is no cron expression, or does not run within eight years.
    pub fn recurring(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Self, ScheduleError> {
        let cron = Cron::read(text)?;
        match cron.next(zone, now) {
            Some(first) if first - now <= FARTHEST_FIRST => Ok(Self::Cron(cron)),
            _ => Err(ScheduleError::Never(text.trim().to_owned())),
        }
    }

    /// Parses a single time: ISO 8601 with an offset or `Z`, without one for local time, or a duration from now such as `in
    /// 1h30m`, `in 2 days`, `PT20M`. Durations are exact: a day is 24 hours. Fractions of a second are dropped.
    ///
    /// # Errors
    /// If the text is no such time, is not in the future, or is more than five years ahead.
    pub fn once(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Self, ScheduleError> {
        let moment = moment::read(text, zone, now)?;
        Ok(Self::Once { at: moment.at, wall: moment.wall })
    }

    /// Returns the first run after an instant. A cron is searched 40 years ahead.
    #[must_use]
    pub fn next(&self, zone: Tz, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Cron(cron) => cron.next(zone, after),
            Self::Once { at, .. } => Some(*at).filter(|at| *at > after),
        }
    }

    /// Returns the last run at or before an instant. A cron is searched 40 years back, even before its creation.
    #[must_use]
    pub(crate) fn last(&self, zone: Tz, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Cron(cron) => cron.last(zone, until),
            Self::Once { at, .. } => Some(*at).filter(|at| *at <= until),
        }
    }

    /// Returns all runs after an instant, in order.
    pub(crate) fn upcoming(
        &self,
        zone: Tz,
        after: DateTime<Utc>,
    ) -> impl Iterator<Item = DateTime<Utc>> + '_ {
        std::iter::successors(self.next(zone, after), move |last| self.next(zone, *last))
    }

    /// Returns the shortest time between two runs, regardless of clock changes; `None` for a single run.
    ///
    /// Checks the first 1500 runs, within 400 days at most.
    #[must_use]
    pub fn shortest_gap(&self, zone: Tz, after: DateTime<Utc>) -> Option<TimeDelta> {
        let Self::Cron(cron) = self else { return None };
        let start = cron.shown_after(wall::shown(zone, after))?;
        let mut shortest: Option<TimeDelta> = None;
        let mut last = start;
        for _ in 0..GAP_RUNS {
            let Some(run) = cron.shown_after(last) else { break };
            shortest = shortest.into_iter().chain([run - last]).min();
            if run - start > GAP_SPAN {
                break;
            }
            last = run;
        }
        shortest
    }

    /// Returns the grace period of a missed run: 24 hours for a single one; half of the time to the next run for a recurring
    /// one, at least 2 minutes and at most 6 hours.
    #[must_use]
    pub(crate) fn grace(&self, zone: Tz, due: DateTime<Utc>) -> TimeDelta {
        match self {
            Self::Once { .. } => ONCE_GRACE,
            Self::Cron(cron) => {
                let half = cron.next(zone, due).map_or(MAX_GRACE, |next| (next - due) / 2);
                half.clamp(MIN_GRACE, MAX_GRACE)
            }
        }
    }

    /// Returns the schedule for a chat that moved to another zone. A single local time stays that local time. A cron
    /// expression stays as it is, since it is read in the zone of the chat.
    #[must_use]
    pub fn moved(&self, from: Tz, to: Tz) -> Self {
        match self {
            Self::Once { at, wall: true } => {
                let at = wall::settled(to, wall::shown(from, *at)).unwrap_or(*at);
                Self::Once { at, wall: true }
            }
            other => other.clone(),
        }
    }

    /// Returns `true` if another zone would change the time.
    #[must_use]
    pub const fn uses_zone(&self) -> bool {
        matches!(self, Self::Cron(_) | Self::Once { wall: true, .. })
    }

    /// Returns `true` if it runs more than once.
    #[must_use]
    pub const fn is_recurring(&self) -> bool {
        matches!(self, Self::Cron(_))
    }

    /// Returns the schedule with every run moved by this much. A cron must name a single time of day, `by` must be whole
    /// minutes, and the new time must stay on the day unless it runs on all days. Returns `None` otherwise.
    #[must_use]
    pub fn shifted(&self, by: TimeDelta) -> Option<Self> {
        match self {
            Self::Once { at, wall } => Some(Self::Once { at: at.checked_add_signed(by)?, wall: *wall }),
            Self::Cron(cron) => {
                let (seconds, fields) = cron.fields();
                let [minute, hour, days @ ..] = fields.as_slice() else { return None };
                let time = hour.parse::<i64>().ok()? * 60 + minute.parse::<i64>().ok()?;
                let time = time.checked_add(by.num_minutes())?;
                let all_days = days.iter().all(|field| *field == "*");
                if by != TimeDelta::try_minutes(by.num_minutes())?
                    || !(all_days || (0..DAY_MINUTES).contains(&time))
                {
                    return None;
                }
                let time = time.rem_euclid(DAY_MINUTES);
                let seconds = seconds.map(|seconds| format!("{seconds} ")).unwrap_or_default();
                let text = format!("{seconds}{} {} {}", time % 60, time / 60, days.join(" "));
                Cron::read(&text).ok().map(Self::Cron)
            }
        }
    }
}
