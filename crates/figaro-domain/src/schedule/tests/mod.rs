//! Tables of what is read and refused, the rules for moved clocks, and what holds for every cron in every zone.

use chrono::{DateTime, NaiveTime, TimeDelta, Utc, Weekday};
use figaro_base::tz::Tz;
use proptest::prelude::*;

use super::*;

mod oracle;

fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_utc()
}

/// A Sunday, 10:00 in Lisbon.
fn now() -> DateTime<Utc> {
    at("2026-11-22T10:00:00Z")
}

fn zone(name: &str) -> Tz {
    name.parse().unwrap()
}

fn cron(text: &str) -> Schedule {
    Schedule::recurring(text, Tz::UTC, now()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The next runs as Tz::UTC, minutes only.
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
        let error = Schedule::recurring(written, Tz::UTC, now()).expect_err(written).to_string();
        assert!(error.contains(said), "{written}: {error}");
    }
}

#[test]
fn single_times_are_read_in_every_form() {
    let lisbon = zone("Europe/Lisbon");
    let york = zone("America/New_York");
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
        ("in 999999999 weeks", "more than five years ahead"),
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
        let error = Schedule::once(written, zone("America/New_York"), now()).expect_err(written).to_string();
        assert!(error.contains(said), "{written}: {error}");
    }
}

#[test]
fn moved_clocks_follow_the_rules_of_the_docs() {
    let (york, howe) = (zone("America/New_York"), zone("Australia/Lord_Howe"));
    for (expression, zone, after, wanted) in [
        // Clocks skip 02:00 to 03:00, which is 07:00Z.
        ("30 2 * * *", york, "2027-03-14T00:00:00Z", &["03-14 07:00", "03-15 06:30"][..]),
        ("0 2,14 * * *", york, "2027-03-14T00:00:00Z", &["03-14 07:00", "03-14 18:00"]),
        ("0,30 2-3 * * *", york, "2027-03-14T00:00:00Z", &["03-14 07:00", "03-14 07:30", "03-15 06:00"]),
        ("30 * * * *", york, "2027-03-14T06:00:00Z", &["03-14 06:30", "03-14 07:30"]),
        ("0 */2 * * *", york, "2027-03-14T05:00:00Z", &["03-14 08:00", "03-14 10:00"]),
        ("*/30 2 * * *", york, "2027-03-14T05:00:00Z", &["03-15 06:00", "03-15 06:30"]),
        // Clocks show 01:00 to 02:00 twice, from 05:00Z and from 06:00Z.
        ("30 1 * * *", york, "2027-11-07T05:00:00Z", &["11-07 05:30", "11-08 06:30"]),
        ("30 1 * * *", york, "2027-11-07T05:30:00Z", &["11-08 06:30"]),
        ("0 1,2 * * *", york, "2027-11-07T04:00:00Z", &["11-07 05:00", "11-07 07:00", "11-08 06:00"]),
        ("30 * * * *", york, "2027-11-07T05:00:00Z", &["11-07 05:30", "11-07 06:30", "11-07 07:30"]),
        ("30 * * * *", york, "2027-11-07T05:45:00Z", &["11-07 06:30"]),
        // Half an hour: 02:00 to 02:30 is skipped at 15:30Z, 01:30 to 02:00 comes again at 15:00Z.
        ("15 2 * * *", howe, "2027-10-02T15:00:00Z", &["10-02 15:30", "10-03 15:15"]),
        ("15,45 * * * *", howe, "2027-10-02T15:00:00Z", &["10-02 15:15", "10-02 15:45", "10-02 16:15"]),
        ("45 * * * *", howe, "2027-04-03T14:00:00Z", &["04-03 14:45", "04-03 15:15", "04-03 16:15"]),
        // Midnight itself is skipped, and the day that clocks skip whole.
        ("0 0 * * *", zone("America/Santiago"), "2027-09-04T12:00:00Z", &["09-05 04:00", "09-06 03:00"]),
        (
            "0 9 * * *",
            zone("Pacific/Apia"),
            "2011-12-29T12:00:00Z",
            &["12-29 19:00", "12-30 10:00", "12-30 19:00"],
        ),
    ] {
        assert_eq!(runs(expression, zone, after, wanted.len()), wanted, "{expression} in {zone}");
    }
}

