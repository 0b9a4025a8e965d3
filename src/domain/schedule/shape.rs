//! What a person would call a schedule. A shape is claimed only where it says exactly when a cron runs; everything else
//! stays an expression.

use chrono::{NaiveTime, Weekday};

use super::Schedule;
use super::cron::Cron;

/// More times of day, or days of a month, are no longer said one by one.
const MAX_TOLD: usize = 6;

/// A schedule in a person's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A single run.
    Once,
    /// At minute 0 of each hour and every so many from there; divides 60.
    EveryMinutes(u32),
    /// At midnight and every so many hours from there, at this minute; divides 24, never 24 itself.
    EveryHours {
        /// The hours between.
        hours: u32,
        /// The minute of the hour.
        minute: u32,
    },
    /// Every day.
    Daily {
        /// When, in order.
        times: Vec<NaiveTime>,
    },
    /// Monday to Friday.
    Weekdays {
        /// When, in order.
        times: Vec<NaiveTime>,
    },
    /// On some days of each week.
    Weekly {
        /// Which, from Monday on.
        days: Vec<Weekday>,
        /// When, in order.
        times: Vec<NaiveTime>,
    },
    /// On some days of each month that has them.
    Monthly {
        /// Which, in order.
        days: Vec<u32>,
        /// When, in order.
        times: Vec<NaiveTime>,
    },
    /// On one day of each year that has it.
    Yearly {
        /// 1 to 12.
        month: u32,
        /// 1 to 31.
        day: u32,
        /// When, in order.
        times: Vec<NaiveTime>,
    },
    /// Anything else: the cron expression.
    Other(String),
}

impl Schedule {
    /// What a person would call it.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Once { .. } => Shape::Once,
            Self::Cron(cron) => {
                let shape = if cron.follows_clock() { interval(cron) } else { timed(cron) };
                shape.unwrap_or_else(|| Shape::Other(cron.as_str().to_owned()))
            }
        }
    }
}

/// Every so many minutes or hours, on all days.
fn interval(cron: &Cron) -> Option<Shape> {
    let (seconds, fields) = cron.fields();
    let (None, [minute, hour, "*", "*", "*"]) = (seconds, fields.as_slice()) else { return None };
    let (minutes, hours) = (values(&cron.pattern().minutes), values(&cron.pattern().hours));
    if *hour == "*" {
        return match minutes.as_slice() {
            [minute] => Some(Shape::EveryHours { hours: 1, minute: *minute }),
            _ => even(&minutes, 60).map(Shape::EveryMinutes),
        };
    }
    let minute = minute.parse().ok()?;
    even(&hours, 24).map(|hours| Shape::EveryHours { hours, minute })
}

/// The step between values that go from 0 to the end in even steps, over the end too.
fn even(values: &[u32], end: u32) -> Option<u32> {
    let (Some(0), Some(step)) = (values.first(), values.get(1)) else { return None };
    let steps = (0..end).step_by(usize::try_from(*step).ok()?);
    (end.is_multiple_of(*step) && steps.eq(values.iter().copied())).then_some(*step)
}

/// At a few times on some days.
fn timed(cron: &Cron) -> Option<Shape> {
    let (seconds, fields) = cron.fields();
    let [_, _, day, month, weekday] = fields.as_slice() else { return None };
    if seconds.is_some() {
        return None;
    }
    let times = times(cron).filter(|times| times.len() <= MAX_TOLD)?;
    let pattern = cron.pattern();
    let plain = !pattern.days.has_modifiers() && !pattern.days_of_week.has_modifiers();
    match (*day, *month, *weekday) {
        ("*", "*", "*") => Some(Shape::Daily { times }),
        ("*", "*", _) if plain => Some(weekly(&values(&pattern.days_of_week), times)),
        (_, "*", "*") if plain => {
            let days = values(&pattern.days);
            (days.len() <= MAX_TOLD).then_some(Shape::Monthly { days, times })
        }
        (_, _, "*") if plain => {
            match (values(&pattern.months).as_slice(), values(&pattern.days).as_slice()) {
                ([month], [day]) => Some(Shape::Yearly { month: *month, day: *day, times }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Days of the week by number, Sunday as 0.
fn weekly(numbers: &[u32], times: Vec<NaiveTime>) -> Shape {
    // Sunday ends the week as people tell it.
    let mut days: Vec<Weekday> = numbers.iter().filter_map(|number| weekday(*number)).collect();
    days.sort_by_key(Weekday::num_days_from_monday);
    match numbers {
        [0, 1, 2, 3, 4, 5, 6] => Shape::Daily { times },
        [1, 2, 3, 4, 5] => Shape::Weekdays { times },
        _ => Shape::Weekly { days, times },
    }
}

fn weekday(number: u32) -> Option<Weekday> {
    // `Weekday` counts from Monday.
    Weekday::try_from(u8::try_from((number + 6) % 7).ok()?).ok()
}

/// All times of day, in order.
fn times(cron: &Cron) -> Option<Vec<NaiveTime>> {
    let (hours, minutes) = (values(&cron.pattern().hours), values(&cron.pattern().minutes));
    let pairs = hours.iter().flat_map(|hour| minutes.iter().map(move |minute| (*hour, *minute)));
    pairs.map(|(hour, minute)| NaiveTime::from_hms_opt(hour, minute, 0)).collect()
}

fn values(field: &croner::CronComponent) -> Vec<u32> {
    field.values().into_iter().map(u32::from).collect()
}
