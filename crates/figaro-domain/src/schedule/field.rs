//! Fields of a cron expression: checks a field and writes its canonical form. The result holds no names, and nothing that
//! croner would silently ignore.
//!
//! The format is that of crontab(5), with Quartz's `L`, `W` and `#` for days, and `+` before the days of week.

use super::error::ScheduleError;

const MONTHS: &[&str] = &[
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];
const DAYS: &[&str] = &["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/// Field of a cron expression, from the second to the day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CronField {
    Second,
    Minute,
    Hour,
    Day,
    Month,
    Weekday,
}

impl CronField {
    /// All fields, in the order of an expression.
    pub(super) const ALL: [Self; 6] =
        [Self::Second, Self::Minute, Self::Hour, Self::Day, Self::Month, Self::Weekday];

    /// Returns the field in its stored form: numbers only, with Sunday as 0 outside of ranges.
    ///
    /// # Errors
    /// If a part of the field is not supported.
    pub(super) fn canonical(self, text: &str) -> Result<String, ScheduleError> {
        let is_day = matches!(self, Self::Day | Self::Weekday);
        if is_day && text == "?" {
            return Ok("*".to_owned());
        }
        let (sign, list) = match text.strip_prefix('+') {
            Some(list) if self == Self::Weekday => ("+", list),
            _ => ("", text),
        };
        let items: Vec<&str> = list.split(',').collect();
        if items.len() > 1 && items.contains(&"*") {
            return Err(self.refuse(text, "`*` stands alone, not in a list"));
        }
        if items.contains(&"L") && items.contains(&"LW") {
            return Err(self.refuse(text, "`L` and `LW` do not go together"));
        }
        let items: Vec<String> =
            items.into_iter().map(|item| self.item(item)).collect::<Result<_, ScheduleError>>()?;
        Ok(format!("{sign}{}", items.join(",")))
    }

    fn item(self, item: &str) -> Result<String, ScheduleError> {
        if item == "*" {
            return Ok(item.to_owned());
        }
        if let Some((range, step)) = item.split_once('/') {
            return self.steps(item, range, step);
        }
        if let Some((start, end)) = item.split_once('-') {
            let (start, end) = self.range(item, start, end)?;
            return Ok(format!("{start}-{end}"));
        }
        if let Some(special) = self.special(item) {
            return special;
        }
        Ok(self.single(item, item)?.to_string())
    }

    /// Checks a part with a step, such as `*/2` or `1-5/2`, and returns it in croner's form.
    fn steps(self, item: &str, range: &str, step: &str) -> Result<String, ScheduleError> {
        let (low, high) = self.bounds();
        let most = high - low + 1;
        let Some(step) = number(step).filter(|step| (1..=most).contains(step)) else {
            let why = format!("a step is a number from 1 to {most}; longer intervals need other fields");
            return Err(self.refuse(item, &why));
        };
        if range == "*" {
            return Ok(format!("*/{step}"));
        }
        let Some((start, end)) = range.split_once('-') else {
            let start = self.single(item, range)?;
            let why = format!("a step follows `*` or a range, as in `{start}-{high}/{step}`");
            return Err(self.refuse(item, &why));
        };
        let (start, end) = self.range(item, start, end)?;
        Ok(format!("{start}-{end}/{step}"))
    }

    fn range(self, item: &str, start: &str, end: &str) -> Result<(u32, u32), ScheduleError> {
        let start = self.value(item, start)?;
        let end = match self.value(item, end)? {
            // In a range that ends with Sunday, Sunday is 7.
            0 if self == Self::Weekday && start > 0 => 7,
            end => end,
        };
        if start > end {
            let (low, high) = self.bounds();
            let why = format!("a range goes up; write `{start}-{high},{low}-{end}`");
            return Err(self.refuse(item, &why));
        }
        Ok((start, end))
    }

    /// Parses the special forms: `L`, `LW`, `15W` for a day of the month; `5L`, `5#2` for a day of the week.
    fn special(self, item: &str) -> Option<Result<String, ScheduleError>> {
        match self {
            Self::Day if matches!(item, "L" | "LW") => Some(Ok(item.to_owned())),
            Self::Day => {
                let day = item.strip_suffix('W')?;
                Some(self.single(item, day).map(|day| format!("{day}W")))
            }
            Self::Weekday if item == "L" => {
                Some(Err(self.refuse(item, "say which day's last one, as in `5L` for the last Friday")))
            }
            Self::Weekday => {
                if let Some((day, nth)) = item.split_once('#') {
                    let Some(nth) = number(nth).filter(|nth| (1..=5).contains(nth)) else {
                        return Some(Err(self.refuse(item, "after `#` stands a number from 1 to 5")));
                    };
                    return Some(self.single(item, day).map(|day| format!("{day}#{nth}")));
                }
                let day = item.strip_suffix('L').filter(|day| !day.is_empty())?;
                // No day name ends in an L.
                Some(self.single(item, day).map(|day| format!("{day}L")))
            }
            _ => None,
        }
    }

    /// Parses a value outside of a range, where Sunday is 0.
    fn single(self, item: &str, text: &str) -> Result<u32, ScheduleError> {
        let value = self.value(item, text)?;
        Ok(if self == Self::Weekday { value % 7 } else { value })
    }

    fn value(self, item: &str, text: &str) -> Result<u32, ScheduleError> {
        let (low, high) = self.bounds();
        if let Some(value) = number(text) {
            let high = if self == Self::Weekday { 7 } else { high };
            return match value {
                value if (low..=high).contains(&value) => Ok(value),
                _ => Err(self.refuse(item, &format!("it goes from {low} to {high}"))),
            };
        }
        let (names, first) = match self {
            Self::Month => (MONTHS, 1),
            Self::Weekday => (DAYS, 0),
            _ => (&[][..], 0),
        };
        (first..)
            .zip(names)
            .find_map(|(value, name)| (text.len() >= 3 && name.starts_with(text)).then_some(value))
            .ok_or_else(|| self.refuse(item, self.takes()))
    }

    const fn bounds(self) -> (u32, u32) {
        match self {
            Self::Second | Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::Day => (1, 31),
            Self::Month => (1, 12),
            Self::Weekday => (0, 6),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day of month",
            Self::Month => "month",
            Self::Weekday => "day of week",
        }
    }

    const fn takes(self) -> &'static str {
        match self {
            Self::Second | Self::Minute => "taken are 0-59, `*`, `*/5`, `10-20`, `0,30`",
            Self::Hour => "taken are 0-23, `*`, `*/2`, `9-17`, `8,20`",
            Self::Day => "taken are 1-31, `*`, `1-7`, `1,15`, `L` (last day), `15W` (nearest workday), `LW`",
            Self::Month => "taken are 1-12, JAN-DEC, `*`, `*/3`, `6-8`",
            Self::Weekday => {
                "taken are 0-7 (Sunday is 0 and 7), SUN MON TUE WED THU FRI SAT, `MON-FRI`, `SAT,SUN`, `1#2` (second \
                 Monday), `5L` (last Friday)"
            }
        }
    }

    fn refuse(self, item: &str, why: &str) -> ScheduleError {
        ScheduleError::Item { field: self.name(), item: item.to_owned(), why: why.to_owned() }
    }
}

/// Parses a number of at most four digits, without a sign.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}
