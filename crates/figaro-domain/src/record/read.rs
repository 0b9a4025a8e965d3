//! Parsing of the model's input into the fields of a record. All errors are reported at once, so that one further call can
//! correct them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;
use serde_json::{Map, Value};

use super::kept::plain;
use super::pack::{Field, FieldType, Kind, MAX_LIST_ITEMS, MAX_TEXT_CHARS, Range};
use super::times::{Times, time_of_day};
use super::value::{FieldValue, number_shown};
use figaro_base::ids::RecordId;
use figaro_base::text::{one_line, with_nearest};

/// Maximum number of names listed if a record is not found.
const MAX_NAMES: usize = 12;
/// Years allowed for days and times. Calculations with dates beyond them could overflow.
const YEARS: RangeInclusive<i32> = 1900..=2200;

/// A record that a field may refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRecord {
    pub(crate) id: RecordId,
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// Context for parsing fields.
#[derive(Debug, Clone, Copy)]
pub struct ParseContext<'a> {
    /// Time zone of times without an offset.
    pub zone: Tz,
    /// Current time, UTC.
    pub now: DateTime<Utc>,
    /// Records that fields may refer to.
    pub names: &'a [NamedRecord],
}

/// New values of fields, by field name; `None` clears a field.
pub type FieldValues = BTreeMap<String, Option<FieldValue>>;

/// Parses the new values of fields.
///
/// # Errors
/// All errors, one per line.
pub fn read_fields(
    kind: &Kind,
    fields: &Map<String, Value>,
    reading: ParseContext<'_>,
) -> Result<FieldValues, Vec<String>> {
    let (mut values, mut faults) = (BTreeMap::new(), Vec::new());
    for (name, value) in fields {
        let Some(field) = kind.field(name) else {
            let names = kind.fields.iter().map(|field| field.name.as_str());
            let all: Vec<&str> = names.clone().collect();
            let fault = with_nearest(format!("{} has no field `{name}`", kind.name), name, names);
            faults.push(format!("{fault} (fields: {})", all.join(", ")));
            continue;
        };
        match read(field, value, reading) {
            Ok(value) => drop(values.insert(name.clone(), value)),
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(faults) }
}

fn read(field: &Field, value: &Value, reading: ParseContext<'_>) -> Result<Option<FieldValue>, String> {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if is_empty {
        return if field.required { Err("is needed and cannot be empty".to_owned()) } else { Ok(None) };
    }
    let read = match &field.form {
        FieldType::Text => text(value).map(FieldValue::Text),
        FieldType::Number(range) => number(value, range).map(FieldValue::Number),
        FieldType::Integer(range) => whole(value, range).map(FieldValue::Integer),
        FieldType::Boolean => boolean(value).map(FieldValue::Boolean),
        FieldType::Date => date(value).map(FieldValue::Date),
        FieldType::Time => word(value)
            .and_then(time_of_day)
            .map(FieldValue::Time)
            .ok_or_else(|| format!("takes a time of day such as 08:30; this has {value}")),
        FieldType::Moment => {
            let text =
                word(value).ok_or_else(|| format!("takes a day and a time as text; this has {value}"))?;
            read_moment(text, reading.zone).map(FieldValue::Moment)
        }
        FieldType::Choice(options) => choice(value, options).map(FieldValue::Text),
        FieldType::List => list(value).map(FieldValue::List),
        FieldType::Ref(kind) => reference(value, kind, reading.names).map(FieldValue::Ref),
        FieldType::Schedule => {
            Times::read(&listed(value), reading.zone, reading.now).map(FieldValue::Schedule)
        }
    };
    read.map(Some)
}

fn word(value: &Value) -> Option<&str> {
    value.as_str().map(str::trim)
}

/// Joins several words, given as a list or as one text.
fn listed(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn text(value: &Value) -> Result<String, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err(format!("takes text; this has {value}"));
        }
    };
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.chars().count() {
        ..=MAX_TEXT_CHARS => Ok(flat),
        count => Err(format!("takes at most {MAX_TEXT_CHARS} characters; this has {count}")),
    }
}

