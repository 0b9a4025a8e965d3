//! What is wrong with a time or a cron expression, in words that whoever wrote it can act on.

/// Why a text is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Too few or too many fields.
    #[error(
        "a cron expression has 5 fields (minute hour day-of-month month day-of-week), or 6 with seconds first, or is \
         one of @hourly @daily @weekly @monthly @yearly; this has {0}. Years are not taken; a single run is given as \
         its time"
    )]
    Fields(usize),
    /// An unknown `@name`.
    #[error(
        "`{0}` is not known: taken are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or 5 cron \
         fields"
    )]
    Nickname(String),
    /// A time zone where none is taken.
    #[error("the time zone `{0}` is no part of a cron expression: leave it out of there")]
    Zone(String),
    /// A part of a field that is out of range or not supported.
    #[error("`{item}` is not taken as {field}: {why}")]
    Item {
        /// The field's name.
        field: &'static str,
        /// The part as it was written.
        item: String,
        /// What is wrong with it, and what is taken instead.
        why: String,
    },
    /// `*/2` in one field of days beside days in the other, which every cron reads otherwise.
    #[error(
        "`{0}` is ambiguous: with a step on `*` in one field of days, some crons run on days that match both fields, \
         others on days that match either. Write the step with a range (`1-31/2`, `0-6/2`) for either, or put `+` \
         before the day of week for both"
    )]
    UnclearDays(String),
    /// The expression names no day in the coming years, such as 30 February.
    #[error(
        "`{0}` never comes within the next years: check that the month has that day (30 February does not exist)"
    )]
    Never(String),
    /// The library `croner` does not take the expression.
    #[error("`{text}` is no cron expression: {why}")]
    Refused {
        /// The expression.
        text: String,
        /// Why not, in the words of the library `croner`.
        why: String,
    },
    /// The time has passed.
    #[error("{wanted} is not in the future: it is {now} now. Give a later time")]
    Past {
        /// The time asked for, in the chat's zone.
        wanted: String,
        /// The time now, in the chat's zone.
        now: String,
    },
    /// The time is more than five years ahead.
    #[error("{wanted} is more than five years ahead: it is {now} now. Give an earlier time")]
    Far {
        /// The time asked for.
        wanted: String,
        /// The time now, in the chat's zone.
        now: String,
    },
    /// A date without a time of day.
    #[error("`{0}` is a day without a time: say the time too, as in `{0}T09:00`")]
    NoTime(String),
    /// A time of day without a date.
    #[error("`{time}` is a time without a day: say the day too, as in `{day}T{time}`. It is {now} now")]
    NoDay {
        /// The time of day.
        time: String,
        /// The day on which it comes next.
        day: String,
        /// The time now, in the chat's zone.
        now: String,
    },
    /// Months and years as a duration.
    #[error(
        "`{0}` has months or years, which have no fixed length: give the date and time, or weeks and days"
    )]
    NoFixedLength(String),
    /// The text has none of the forms that are taken.
    #[error(
        "`{text}` is no time: taken are a date and time (`{example}`, local unless it ends in `Z` or an offset such as \
         `+01:00`), or a duration from now (`in 20m`, `in 1h30m`, `in 2 days`, `PT20M`). It is {now} now"
    )]
    Unreadable {
        /// The text as it was written.
        text: String,
        /// A date and time near now.
        example: String,
        /// The time now, in the chat's zone.
        now: String,
    },
}
