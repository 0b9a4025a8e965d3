//! Errors of times and cron expressions, worded so that their author can correct them.

/// Reason why a text is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Wrong number of fields.
    #[error(
        "a cron expression has 5 fields (minute hour day-of-month month day-of-week), or 6 with seconds first, or is \
         one of @hourly @daily @weekly @monthly @yearly; this has {0}. Years are not taken; a single run is given as \
         its time"
    )]
    Fields(usize),
    /// Unknown `@name`, such as `@reboot`.
    #[error(
        "`{0}` is not known: taken are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or 5 cron \
         fields"
    )]
    Nickname(String),
    /// Time zone in a cron expression.
    #[error("the time zone `{0}` is no part of a cron expression: leave it out of there")]
    Zone(String),
    /// Part of a field that is out of range or not supported.
    #[error("`{item}` is not taken as {field}: {why}")]
    Item {
        /// Name of the field.
        field: &'static str,
        /// The part, as written.
        item: String,
        /// Fault of the part, and the accepted forms.
        why: String,
    },
    /// `*/2` in one day field together with days in the other. Implementations of cron disagree on its meaning.
    #[error(
        "`{0}` is ambiguous: with a step on `*` in one field of days, some crons run on days that match both fields, \
         others on days that match either. Write the step with a range (`1-31/2`, `0-6/2`) for either, or put `+` \
         before the day of week for both"
    )]
    UnclearDays(String),
    /// No matching day in the coming years, such as 30 February.
    #[error(
        "`{0}` never comes within the next years: check that the month has that day (30 February does not exist)"
    )]
    Never(String),
    /// Expression refused by the library `croner`.
    #[error("`{text}` is no cron expression: {why}")]
    Refused {
        /// Refused expression, in upper case.
        text: String,
        /// Reason, in the words of the library `croner`.
        why: String,
    },
    /// The time is in the past.
    #[error("{wanted} is not in the future: it is {now} now. Give a later time")]
    Past {
        /// Requested time, in the chat's zone.
        wanted: String,
        /// Current time, in the chat's zone.
        now: String,
    },
    /// The time is more than five years ahead.
    #[error("{wanted} is more than five years ahead: it is {now} now. Give an earlier time")]
    Far {
        /// Requested time, in the chat's zone, or the duration as written.
        wanted: String,
        /// Current time, in the chat's zone.
        now: String,
    },
    /// Date without a time of day.
    #[error("`{0}` is a day without a time: say the time too, as in `{0}T09:00`")]
    NoTime(String),
    /// Time of day without a date.
    #[error("`{time}` is a time without a day: say the day too, as in `{day}T{time}`. It is {now} now")]
    NoDay {
        /// Time of day, as `HH:MM`.
        time: String,
        /// Day on which the time comes next.
        day: String,
        /// Current time, in the chat's zone.
        now: String,
    },
    /// Duration in months or years.
    #[error(
        "`{0}` has months or years, which have no fixed length: give the date and time, or weeks and days"
    )]
    NoFixedLength(String),
    /// Text in none of the accepted forms.
    #[error(
        "`{text}` is no time: taken are a date and time (`{example}`, local unless it ends in `Z` or an offset such as \
         `+01:00`), or a duration from now (`in 20m`, `in 1h30m`, `in 2 days`, `PT20M`). It is {now} now"
    )]
    Unreadable {
        /// Text as written.
        text: String,
        /// Example of a date and time, near the current time.
        example: String,
        /// Current time, in the chat's zone.
        now: String,
    },
}
