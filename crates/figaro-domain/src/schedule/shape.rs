//! Descriptions of schedules in a person's terms. A shape is used only if it describes the runs of a cron exactly.

use chrono::{NaiveTime, Weekday};

use super::Schedule;
use super::cron::Cron;

/// Maximum number of times of day, or days of a month, that are listed one by one.
const MAX_TOLD: usize = 6;

/// A schedule in a person's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleShape {
    /// One run, at a date and time.
    Once,
    /// At minute 0 of each hour, and then at this interval in minutes, which divides 60.
    EveryMinutes(u32),
    /// At this minute, every `hours` hours from midnight on. `hours` divides 24 and is less than 24.
    EveryHours {
        /// Number of hours between two runs.
        hours: u32,
        /// Minute of the hour, 0 to 59.
        minute: u32,
    },
    /// Every day at the same times.
    Daily {
        /// Times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// Monday to Friday at the same times.
    Weekdays {
        /// Times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// Some days of each week.
    Weekly {
        /// Days of the week, from Monday on.
        days: Vec<Weekday>,
        /// Times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// Some days of each month; skipped in a month without such a day.
    Monthly {
        /// Days of the month, 1 to 31, in order.
        days: Vec<u32>,
        /// Times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// One day of each year; skipped in a year without it.
    Yearly {
        /// Month, 1 to 12.
        month: u32,
        /// Day of the month, 1 to 31.
        day: u32,
        /// Times of day, earliest first.
        times: Vec<NaiveTime>,
    },
    /// At equal intervals between two times of day, on some days of the week or on all.
    Between {
        /// Interval between two runs, in minutes: less than 60, or whole hours.
        minutes: u32,
        /// First run of a day.
        from: NaiveTime,
        /// Last run of a day.
        until: NaiveTime,
        /// Days of the week, from Monday on.
        days: Vec<Weekday>,
    },
    /// A schedule that has none of these shapes.
    Other,
}

impl Schedule {
    /// Returns the description of the schedule.
    #[must_use]
    pub fn shape(&self) -> ScheduleShape {
        match self {
            Self::Once { .. } => ScheduleShape::Once,
            Self::Cron(cron) => {
                let shape = if cron.follows_clock() { interval(cron) } else { timed(cron) };
                shape.or_else(|| between(cron)).unwrap_or(ScheduleShape::Other)
            }
        }
    }
}

/// Matches equal intervals of minutes or hours, on all days.
fn interval(cron: &Cron) -> Option<ScheduleShape> {
    let (seconds, fields) = cron.fields();
    let (None, [minute, hour, "*", "*", "*"]) = (seconds, fields.as_slice()) else { return None };
    let (minutes, hours) = (values(&cron.pattern().minutes), values(&cron.pattern().hours));
    if *hour == "*" {
        return match minutes.as_slice() {
            [minute] => Some(ScheduleShape::EveryHours { hours: 1, minute: *minute }),
            _ => even(&minutes, 60).map(ScheduleShape::EveryMinutes),
        };
    }
    let minute = minute.parse().ok()?;
    even(&hours, 24).map(|hours| ScheduleShape::EveryHours { hours, minute })
}

/// Returns the step of values that start at 0 and wrap around `end` in equal steps.
fn even(values: &[u32], end: u32) -> Option<u32> {
    let (Some(0), Some(step)) = (values.first(), values.get(1)) else { return None };
    let steps = (0..end).step_by(usize::try_from(*step).ok()?);
    (end.is_multiple_of(*step) && steps.eq(values.iter().copied())).then_some(*step)
}

/// Matches a few times of day on some days.
fn timed(cron: &Cron) -> Option<ScheduleShape> {
    let (seconds, fields) = cron.fields();
    let [_, _, day, month, weekday] = fields.as_slice() else { return None };
    if seconds.is_some() {
        return None;
    }
    let times = times(cron).filter(|times| times.len() <= MAX_TOLD)?;
    let pattern = cron.pattern();
    let plain = !pattern.days.has_modifiers() && !pattern.days_of_week.has_modifiers();
    match (*day, *month, *weekday) {
        ("*", "*", "*") => Some(ScheduleShape::Daily { times }),
        ("*", "*", _) if plain => Some(weekly(&values(&pattern.days_of_week), times)),
        (_, "*", "*") if plain => {
            let days = values(&pattern.days);
            (days.len() <= MAX_TOLD).then_some(ScheduleShape::Monthly { days, times })
        }
        (_, _, "*") if plain => {
            match (values(&pattern.months).as_slice(), values(&pattern.days).as_slice()) {
                ([month], [day]) => Some(ScheduleShape::Yearly { month: *month, day: *day, times }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Matches equal steps from one time of day to another, on some days of the week.
fn between(cron: &Cron) -> Option<ScheduleShape> {
    let (seconds, fields) = cron.fields();
    let (None, [_, _, "*", "*", _]) = (seconds, fields.as_slice()) else { return None };
    let pattern = cron.pattern();
    let (minutes, hours) = (values(&pattern.minutes), values(&pattern.hours));
    let step = match minutes.as_slice() {
        [_] => gap(&hours)? * 60,
        _ => {
            let step = gap(&minutes)?;
            // The interval must continue from one hour into the next.
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
    Some(ScheduleShape::Between {
        minutes: step,
        from,
        until,
        days: weekdays(&values(&pattern.days_of_week)),
    })
}

/// Returns the difference between adjacent values, if it is always the same.
fn gap(values: &[u32]) -> Option<u32> {
    let mut gaps = values.iter().zip(values.iter().skip(1)).map(|(one, next)| next - one);
    let first = gaps.next()?;
    gaps.all(|gap| gap == first).then_some(first)
}

/// Returns the shape for days of the week by number, with Sunday as 0.
fn weekly(numbers: &[u32], times: Vec<NaiveTime>) -> ScheduleShape {
    let days = weekdays(numbers);
    match numbers {
        [0, 1, 2, 3, 4, 5, 6] => ScheduleShape::Daily { times },
        [1, 2, 3, 4, 5] => ScheduleShape::Weekdays { times },
        _ => ScheduleShape::Weekly { days, times },
    }
}

fn weekdays(numbers: &[u32]) -> Vec<Weekday> {
    let mut days: Vec<Weekday> = numbers.iter().filter_map(|number| weekday(*number)).collect();
    // Sunday is listed last.
    days.sort_by_key(Weekday::num_days_from_monday);
    days
}

fn weekday(number: u32) -> Option<Weekday> {
    // `Weekday` counts from Monday.
    Weekday::try_from(u8::try_from((number + 6) % 7).ok()?).ok()
}

/// Returns all times of day, in order.
fn times(cron: &Cron) -> Option<Vec<NaiveTime>> {
    let (hours, minutes) = (values(&cron.pattern().hours), values(&cron.pattern().minutes));
    let pairs = hours.iter().flat_map(|hour| minutes.iter().map(move |minute| (*hour, *minute)));
    pairs.map(|(hour, minute)| NaiveTime::from_hms_opt(hour, minute, 0)).collect()
}

fn values(field: &croner::CronComponent) -> Vec<u32> {
    field.values().into_iter().map(u32::from).collect()
}
