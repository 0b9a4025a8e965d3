//! Between what clocks on a wall show and instants, where a zone moves its clocks. Used by crons and one-shots.

use chrono::{DateTime, LocalResult, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::{GapInfo, Tz};

/// What clocks in the zone show.
pub(super) fn shown(zone: Tz, at: DateTime<Utc>) -> NaiveDateTime {
    at.with_timezone(&zone).naive_local()
}

/// The instants at which clocks in the zone show this: none in a gap, two where they are put back.
pub(super) fn readings(zone: Tz, local: NaiveDateTime) -> LocalResult<DateTime<Utc>> {
    zone.from_local_datetime(&local).map(|at| at.to_utc())
}

/// The instant that stands for a local time: the first one that shows it, the end of the gap where none does.
pub(super) fn settled(zone: Tz, local: NaiveDateTime) -> Option<DateTime<Utc>> {
    match readings(zone, local) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at),
        LocalResult::None => Some(GapInfo::new(&local, &zone)?.end?.to_utc()),
    }
}

/// How far clocks will go back over what they show now; zero unless they show it for the first of two times.
pub(super) fn shown_again_after(zone: Tz, at: DateTime<Utc>) -> TimeDelta {
    match readings(zone, shown(zone, at)) {
        LocalResult::Ambiguous(first, second) if at < second => second - first,
        _ => TimeDelta::zero(),
    }
}

/// How far clocks went back over what they show now; zero unless they show it for the second time.
pub(super) fn shown_before(zone: Tz, at: DateTime<Utc>) -> TimeDelta {
    match readings(zone, shown(zone, at)) {
        LocalResult::Ambiguous(first, second) if at >= second => second - first,
        _ => TimeDelta::zero(),
    }
}
