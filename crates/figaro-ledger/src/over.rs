//! Refusal of a call by a limit, with the time when the limit begins anew.

use chrono::{DateTime, Days, Months};

use figaro_base::tz::Tz;
use figaro_domain::budget::{BudgetAxis, Period};

/// Limit that leaves no room for a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of {} is used up until {} ({})", axis.party(), self.until_words().0, self.until_words().1)]
pub struct OverBudget {
    /// Party that is limited.
    pub axis: BudgetAxis,
    /// Period that is used up.
    pub period: Period,
    /// End of the period, in the bot's time zone.
    pub until: DateTime<Tz>,
}

impl OverBudget {
    /// Returns the end of the period for people, with the date if it is not the end of the day, and the name of the time
    /// zone.
    #[must_use]
    pub fn until_words(&self) -> (String, String) {
        let format = if self.period == Period::Day { "%H:%M" } else { "%Y-%m-%d %H:%M" };
        (self.until.format(format).to_string(), self.until.timezone().name().to_owned())
    }
}

/// Returns the end of a period: midnight or, if clocks skip it, the first hour that exists.
pub(super) fn end_of(period: Period, now: DateTime<Tz>) -> DateTime<Tz> {
    let first = period.start(now.date_naive());
    let next = match period {
        Period::Day => first.checked_add_days(Days::new(1)),
        Period::Month => first.checked_add_months(Months::new(1)),
    };
    let mut hours = (0..24).filter_map(|hour| next?.and_hms_opt(hour, 0, 0));
    hours.find_map(|hour| hour.and_local_timezone(now.timezone()).earliest()).unwrap_or(now)
}
