//! What a history of readings comes to: its points in order of time, and their trend.

use chrono::{DateTime, TimeDelta, Utc};

use super::kept::Record;

/// A reading of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// When it was taken, UTC.
    pub at: DateTime<Utc>,
    /// The number, in the unit of the field.
    pub value: f64,
}

/// Where a history stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The last reading.
    pub last: Point,
    /// How much it is more than the one before; `None` for the first.
    pub change: Option<f64>,
    /// The least of the days that are looked at.
    pub min: f64,
    /// The most of them.
    pub max: f64,
    /// How many readings these days have.
    pub count: usize,
}

/// The readings of a field in these records, the oldest first.
#[must_use]
pub fn points<'a>(records: impl IntoIterator<Item = &'a Record>, field: &str) -> Vec<Point> {
    let point = |record: &'a Record| {
        let value = record.value(field)?.number()?;
        Some(Point { at: record.at?, value })
    };
    let mut points: Vec<Point> = records.into_iter().filter_map(point).collect();
    points.sort_by_key(|point| point.at);
    points
}

/// The trend of readings, the oldest first, over so many days up to the last one; `None` without any.
#[must_use]
pub fn trend(points: &[Point], days: u32) -> Option<Trend> {
    let last = *points.last()?;
    let since =
        last.at.checked_sub_signed(TimeDelta::days(i64::from(days))).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let recent: Vec<f64> = points.iter().filter(|point| point.at >= since).map(|point| point.value).collect();
    let before = points.len().checked_sub(2).and_then(|at| points.get(at));
    Some(Trend {
        last,
        change: before.map(|before| last.value - before.value),
        min: recent.iter().copied().fold(f64::INFINITY, f64::min),
        max: recent.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        count: recent.len(),
    })
}
