use chrono::{DateTime, LocalResult, NaiveDate, NaiveDateTime, Offset, TimeZone, Utc};
use proptest::prelude::*;

use super::*;

fn zone(name: &str) -> Tz {
    name.parse().unwrap()
}

fn local(month: u32, day: u32, hour: u32, minute: u32) -> NaiveDateTime {
    NaiveDate::from_ymd_opt(2026, month, day).unwrap().and_hms_opt(hour, minute, 0).unwrap()
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

#[test]
fn a_zone_is_parsed_in_any_case_and_stored_by_its_name() {
    assert_eq!(zone("europe/RIGA").to_string(), "Europe/Riga");
    assert_eq!((zone("utc"), Tz::UTC.name()), (Tz::UTC, "UTC"));
    assert_eq!(serde_json::to_string(&zone("Asia/Tokyo")).unwrap(), r#""Asia/Tokyo""#);
    for name in Tz::all() {
        let json = serde_json::to_string(&name).unwrap();
        assert_eq!(serde_json::from_str::<Tz>(&json).unwrap(), name);
    }
    let wrong = serde_json::from_str::<Tz>(r#""Europe/Atlantis""#).unwrap_err().to_string();
    assert!(wrong.contains("\"Europe/Atlantis\" is no time zone: give a name like Europe/Riga"), "{wrong}");
}

#[test]
fn every_zone_has_rules_of_its_own() {
    assert!(Tz::all().count() > 590);
    let at = utc("2026-07-01T00:00:00Z");
    // A zone whose data could not be parsed would show UTC.
    let shows_utc = |zone: &Tz| at.with_timezone(zone).offset().fix().local_minus_utc() == 0;
    let few = Tz::all().filter(shows_utc).count();
    assert!((20..60).contains(&few), "{few} zones show UTC in summer");
}

#[test]
fn a_local_time_is_shown_once_twice_or_never() {
    let riga = zone("Europe/Riga");
    let at = |local| riga.from_local_datetime(&local).map(|at| at.to_utc());
    assert_eq!(at(local(7, 1, 12, 0)), LocalResult::Single(utc("2026-07-01T09:00:00Z")));
    assert_eq!(at(local(3, 29, 3, 30)), LocalResult::None);
    let twice = LocalResult::Ambiguous(utc("2026-10-25T00:30:00Z"), utc("2026-10-25T01:30:00Z"));
    assert_eq!(at(local(10, 25, 3, 30)), twice);
}

#[test]
fn a_gap_ends_when_the_clocks_change() {
    let end = Some(utc("2026-03-29T01:00:00Z"));
    for minute in [0, 1, 30, 59] {
        assert_eq!(zone("Europe/Riga").gap_end(local(3, 29, 3, minute)), end);
    }
    for shown in [local(3, 29, 2, 59), local(3, 29, 4, 0), local(10, 25, 3, 30)] {
        assert_eq!(zone("Europe/Riga").gap_end(shown), None);
    }
    // Half an hour, and a whole day.
    assert_eq!(zone("Australia/Lord_Howe").gap_end(local(10, 4, 2, 15)), Some(utc("2026-10-03T15:30:00Z")));
    let skipped = NaiveDate::from_ymd_opt(2011, 12, 30).unwrap().and_hms_opt(12, 0, 0).unwrap();
    assert_eq!(zone("Pacific/Apia").gap_end(skipped), Some(utc("2011-12-30T10:00:00Z")));
}

proptest! {
    /// Any instant, also beyond the years of the database, is shown by a local time that stands for it.
    #[test]
    fn an_instant_is_among_those_of_its_local_time(
        at in -8_000_000_000_000_i64..8_000_000_000_000, zone in 0_u16..597,
    ) {
        let (zone, at) = (Tz(zone), DateTime::from_timestamp(at, 0).unwrap());
        let shown = at.with_timezone(&zone);
        prop_assert_eq!(shown.to_utc(), at);
        if (1900..2400).contains(&shown.naive_local().date().year()) {
            let all = zone.from_local_datetime(&shown.naive_local());
            prop_assert!([all.earliest(), all.latest()].into_iter().flatten().any(|one| one.to_utc() == at));
        }
    }
}
