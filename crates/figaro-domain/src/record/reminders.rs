//! Reminders offered by a record: their prompts and times.

use chrono::{DateTime, Duration, NaiveTime, TimeZone, Utc};
use figaro_base::tz::Tz;

use super::book::{Book, BookEntry};
use super::value::FieldValue;
use figaro_base::text::one_line;

/// Time of day of a reminder for a day without a time.
const MORNING: NaiveTime = match NaiveTime::from_hms_opt(9, 0, 0) {
    Some(time) => time,
    None => NaiveTime::MIN,
};
/// Maximum length of a title, in characters.
const TITLE_CHARS: usize = 60;

/// A reminder offered by a record, with the data for a scheduled task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// Title of the task.
    pub title: String,
    /// Prompt of the task.
    pub prompt: String,
    /// Cron expression, or a single local time in the chat's time zone.
    pub schedule: String,
    /// `true` if the reminder repeats.
    pub recurring: bool,
    /// Time of a single reminder, UTC; `None` if it repeats.
    pub(crate) at: Option<DateTime<Utc>>,
}

/// Returns the reminders that an entry offers, in the language of this IETF tag. Empty if no time is in the future.
#[must_use]
pub fn reminders(book: &Book, entry: &BookEntry<'_>, tag: Option<&str>, now: DateTime<Utc>) -> Vec<Reminder> {
    let Some(remind) = entry.kind.remind.as_ref() else { return Vec::new() };
    let Some(value) = entry.record.value(&remind.field) else { return Vec::new() };
    let (zone, title) = (book.zone(), one_line(&book.name(entry.record), TITLE_CHARS));
    let prompt = filled(book, entry, remind.text.of(tag));
    let make = |schedule: String, at: Option<DateTime<Utc>>| Reminder {
        title: title.clone(),
        prompt: prompt.clone(),
        schedule,
        recurring: at.is_none(),
        at,
    };
    let at = match value {
        FieldValue::Schedule(times) => {
            return times.crons().into_iter().map(|cron| make(cron, None)).collect();
        }
        FieldValue::Moment(at) => Some(*at),
        FieldValue::Date(day) => local(zone, day.and_time(MORNING)),
        _ => None,
    };
    let Some(at) = at else { return Vec::new() };
    let before: &[u32] = if remind.before.is_empty() { &[0] } else { &remind.before };
    let times =
        before.iter().filter_map(|minutes| at.checked_sub_signed(Duration::minutes(i64::from(*minutes))));
    let mut times: Vec<DateTime<Utc>> = times.filter(|time| *time > now).collect();
    times.sort_unstable();
    let single = |time: DateTime<Utc>| time.with_timezone(&zone).format("%Y-%m-%dT%H:%M").to_string();
    times.into_iter().map(|time| make(single(time), Some(time))).collect()
}

fn local(zone: Tz, at: chrono::NaiveDateTime) -> Option<DateTime<Utc>> {
    zone.from_local_datetime(&at).earliest().map(|at| at.with_timezone(&Utc))
}

/// Replaces the placeholders of a text by the values of fields. Empty values leave no gap.
fn filled(book: &Book, entry: &BookEntry<'_>, text: &str) -> String {
    let mut whole = text.to_owned();
    for field in &entry.kind.fields {
        let place = format!("{{{}}}", field.name);
        if whole.contains(&place) {
            let shown = entry.record.value(&field.name).map(|value| book.shown(value)).unwrap_or_default();
            // Braces in a value must not look like another placeholder.
            whole = whole.replace(&place, &shown.replace(['{', '}'], ""));
        }
    }
    let flat = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    flat.replace(" .", ".").replace(" ,", ",").replace(" :", ":")
}