#[test]
fn stored_schedules_come_back_and_bad_ones_do_not() {
    for (schedule, json) in [
        (cron("0 9 * * MON-FRI"), r#"{"cron":"0 9 * * 1-5"}"#),
        (
            Schedule::Once { at: at("2026-11-23T07:00:00Z"), wall: true },
            r#"{"once":{"at":"2026-11-23T07:00:00Z","wall":true}}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&schedule).unwrap(), json);
        assert_eq!(serde_json::from_str::<Schedule>(json).unwrap(), schedule);
    }
    for bad in [r#"{"cron":"0 25 * * *"}"#, r#"{"cron":"0 0 30 2 *"}"#, r#"{"once":{"at":"2026-11-23"}}"#] {
        serde_json::from_str::<Schedule>(bad).expect_err(bad);
    }
}

#[test]
fn the_shortest_gap_is_found_over_days_weeks_and_months() {
    for (expression, gap) in [
        ("*/15 * * * *", TimeDelta::minutes(15)),
        ("*/7 * * * *", TimeDelta::minutes(4)),
        ("* * * * *", TimeDelta::minutes(1)),
        ("*/20 * * * * *", TimeDelta::seconds(20)),
        ("0 9 * * *", TimeDelta::days(1)),
        ("0 0,23 * * *", TimeDelta::hours(1)),
        ("0 0,23 L,1 * *", TimeDelta::hours(1)),
        ("0 9 * * 1,2", TimeDelta::days(1)),
        ("0 0 29 2 *", TimeDelta::days(1461)),
        // Clocks that move do not count.
        ("45 0-3 * * *", TimeDelta::hours(1)),
    ] {
        let after = at("2027-03-01T00:00:00Z");
        assert_eq!(cron(expression).shortest_gap(zone("America/New_York"), after), Some(gap), "{expression}");
    }
    assert_eq!(Schedule::Once { at: now(), wall: false }.shortest_gap(Tz::UTC, now()), None);
}

#[test]
fn a_missed_run_may_be_late_by_half_of_the_wait() {
    for (expression, due, grace) in [
        ("* * * * *", "2027-03-01T09:00:00Z", TimeDelta::minutes(2)),
        ("*/15 * * * *", "2027-03-01T09:00:00Z", TimeDelta::seconds(450)),
        ("0 */4 * * *", "2027-03-01T08:00:00Z", TimeDelta::hours(2)),
        ("0 9 * * *", "2027-03-01T09:00:00Z", TimeDelta::hours(6)),
        ("0 9,13 * * *", "2027-03-01T09:00:00Z", TimeDelta::hours(2)),
        ("0 9,13 * * *", "2027-03-01T13:00:00Z", TimeDelta::hours(6)),
    ] {
        assert_eq!(cron(expression).grace(Tz::UTC, at(due)), grace, "{expression}");
    }
    assert_eq!(Schedule::Once { at: now(), wall: false }.grace(Tz::UTC, now()), TimeDelta::hours(24));
}

#[test]
fn a_chat_that_moves_takes_its_local_times_along() {
    let wall = Schedule::once("2026-12-01 09:00", zone("Europe/Lisbon"), now()).unwrap();
    let fixed = Schedule::once("2026-12-01T09:00Z", zone("Europe/Lisbon"), now()).unwrap();
    let moved = wall.moved(zone("Europe/Lisbon"), zone("America/New_York"));
    assert_eq!(moved, Schedule::Once { at: at("2026-12-01T14:00:00Z"), wall: true });
    assert_eq!(fixed.moved(zone("Europe/Lisbon"), zone("America/New_York")), fixed);
    assert_eq!(cron("0 9 * * *").moved(zone("Europe/Lisbon"), zone("America/New_York")), cron("0 9 * * *"));
    assert_eq!([wall.uses_zone(), fixed.uses_zone(), cron("0 9 * * *").uses_zone()], [true, false, true]);
    assert_eq!([wall.is_recurring(), cron("0 9 * * *").is_recurring()], [false, true]);
}

#[test]
fn schedules_are_shifted_where_an_expression_can_say_it() {
    for (expression, minutes, wanted) in [
        ("0 9 * * 1-5", -10, Some("50 8 * * 1-5")),
        ("30 0 9 * * 1-5", 75, Some("30 15 10 * * 1-5")),
        ("5 0 * * *", -10, Some("55 23 * * *")),
        ("50 23 * * *", 24 * 60 + 20, Some("10 0 * * *")),
        ("5 0 * * 1-5", -10, None),
        ("50 23 1 * *", 10, None),
        ("0 9,18 * * *", 10, None),
        ("*/5 9 * * *", 10, None),
        ("0 * * * *", 10, None),
    ] {
        let wanted = wanted.map(cron);
        assert_eq!(cron(expression).shifted(TimeDelta::minutes(minutes)), wanted, "{expression}");
    }
    assert_eq!(cron("0 9 * * *").shifted(TimeDelta::seconds(90)), None);
    let once = Schedule::Once { at: at("2026-12-01T09:00:00Z"), wall: true };
    let wanted = Schedule::Once { at: at("2026-12-01T08:58:30Z"), wall: true };
    assert_eq!(once.shifted(TimeDelta::seconds(-90)), Some(wanted));
}

#[test]
fn shapes_are_claimed_only_where_they_say_all() {
    let times = |times: &[(u32, u32)]| -> Vec<NaiveTime> {
        times.iter().map(|(hour, minute)| NaiveTime::from_hms_opt(*hour, *minute, 0).unwrap()).collect()
    };
    let nine = times(&[(9, 0)]);
    for (expression, shape) in [
        ("* * * * *", ScheduleShape::EveryMinutes(1)),
        ("*/15 * * * *", ScheduleShape::EveryMinutes(15)),
        ("0,30 * * * *", ScheduleShape::EveryMinutes(30)),
        ("0 * * * *", ScheduleShape::EveryHours { hours: 1, minute: 0 }),
        ("*/60 * * * *", ScheduleShape::EveryHours { hours: 1, minute: 0 }),
        ("20 */6 * * *", ScheduleShape::EveryHours { hours: 6, minute: 20 }),
        ("0 9 * * *", ScheduleShape::Daily { times: nine.clone() }),
        ("30 8,20 * * *", ScheduleShape::Daily { times: times(&[(8, 30), (20, 30)]) }),
        ("0 9 * * 0-6", ScheduleShape::Daily { times: nine.clone() }),
        ("0 9 * * 1-5", ScheduleShape::Weekdays { times: nine.clone() }),
        (
            "0 9 * * 7,1,6",
            ScheduleShape::Weekly {
                days: vec![Weekday::Mon, Weekday::Sat, Weekday::Sun],
                times: nine.clone(),
            },
        ),
        ("0 9 1,15 * *", ScheduleShape::Monthly { days: vec![1, 15], times: nine.clone() }),
        ("0 9 24 12 *", ScheduleShape::Yearly { month: 12, day: 24, times: nine.clone() }),
    ] {
        assert_eq!(cron(expression).shape(), shape, "{expression}");
    }
    for expression in [
        "*/7 * * * *",
        "0 */24 * * *",
        "30 0 9 * * *",
        "*/10 * * * * *",
        "0 9 L * *",
        "0 9 15W * *",
        "0 9 * * 1#2",
        "0 9 * * 5L",
        "0 9 13 * 5",
        "0 9 13 * +5",
        "0 9 * 6 1-5",
        "0 9 */2 * *",
        "0 9 1 1,7 *",
        "0,30 */6 * * *",
        "*/15 9,12 * * *",
        "0,20,30 9-17 * * *",
        "5 */13 1 * *",
        "0 9,10,12,13,15,16,18 * * *",
        "0 9-17 * 6 *",
        "*/15 9-17 * * 1#2",
        "0 */24 * * 1",
    ] {
        assert_eq!(cron(expression).shape(), ScheduleShape::Other, "{expression}");
    }
    assert_eq!(Schedule::Once { at: now(), wall: true }.shape(), ScheduleShape::Once);
}

#[test]
fn even_steps_in_a_part_of_the_day_are_told() {
    use Weekday::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
    let (all, work) = (vec![Mon, Tue, Wed, Thu, Fri, Sat, Sun], vec![Mon, Tue, Wed, Thu, Fri]);
    for (expression, minutes, from, until, days) in [
        ("*/15 9-18 * * 1-5", 15, (9, 0), (18, 45), &work),
        ("*/15 9-17 * * *", 15, (9, 0), (17, 45), &all),
        ("0,15,30,45 0-23 * * *", 15, (0, 0), (23, 45), &all),
        ("5-59/10 * * * *", 10, (0, 5), (23, 55), &all),
        ("* 9 * * 0,6", 1, (9, 0), (9, 59), &vec![Sat, Sun]),
        ("0 9-18 * * *", 60, (9, 0), (18, 0), &all),
        ("30 9-17 * * 1-5", 60, (9, 30), (17, 30), &work),
        ("0 */2 * * 1-5", 120, (0, 0), (22, 0), &work),
        ("0 */5 * * *", 300, (0, 0), (20, 0), &all),
        ("*/15 * * * 1-5", 15, (0, 0), (23, 45), &work),
    ] {
        let [from, until] =
            [from, until].map(|(hour, minute)| NaiveTime::from_hms_opt(hour, minute, 0).unwrap());
        let shape = ScheduleShape::Between { minutes, from, until, days: days.clone() };
        assert_eq!(cron(expression).shape(), shape, "{expression}");
    }
}

const ZONES: [&str; 10] = [
    "UTC",
    "America/New_York",
    "America/Santiago",
    "America/Sao_Paulo",
    "Europe/Lisbon",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
];

fn field(low: u32, high: u32) -> impl Strategy<Value = String> {
    let value = low..=high;
    prop_oneof![
        3 => Just("*".to_owned()),
        3 => value.clone().prop_map(|value| value.to_string()),
        1 => (1..=high - low).prop_map(|step| format!("*/{step}")),
        1 => prop::collection::vec(value.clone(), 2..4)
            .prop_map(|values| values.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
        1 => (value.clone(), value, 1..5_u32)
            .prop_map(|(a, b, step)| format!("{}-{}/{step}", a.min(b), a.max(b))),
    ]
}

/// Crons that are no mistake, with the hours in which clocks are moved more often than others.
fn crons() -> impl Strategy<Value = Schedule> {
    let hour = prop_oneof![field(0, 23), field(0, 3)];
    let day = prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 31), 1 => Just("L".to_owned())];
    let month = prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 12)];
    let weekday = prop_oneof![3 => Just("*".to_owned()), 1 => field(0, 6), 1 => Just("1#2".to_owned())];
    let seconds = prop_oneof![4 => Just(""), 1 => Just("30 "), 1 => Just("*/20 ")];
    (seconds, field(0, 59), hour, day, month, weekday).prop_filter_map("never comes", |parts| {
        let (seconds, minute, hour, day, month, weekday) = parts;
        let text = format!("{seconds}{minute} {hour} {day} {month} {weekday}");
        Schedule::recurring(&text, Tz::UTC, at("2026-01-01T00:00:00Z")).ok()
    })
}

