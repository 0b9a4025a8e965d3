//! Two years of runs against two programs that are not ours; `generate.py` says which, and wrote `oracle.txt`.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, LocalResult, TimeDelta, Utc};
use figaro_base::tz::Tz;

use super::{at, cron};
use crate::schedule::wall;

const ORACLE: &str = include_str!("oracle.txt");
/// How far around a change of clocks its runs are written out.
const NEAR: TimeDelta = TimeDelta::hours(2);

type Key = (&'static str, &'static str);

/// What the file says of one expression in one zone.
#[derive(Default)]
struct Told {
    /// How many runs, and their sum.
    wall: &'static str,
    /// The same of croniter; `- -` where it does not read the expression.
    croniter: &'static str,
    /// The runs around each change of clocks.
    near: Vec<(DateTime<Utc>, &'static str)>,
    /// Runs that only croniter has: where it follows the clock, at the end of a gap.
    gap: BTreeSet<DateTime<Utc>>,
    /// Runs that only croniter has: a time of day when clocks show it again.
    again: BTreeSet<DateTime<Utc>>,
}

fn told() -> BTreeMap<Key, Told> {
    let mut all: BTreeMap<Key, Told> = BTreeMap::new();
    for line in ORACLE.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').collect();
        let [kind, zone, expression, first, second] = fields[..] else { panic!("{line}") };
        let told = all.entry((zone, expression)).or_default();
        match kind {
            "runs" => (told.wall, told.croniter) = (first, second),
            "near" => told.near.push((at(first), second)),
            "gap" => assert!(told.gap.insert(at(first)), "{line}"),
            "again" => assert!(told.again.insert(at(first)), "{line}"),
            _ => panic!("{line}"),
        }
    }
    all
}

/// As `generate.py` counts and sums.
fn sum<'a>(runs: impl IntoIterator<Item = &'a DateTime<Utc>>) -> String {
    let mut count = 0;
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for run in runs {
        count += 1;
        for byte in run.timestamp().to_le_bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{count} {sum:016x}")
}

fn check((name, expression): Key, told: &Told) {
    let zone: Tz = name.parse().unwrap();
    let (start, end) = (at("2026-01-01T00:00:00Z"), at("2028-04-01T00:00:00Z"));
    let runs: BTreeSet<_> = cron(expression).upcoming(zone, start).take_while(|run| *run < end).collect();
    for (edge, wanted) in &told.near {
        let near: Vec<String> = runs
            .range(*edge - NEAR..=*edge + NEAR)
            .map(|run| run.format("%H:%M:%S").to_string())
            .map(|time| time.strip_suffix(":00").map(str::to_owned).unwrap_or(time))
            .collect();
        assert_eq!(near.join(" "), *wanted, "{expression} in {name} around {edge}");
    }
    assert_eq!(sum(&runs), told.wall, "{expression} in {name}");
    if told.croniter != "- -" {
        for only in &told.gap {
            let before = *only - TimeDelta::seconds(1);
            let skipped = wall::shown(zone, *only) - wall::shown(zone, before) > TimeDelta::minutes(1);
            assert!(skipped && !runs.contains(only), "{expression} in {name}: {only}");
        }
        for only in &told.again {
            let readings = wall::readings(zone, wall::shown(zone, *only));
            let LocalResult::Ambiguous(first, second) = readings else { panic!("{only} in {name}") };
            assert!(second == *only && runs.contains(&first) && !runs.contains(only), "{expression}: {only}");
        }
        let theirs: BTreeSet<_> = runs.iter().chain(&told.gap).chain(&told.again).copied().collect();
        assert_eq!(sum(&theirs), told.croniter, "{expression} in {name} by croniter");
    }
}

#[test]
fn every_run_of_two_years_is_where_two_other_programs_have_it() {
    let all = told();
    assert_eq!(all.len(), 5 * 31);
    let (first, second): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    std::thread::scope(|scope| {
        for half in [first, second] {
            scope.spawn(move || half.into_iter().for_each(|(_, (key, told))| check(*key, told)));
        }
    });
}
