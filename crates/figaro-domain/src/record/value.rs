//! What stands in a field of a record.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::times::Times;
use figaro_base::ids::RecordId;

/// What stands in a field, whatever its form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    /// Words; also what was chosen of several.
    Text(String),
    /// A number in the unit of its field.
    Number(f64),
    /// A whole number in the unit of its field.
    Integer(i64),
    /// True or false, for a field of yes and no.
    Boolean(bool),
    /// A day of the calendar, without a time.
    Date(NaiveDate),
    /// A time of day, by the clock of the chat.
    Time(NaiveTime),
    /// A time, UTC.
    Moment(DateTime<Utc>),
    /// Several words.
    List(Vec<String>),
    /// Another record of the chat.
    Ref(RecordId),
    /// When something is to be done.
    Schedule(Times),
}

impl FieldValue {
    /// The value as the model writes and reads it; times by the clock of this zone, the record that is referred to by this name.
    #[must_use]
    pub fn to_json(&self, zone: Tz, name: impl Fn(RecordId) -> Option<String>) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Integer(number) => json!(number),
            Self::Boolean(yes) => json!(yes),
            Self::List(items) => json!(items),
            Self::Text(_)
            | Self::Date(_)
            | Self::Time(_)
            | Self::Moment(_)
            | Self::Ref(_)
            | Self::Schedule(_) => json!(self.shown(zone, name)),
        }
    }

    /// The value in words.
    #[must_use]
    pub fn shown(&self, zone: Tz, name: impl Fn(RecordId) -> Option<String>) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number_shown(*number),
            Self::Integer(number) => number.to_string(),
            Self::Boolean(yes) => if *yes { "yes" } else { "no" }.to_owned(),
            Self::Date(date) => date.format("%Y-%m-%d").to_string(),
            Self::Time(time) => time.format("%H:%M").to_string(),
            Self::Moment(at) => at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string(),
            Self::List(items) => items.join(", "),
            Self::Ref(record) => name(*record).unwrap_or_default(),
            Self::Schedule(times) => times.to_string(),
        }
    }

    /// The number that can be drawn; `None` for what is none.
    #[must_use]
    pub(crate) const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(number) => Some(*number as f64),
            Self::Text(_)
            | Self::Boolean(_)
            | Self::Date(_)
            | Self::Time(_)
            | Self::Moment(_)
            | Self::List(_)
            | Self::Ref(_)
            | Self::Schedule(_) => None,
        }
    }
}

/// A number without needless digits: at most three behind the point.
pub(super) fn number_shown(number: f64) -> String {
    let rounded = (number * 1000.0).round() / 1000.0;
    // Never `-0`.
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}
