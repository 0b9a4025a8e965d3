//! Conversion between local clock times and instants, including clock changes. Used by crons and single runs.

use chrono::{DateTime, LocalResult, NaiveDateTime, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;

/// Returns the local time in the zone.
pub(super) fn shown(zone: Tz, at: DateTime<Utc>) -> NaiveDateTime {
    at.with_timezone(&zone).naive_local()
}

/// Returns the instants of a local time: none in a gap, two if the clocks go back over it.
pub(super) fn readings(zone: Tz, local: NaiveDateTime) -> LocalResult<DateTime<Utc>> {
    zone.from_local_datetime(&local).map(|at| at.to_utc())
}

/// Returns the instant chosen for a local time: the first one that shows it, or the end of the gap if none does.
pub(super) fn settled(zone: Tz, local: NaiveDateTime) -> Option<DateTime<Utc>> {
    match readings(zone, local) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at),
        LocalResult::None => zone.gap_end(local),
    }
}

/// Returns how far the clocks will go back over the current local time; zero unless it is the first of two occurrences.
pub(super) fn shown_again_after(zone: Tz, at: DateTime<Utc>) -> TimeDelta {
    match readings(zone, shown(zone, at)) {
        LocalResult::Ambiguous(first, second) if at < second => second - first,
        _ => TimeDelta::zero(),
    }
}

/// Returns how far the clocks went back over the current local time; zero unless it is the second of two occurrences.
pub(super) fn shown_before(zone: Tz, at: DateTime<Utc>) -> TimeDelta {
    match readings(zone, shown(zone, at)) {
        LocalResult::Ambiguous(first, second) if at >= second => second - first,
        _ => TimeDelta::zero(),
    }
}
