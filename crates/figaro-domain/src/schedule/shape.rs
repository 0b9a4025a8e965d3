//! What a person would call a schedule. A shape is claimed only where it says exactly when a cron runs; nothing is
//! claimed of everything else.

use chrono::{NaiveTime, Weekday};

use super::Schedule;
use super::cron::Cron;

/// More times of day, or days of a month, are no longer said one by one.
const MAX_TOLD: usize = 6;

/// A schedule in a person's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// One run, at a date and a time.
    Once,
    /// At minute 0 of each hour and every so many from there; divides 60.
    EveryMinutes(u32),
    /// At midnight and every so many hours from there, at this minute; divides 24, never 24 itself.
    EveryHours {
        /// The number of hours between two runs.
        hours: u32,
        /// The minute of the hour, 0 to 59.
        minute: u32,
    },
    /// Every day.
    Daily {
        /// The times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// Monday to Friday.
    Weekdays {
        /// The times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// On some days of each week.
    Weekly {
        /// The days of the week, from Monday on.
        days: Vec<Weekday>,
        /// The times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// On some days of each month that has them.
    Monthly {
        /// The days of the month, 1 to 31, in order.
        days: Vec<u32>,
        /// The times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// On one day of each year that has it.
    Yearly {
        /// The month, 1 to 12.
        month: u32,
        /// The day of the month, 1 to 31.
        day: u32,
        /// The times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// Every so many minutes or hours in a part of some days, or in all of them.
    Between {
        /// What lies between two runs, in minutes: below 60, or whole hours.
        minutes: u32,
        /// The first run of a day.
        from: NaiveTime,
        /// The time of day of the last run.
        until: NaiveTime,
        /// Which days of the week, from Monday on.
        days: Vec<Weekday>,
    },
    /// A schedule that has none of these shapes.
    Other,
}

impl Schedule {
    /// What a person would call it.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Once { .. } => Shape::Once,
            Self::Cron(cron) => {
                let shape = if cron.follows_clock() { interval(cron) } else { timed(cron) };
                shape.or_else(|| between(cron)).unwrap_or(Shape::Other)
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

/// In even steps from one time of day to another, on some days of the week.
fn between(cron: &Cron) -> Option<Shape> {
    let (seconds, fields) = cron.fields();
    let (None, [_, _, "*", "*", _]) = (seconds, fields.as_slice()) else { return None };
    let pattern = cron.pattern();
    let (minutes, hours) = (values(&pattern.minutes), values(&pattern.hours));
    let step = match minutes.as_slice() {
        [_] => gap(&hours)? * 60,
        _ => {
            let step = gap(&minutes)?;
            // It goes on from one hour into the next.
            let is_even = 60 % step == 0 && minutes.len() == usize::try_from(60 / step).ok()?;
            let is_whole = hours.len() == 1 || gap(&hours) == Some(1);
            (is_even && is_whole).then_some(step)?
        }
    };
    if pattern.days_of_week.has_modifiers() {
        return None;
    }
    let from = NaiveTime::from_hms_opt(*hours.first()?, *minutes.first()?, 0)?;
    let until = NaiveTime::from_hms_opt(*hours.last()?, *minutes.last()?, 0)?;
    Some(Shape::Between { minutes: step, from, until, days: weekdays(&values(&pattern.days_of_week)) })
}

/// What lies between any two values in a row, if that is always the same.
fn gap(values: &[u32]) -> Option<u32> {
    let mut gaps = values.iter().zip(values.iter().skip(1)).map(|(one, next)| next - one);
    let first = gaps.next()?;
    gaps.all(|gap| gap == first).then_some(first)
}

/// Days of the week by number, Sunday as 0.
fn weekly(numbers: &[u32], times: Vec<NaiveTime>) -> Shape {
    let days = weekdays(numbers);
    match numbers {
        [0, 1, 2, 3, 4, 5, 6] => Shape::Daily { times },
        [1, 2, 3, 4, 5] => Shape::Weekdays { times },
        _ => Shape::Weekly { days, times },
    }
}

fn weekdays(numbers: &[u32]) -> Vec<Weekday> {
    let mut days: Vec<Weekday> = numbers.iter().filter_map(|number| weekday(*number)).collect();
    // Sunday ends the week as people tell it.
    days.sort_by_key(Weekday::num_days_from_monday);
    days
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
