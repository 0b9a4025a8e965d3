//! When a task is due: reads what a model or a person wrote, finds runs. The tools that keep tasks and the scheduler use
//! it.
//!
//! Where a zone moves its clocks, these rules hold, which are vixie-cron's:
//! - A cron that names its times of day (`30 2 * * *`, `0 8,20 * * 1-5`) runs at each of them once. A time that clocks
//!   skip runs at the first instant after the gap, together with whatever else is due there; a time that they show
//!   twice runs at the first.
//! - A cron whose field of minutes or of hours begins with `*` (`*/15 * * * *`, `0 * * * *`, `0 */2 * * *`,
//!   `*/10 2 * * *`) follows the clock: it runs whenever clocks show a matching time, so it runs on through an hour that
//!   comes twice, and leaves out what is skipped. Whatever the field of seconds says does not matter for this.
//! - A single run told as a local time follows the first rule.
//!
//! Where both fields of days are given, a day that matches either is a match, as in crontab(5).

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
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
pub use shape::Shape;
pub use zoned::split_zone;

/// A cron whose first run is farther ahead is taken for a mistake: the longest that 29 February lets wait.
const FARTHEST_FIRST: TimeDelta = TimeDelta::days(8 * 366);
/// The most runs that are looked at for the shortest gap: a day of minutes and more.
const GAP_RUNS: usize = 1_500;
/// The time that is looked at for the shortest gap: all days of a year.
const GAP_SPAN: TimeDelta = TimeDelta::days(400);
/// How late a missed single run may still be run.
const ONCE_GRACE: TimeDelta = TimeDelta::hours(24);
/// A missed run of a cron expression may always be this late and still be made up.
const MIN_GRACE: TimeDelta = TimeDelta::minutes(2);
/// A missed run of a cron expression is not made up when it is later than this.
const MAX_GRACE: TimeDelta = TimeDelta::hours(6);
const DAY_MINUTES: i64 = 24 * 60;

/// When a task is due.
///
/// Stored as `{"cron":"0 9 * * 1-5"}` or `{"once":{"at":"2026-11-23T07:00:00Z","wall":true}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Again and again, by the clock of a zone.
    Cron(Cron),
    /// Runs once, at a given time.
    Once {
        /// The due time, UTC.
        at: DateTime<Utc>,
        /// It was told as a local time, and moves with the zone.
        wall: bool,
    },
}

impl Schedule {
    /// Reads a cron expression: 5 fields, 6 with seconds first, or an `@name`; names of days and months are taken.
    ///
    /// # Errors
    /// When it is none, or does not run within eight years.
    pub fn recurring(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Self, ScheduleError> {
        let cron = Cron::read(text)?;
        match cron.next(zone, now) {
            Some(first) if first - now <= FARTHEST_FIRST => Ok(Self::Cron(cron)),
            _ => Err(ScheduleError::Never(text.trim().to_owned())),
        }
    }

    /// Reads a single time: ISO 8601 with an offset or `Z`, without one for local time, or a duration from now such as
    /// `in 1h30m`, `in 2 days`, `PT20M`. Durations are exact: a day is 24 hours. Fractions of a second are dropped.
    ///
    /// # Errors
    /// When it is none, is not in the future, or is more than five years ahead.
    pub fn once(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Self, ScheduleError> {
        let moment = moment::read(text, zone, now)?;
        Ok(Self::Once { at: moment.at, wall: moment.wall })
    }

    /// The first run after an instant, which does not count. A cron is followed 40 years ahead.
    #[must_use]
    pub fn next(&self, zone: Tz, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Cron(cron) => cron.next(zone, after),
            Self::Once { at, .. } => Some(*at).filter(|at| *at > after),
        }
    }

    /// The latest run until an instant, which counts. A cron is followed 40 years back, over the time before it was
    /// written too.
    #[must_use]
    pub(crate) fn last(&self, zone: Tz, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Cron(cron) => cron.last(zone, until),
            Self::Once { at, .. } => Some(*at).filter(|at| *at <= until),
        }
    }

    /// All runs after an instant, in order.
    pub(crate) fn upcoming(
        &self,
        zone: Tz,
        after: DateTime<Utc>,
    ) -> impl Iterator<Item = DateTime<Utc>> + '_ {
        std::iter::successors(self.next(zone, after), move |last| self.next(zone, *last))
    }

    /// The shortest time between two runs, by clocks that nobody moves: none for a single run.
    ///
    /// Looks at the first 1500 runs, and not farther than 400 days.
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

    /// How late a missed run may still be run: a single one 24 hours, a recurring one half of the time to the next one,
    /// at least 2 minutes and at most 6 hours.
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

    /// The same for a chat that moved to another zone: what was told as a local time stays that local time. An expression
    /// stays as it is, since it is read in the zone it is asked for.
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

    /// Whether another zone means another time.
    #[must_use]
    pub const fn uses_zone(&self) -> bool {
        matches!(self, Self::Cron(_) | Self::Once { wall: true, .. })
    }

    /// Whether it runs more than once.
    #[must_use]
    pub const fn is_recurring(&self) -> bool {
        matches!(self, Self::Cron(_))
    }

    /// Every run moved by this much. A cron only if it names one time of day, the time is whole minutes, and it stays on
    /// the day or runs on all days; none otherwise.
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
