//! Histories of readings: their points in order of time, and their trend.

use chrono::{DateTime, TimeDelta, Utc};

use super::kept::Record;

/// One reading of a numeric field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Time of the reading, UTC.
    pub at: DateTime<Utc>,
    /// Number, in the unit of the field.
    pub value: f64,
}

/// Summary of a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Last reading.
    pub last: Point,
    /// Difference from the previous reading; `None` for the first one.
    pub change: Option<f64>,
    /// Smallest value of the period.
    pub min: f64,
    /// Largest value of the period.
    pub max: f64,
    /// Number of readings in the period.
    pub count: usize,
}

/// Returns the readings of a field in these records, oldest first.
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

/// Returns the trend of readings, oldest first, over this number of days up to the last one. `None` without readings.
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
