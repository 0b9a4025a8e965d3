//! Tables of what is read and refused, the rules for moved clocks, and what holds for every cron in every zone.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use chrono_tz::{America, Europe, UTC};

use super::*;

fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_utc()
}

/// A Sunday, 10:00 in Lisbon.
fn now() -> DateTime<Utc> {
    at("2026-11-22T10:00:00Z")
}

fn cron(text: &str) -> Schedule {
    Schedule::recurring(text, UTC, now()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The next runs as UTC, minutes only.
#[expect(dead_code, reason = "soon")]
fn runs(text: &str, zone: Tz, after: &str, count: usize) -> Vec<String> {
    cron(text)
        .upcoming(zone, at(after))
        .take(count)
        .map(|run| run.format("%m-%d %H:%M").to_string())
        .collect()
}

#[test]
fn expressions_are_read_whatever_their_case_and_space_and_stored_in_one_way() {
    for (written, stored) in [
        ("0 9 * * 1-5", "0 9 * * 1-5"),
        ("  0   9 * *\tmon-Fri ", "0 9 * * 1-5"),
        ("00 09 * * monday-FRIDAY", "0 9 * * 1-5"),
        ("0 0 9 * * *", "0 9 * * *"),
        ("30 0 9 * * *", "30 0 9 * * *"),
        ("*/10 * * * * *", "*/10 * * * * *"),
        ("0 9 ? * SUN", "0 9 * * 0"),
        ("0 9 ? * 7", "0 9 * * 0"),
        ("0 9 * * SAT-SUN", "0 9 * * 6-7"),
        ("0 9 * * SUN-TUE", "0 9 * * 0-2"),
        ("0 9 1 jan,SEPT *", "0 9 1 1,9 *"),
        ("0 9 * * 7L", "0 9 * * 0L"),
        ("0 9 * * FRI#2", "0 9 * * 5#2"),
        ("0 9 L * *", "0 9 L * *"),
        ("0 9 15w * *", "0 9 15W * *"),
        ("0 9 lw * *", "0 9 LW * *"),
        ("0 9 13 * +FRI", "0 9 13 * +5"),
        ("0 9 */2 * +MON", "0 9 */2 * +1"),
        ("*/60 * * * *", "*/60 * * * *"),
        ("@hourly", "0 * * * *"),
        ("@Daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        (" @ANNUALLY ", "0 0 1 1 *"),
    ] {
        let Schedule::Cron(read) = cron(written) else { panic!("{written} is no cron") };
        assert_eq!(read.as_str(), stored, "{written}");
    }
}

#[test]
fn what_is_no_expression_is_refused_with_what_to_write_instead() {
    for (written, said) in [
        ("", "this has 0"),
        ("0 9 * *", "this has 4"),
        ("0 0 9 * * * 2027", "Years are not taken"),
        ("in 20 minutes please do", "`IN` is not taken as minute"),
        ("@reboot", "`@REBOOT` is not known: taken are @hourly"),
        ("60 9 * * *", "`60` is not taken as minute: it goes from 0 to 59"),
        ("0 24 * * *", "it goes from 0 to 23"),
        ("0 9 0 * *", "it goes from 1 to 31"),
        ("0 9 * 13 *", "it goes from 1 to 12"),
        ("0 9 * * 8", "it goes from 0 to 7"),
        ("0 9 * * FREITAG", "`FREITAG` is not taken as day of week: taken are 0-7"),
        ("0 9 MON * *", "`MON` is not taken as day of month"),
        ("0 9 * FRI *", "`FRI` is not taken as month"),
        ("0 9 * * JAN", "`JAN` is not taken as day of week"),
        ("0 9 * * L", "as in `5L`"),
        ("0 9 * * 5#6", "a number from 1 to 5"),
        ("0 9 * * FRI-MON", "write `5-6,0-1`"),
        ("0 22-6 * * *", "write `22-23,0-6`"),
        ("5/10 * * * *", "as in `5-59/10`"),
        ("*/90 * * * *", "a step is a number from 1 to 60"),
        ("*/0 * * * *", "a step is a number from 1 to 60"),
        ("0 9,,10 * * *", "is not taken as hour"),
        ("*,30 9 * * *", "`*` stands alone"),
        ("0 9 L,LW * *", "do not go together"),
        ("0 9 LWX * *", "day of month"),
        ("-5 9 * * *", "is not taken as minute"),
        ("? 9 * * *", "is not taken as minute"),
        ("0 9 */2 * MON", "is ambiguous"),
        ("0 9 1 * */2", "is ambiguous"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 2,4,6,9,11 *", "never comes"),
        ("0 0 29 2 +MON", "never comes"),
    ] {
        let error = Schedule::recurring(written, UTC, now()).expect_err(written).to_string();
        assert!(error.contains(said), "{written}: {error}");
    }
}

#[test]
fn single_times_are_read_in_every_form() {
    let lisbon = Europe::Lisbon;
    let york = America::New_York;
    for (written, zone, wanted, wall) in [
        ("2026-11-23T07:00:00Z", york, "2026-11-23T07:00:00Z", false),
        ("2026-11-23t07:00z", york, "2026-11-23T07:00:00Z", false),
        ("2026-11-23T07:00+05:30", york, "2026-11-23T01:30:00Z", false),
        ("2026-11-23 07:00 -0300", york, "2026-11-23T10:00:00Z", false),
        ("2026-11-23T07:00:00.750+01", york, "2026-11-23T06:00:00Z", false),
        ("2026-11-23T07:00", york, "2026-11-23T12:00:00Z", true),
        (" 2026-11-23 07:00:30 ", york, "2026-11-23T12:00:30Z", true),
        ("2026-11-23 07:00", lisbon, "2026-11-23T07:00:00Z", true),
        // Clocks skip it.
        ("2027-03-14 02:30", york, "2027-03-14T07:00:00Z", true),
        ("2027-03-28 01:59:59", lisbon, "2027-03-28T01:00:00Z", true),
        // Clocks show it twice.
        ("2027-11-07 01:30", york, "2027-11-07T05:30:00Z", true),
        ("in 20m", lisbon, "2026-11-22T10:20:00Z", false),
        ("20m", lisbon, "2026-11-22T10:20:00Z", false),
        ("In 1h30m", lisbon, "2026-11-22T11:30:00Z", false),
        ("1 hour and 30 minutes", lisbon, "2026-11-22T11:30:00Z", false),
        ("in 1 hr, 5 secs", lisbon, "2026-11-22T11:00:05Z", false),
        ("in 2 days", york, "2026-11-24T10:00:00Z", false),
        ("in 90 seconds", lisbon, "2026-11-22T10:01:30Z", false),
        ("1.5h", lisbon, "2026-11-22T11:30:00Z", false),
        ("in 3 weeks", lisbon, "2026-12-13T10:00:00Z", false),
        ("PT20M", lisbon, "2026-11-22T10:20:00Z", false),
        ("pt1h30m", lisbon, "2026-11-22T11:30:00Z", false),
        ("P1DT12H", lisbon, "2026-11-23T22:00:00Z", false),
        ("P2W", lisbon, "2026-12-06T10:00:00Z", false),
    ] {
        let read = Schedule::once(written, zone, now()).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(read, Schedule::Once { at: at(wanted), wall }, "{written}");
    }
}

#[test]
fn what_is_no_single_time_to_come_is_refused_with_what_to_write_instead() {
    for (written, said) in [
        ("2026-11-23", "`2026-11-23` is a day without a time: say the time too, as in `2026-11-23T09:00`"),
        ("04:30", "as in `2026-11-23T04:30`"),
        ("18:30", "as in `2026-11-22T18:30`"),
        ("2026-11-22T05:00", "is not in the future: it is 2026-11-22T05:00:00-05:00 (America/New_York) now"),
        ("2020-01-01T00:00:00Z", "Give a later time"),
        ("0m", "is not in the future"),
        ("2031-11-22T10:00:01Z", "more than five years ahead"),
        ("in 300 weeks", "more than five years ahead"),
        ("in 999999999999 weeks", "more than five years ahead"),
        ("in 2 months", "no fixed length"),
        ("P1Y", "no fixed length"),
        ("P1M", "no fixed length"),
        ("in 5", "`in 5` is no time: taken are a date and time (`2026-11-23T09:00`"),
        ("-5m", "is no time"),
        ("5m ago", "is no time"),
        ("PT", "is no time"),
        ("P1H", "is no time"),
        ("1.2.3h", "is no time"),
        ("", "is no time"),
        ("tomorrow at 9", "is no time"),
        ("2026-13-01T09:00", "is no time"),
        ("2027-02-29T09:00", "is no time"),
        ("2026-11-23T25:00", "is no time"),
        ("2026-11-23T07:00[Europe/Lisbon]", "is no time"),
        ("0 9 * * *", "is no time"),
    ] {
        let error = Schedule::once(written, America::New_York, now()).expect_err(written).to_string();
        assert!(error.contains(said), "{written}: {error}");
    }
}