/// Any instant of some years, half of them close to where a clock is moved.
fn instants(zone: Tz) -> impl Strategy<Value = DateTime<Utc>> {
    let start = at("2009-01-01T00:00:00Z");
    let moves: Vec<DateTime<Utc>> = (0..24 * 365 * 22)
        .map(|hour| start + TimeDelta::hours(hour))
        .filter(|hour| {
            let later = *hour + TimeDelta::hours(1);
            hour.naive_utc() - wall::shown(zone, *hour) != later.naive_utc() - wall::shown(zone, later)
        })
        .collect();
    let any = (0..22 * 365 * 86_400_i64).prop_map(move |second| start + TimeDelta::seconds(second));
    if moves.is_empty() {
        return any.boxed();
    }
    let near = (prop::sample::select(moves), -5_400..9_000_i64, 0..2_i64).prop_map(|(hour, second, part)| {
        hour + TimeDelta::seconds(second) + TimeDelta::milliseconds(500 * part)
    });
    prop_oneof![any, near].boxed()
}

fn cases() -> impl Strategy<Value = (Tz, DateTime<Utc>)> {
    let zones: Vec<_> = ZONES
        .into_iter()
        .map(zone)
        .map(|zone| instants(zone).prop_map(move |at| (zone, at)).boxed())
        .collect();
    prop::strategy::Union::new(zones)
}

#[test]
fn runs_are_in_order_none_is_left_out_and_both_ways_lead_to_the_same() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    let checked = runner.run(&(crons(), cases()), |(schedule, (zone, after))| {
        let runs: Vec<_> = schedule.upcoming(zone, after).take(8).collect();
        prop_assert!(!runs.is_empty());
        let mut before = after;
        for run in runs {
            prop_assert!(run > before);
            prop_assert_eq!(schedule.next(zone, run - TimeDelta::seconds(1)), Some(run));
            prop_assert_eq!(schedule.next(zone, before + (run - before) / 2), Some(run));
            prop_assert_eq!(schedule.last(zone, run), Some(run));
            prop_assert_eq!(
                schedule.last(zone, run - TimeDelta::milliseconds(1)),
                schedule.last(zone, before)
            );
            before = run;
        }
        let json = serde_json::to_string(&schedule).unwrap();
        prop_assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), schedule);
        Ok(())
    });
    checked.unwrap();
}