/// Parses a number, also a text with its unit at the end.
fn read_number(value: &Value, range: &Range) -> Option<f64> {
    let written = match value {
        Value::Number(number) => return number.as_f64().filter(|number| number.is_finite()),
        Value::String(text) => text.trim(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let unit = range.unit.as_deref().unwrap_or_default();
    let bare = written.strip_suffix(unit).unwrap_or(written).trim();
    bare.replace(',', ".").parse::<f64>().ok().filter(|number| number.is_finite())
}

fn number(value: &Value, range: &Range) -> Result<f64, String> {
    let wanted = || format!("takes a number{}; this has {value}", of_range(range));
    let number = read_number(value, range).ok_or_else(wanted)?;
    let is_within = range.min.is_none_or(|min| number >= min) && range.max.is_none_or(|max| number <= max);
    if is_within { Ok(number) } else { Err(wanted()) }
}

fn whole(value: &Value, range: &Range) -> Result<i64, String> {
    let number = number(value, range)?;
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    if is_whole {
        return Ok(number as i64);
    }
    Err(format!("takes a whole number{}; this has {value}", of_range(range)))
}

/// Formats the unit and the limits of a number as text.
fn of_range(range: &Range) -> String {
    let unit = range.unit.as_ref().map(|unit| format!(" of {unit}")).unwrap_or_default();
    let bounds = match (range.min, range.max) {
        (Some(min), Some(max)) => format!(" from {} to {}", number_shown(min), number_shown(max)),
        (Some(min), None) => format!(", {} and more", number_shown(min)),
        (None, Some(max)) => format!(", {} at most", number_shown(max)),
        (None, None) => String::new(),
    };
    format!("{unit}{bounds}")
}

fn boolean(value: &Value) -> Result<bool, String> {
    let written = word(value).map(str::to_lowercase);
    match (value.as_bool(), written.as_deref()) {
        (Some(yes), _) => Ok(yes),
        (None, Some("true" | "yes")) => Ok(true),
        (None, Some("false" | "no")) => Ok(false),
        (None, _) => Err(format!("takes true or false; this has {value}")),
    }
}

fn date(value: &Value) -> Result<NaiveDate, String> {
    let read = word(value).and_then(|text| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok());
    let day = read.ok_or_else(|| format!("takes a day such as 2026-12-31; this has {value}"))?;
    held_to_years(day)?;
    Ok(day)
}

/// Refuses days outside the allowed years.
fn held_to_years(day: NaiveDate) -> Result<(), String> {
    if YEARS.contains(&day.year()) {
        return Ok(());
    }
    Err(format!("takes years from {} to {}; this has {}", YEARS.start(), YEARS.end(), day.year()))
}

/// Parses a day and a time: ISO 8601 with an offset, or without one in this time zone.
///
/// # Errors
/// If the text is no such time, as a message for its author.
pub fn read_moment(text: &str, zone: Tz) -> Result<DateTime<Utc>, String> {
    let text = text.trim();
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        held_to_years(at.date_naive())?;
        return Ok(at.with_timezone(&Utc));
    }
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"];
    let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let Some(local) = local else {
        return Err(format!("takes a day and a time such as 2026-12-31T10:30; this has \"{text}\""));
    };
    held_to_years(local.date())?;
    // A skipped local time moves forward by an hour. A repeated one is taken as the first.
    let found = zone.from_local_datetime(&local).earliest();
    let behind = || {
        let later = local.checked_add_signed(TimeDelta::hours(1))?;
        zone.from_local_datetime(&later).earliest()
    };
    let at = found.or_else(behind).ok_or_else(|| format!("\"{text}\" is no time in {zone}"))?;
    Ok(at.with_timezone(&Utc))
}

fn choice(value: &Value, options: &[String]) -> Result<String, String> {
    let written = word(value).unwrap_or_default();
    let found = options.iter().find(|option| plain(option) == plain(written));
    found.cloned().ok_or_else(|| {
        let fault = format!("takes one of {}; this has {value}", options.join(", "));
        with_nearest(fault, written, options.iter().map(String::as_str))
    })
}

fn list(value: &Value) -> Result<Vec<String>, String> {
    let items: Vec<String> = match value {
        Value::Array(items) => items.iter().map(text).collect::<Result<_, _>>()?,
        Value::String(written) => {
            written.split([',', ';']).map(|item| text(&Value::from(item))).collect::<Result<_, _>>()?
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err(format!("takes a list of texts; this has {value}"));
        }
    };
    let mut kept: Vec<String> = Vec::new();
    for item in items.into_iter().filter(|item| !item.is_empty()) {
        if !kept.iter().any(|known| plain(known) == plain(&item)) {
            kept.push(item);
        }
    }
    if kept.is_empty() || kept.len() > MAX_LIST_ITEMS {
        return Err(format!("takes 1 to {MAX_LIST_ITEMS} items"));
    }
    Ok(kept)
}

fn reference(value: &Value, kind: &str, names: &[NamedRecord]) -> Result<RecordId, String> {
    let written = word(value).ok_or_else(|| format!("takes the name of a {kind}; this has {value}"))?;
    let of_kind: Vec<&NamedRecord> = names.iter().filter(|named| named.kind == kind).collect();
    let id: Option<RecordId> = written.parse().ok();
    if let Some(named) = of_kind.iter().find(|named| Some(named.id) == id) {
        return Ok(named.id);
    }
    let is_it = |named: &&&NamedRecord| plain(&named.name) == plain(written);
    let meant: Vec<&&NamedRecord> = of_kind.iter().filter(is_it).collect();
    match meant[..] {
        [one] => Ok(one.id),
        [] if of_kind.is_empty() => {
            Err(format!("there is no {kind} yet: save the {kind} \"{}\" first", one_line(written, 60)))
        }
        [] => {
            let known: Vec<&str> = of_kind.iter().take(MAX_NAMES).map(|named| named.name.as_str()).collect();
            let fault = format!("there is no {kind} called \"{}\"", one_line(written, 60));
            let fault = with_nearest(fault, written, known.iter().copied());
            Err(format!("{fault} (there are: {}); save it first, or name one of these", known.join(", ")))
        }
        _ => {
            let ids: Vec<String> = meant.iter().map(|named| named.id.to_string()).collect();
            Err(format!("several are called \"{written}\": give the record_id of one, {}", ids.join(" or ")))
        }
    }
}
