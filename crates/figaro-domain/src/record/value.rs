//! Values of the fields of a record.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::times::Times;
use figaro_base::ids::RecordId;

/// Value of a field, of any type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    /// Text; also a chosen option.
    Text(String),
    /// Number in the unit of its field.
    Number(f64),
    /// Whole number in the unit of its field.
    Integer(i64),
    /// Value of a yes/no field.
    Boolean(bool),
    /// Day of the calendar, without a time.
    Date(NaiveDate),
    /// Time of day, in the chat's time zone.
    Time(NaiveTime),
    /// Point in time, UTC.
    Moment(DateTime<Utc>),
    /// List of texts.
    List(Vec<String>),
    /// Reference to another record of the chat.
    Ref(RecordId),
    /// Repeated times.
    Schedule(Times),
}

impl FieldValue {
    /// Converts the value to JSON for the model. Times are in this zone; `name` gives the name of a referenced record.
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

    /// Formats the value as text. Times are in this zone; `name` gives the name of a referenced record.
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

    /// Returns the value as a number that can be drawn; `None` for other types.
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

/// Formats a number with at most three decimals.
pub(super) fn number_shown(number: f64) -> String {
    let rounded = (number * 1000.0).round() / 1000.0;
    // Avoids `-0`.
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}
