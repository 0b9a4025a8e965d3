//! Renders records as lines of a prompt.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use figaro_base::tz::Tz;
use minijinja::value::{Object, ObjectRepr};
use minijinja::{Environment, Value};

use figaro_base::text::one_line;
use figaro_domain::record::{Book, BookEntry, FieldValue, Trend, points, trend};

/// Maximum characters of a line.
const MAX_LINE: usize = 600;

/// Renderer of records by the templates of their packs.
#[derive(Debug, Clone, Copy)]
pub struct Rendering<'a> {
    pub(super) templates: &'a Environment<'static>,
}

impl Rendering<'_> {
    /// Renders a line for an entry: the name of its kind, and the output of its template.
    #[must_use]
    pub fn line(&self, book: &Book, entry: &BookEntry<'_>) -> String {
        let words = self.by_template(book, entry).unwrap_or_else(|| plain(book, entry));
        one_line(&format!("{}: {words}", book.label(entry.pack, entry.kind)), MAX_LINE)
    }

    fn by_template(&self, book: &Book, entry: &BookEntry<'_>) -> Option<String> {
        entry.kind.render.as_ref()?;
        let name = template_name(&entry.pack.name, &entry.kind.name);
        let values: BTreeMap<&str, Value> = entry
            .kind
            .fields
            .iter()
            .filter_map(|field| Some((field.name.as_str(), value(book, entry, &field.name)?)))
            .collect();
        let rendered = self.templates.get_template(&name).and_then(|template| template.render(&values));
        match rendered {
            Ok(words) => Some(words).filter(|words| !words.trim().is_empty()),
            Err(error) => {
                tracing::warn!(name, %error, "a record could not be rendered by its template; its fields are told");
                None
            }
        }
    }
}

/// Returns the name of the template of a kind.
pub(super) fn template_name(pack: &str, kind: &str) -> String {
    format!("{pack}/{kind}")
}

/// Renders all fields of an entry, each with its name.
fn plain(book: &Book, entry: &BookEntry<'_>) -> String {
    let filled = entry.kind.fields.iter().filter_map(|field| {
        let value = value(book, entry, &field.name)?;
        Some(format!("{}: {value}", field.label.of(None)))
    });
    filled.collect::<Vec<_>>().join("; ")
}

/// Returns the value of a field for a template; `None` if it is empty.
fn value(book: &Book, entry: &BookEntry<'_>, name: &str) -> Option<Value> {
    let field = entry.kind.field(name)?;
    let unit = field.form.unit();
    if let (Some(series), Some(_)) = (entry.kind.series, field.form.range()) {
        let trend = trend(&points(entry.history.iter().copied(), name), series.days)?;
        let told = ReadingsView { trend, unit: unit.to_owned(), days: series.days, zone: book.zone() };
        return Some(told.value());
    }
    let value = entry.record.value(name)?;
    let shown = book.shown(value);
    match value {
        FieldValue::Number(_) | FieldValue::Integer(_) => Some(Value::from(with_unit(&shown, unit))),
        FieldValue::Boolean(yes) => Some(Value::from(*yes)),
        FieldValue::List(items) => Some(Value::from(items.join(", "))),
        FieldValue::Text(_)
        | FieldValue::Date(_)
        | FieldValue::Time(_)
        | FieldValue::Moment(_)
        | FieldValue::Ref(_)
        | FieldValue::Schedule(_) => Some(shown).filter(|shown| !shown.is_empty()).map(Value::from),
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "" => number.to_owned(),
        "%" => format!("{number}%"),
        unit => format!("{number} {unit}"),
    }
}

/// Readings of a field for a template: as a sentence, or by parts (`last`, `at`, `change`, `min`, `max`, `count`,
/// `unit`).
#[derive(Debug)]
pub(super) struct ReadingsView {
    pub(super) trend: Trend,
    pub(super) unit: String,
    pub(super) days: u32,
    pub(super) zone: Tz,
}

impl ReadingsView {
    pub(super) fn value(self) -> Value {
        Value::from_object(self)
    }

    fn at(&self) -> String {
        self.trend.last.at.with_timezone(&self.zone).format("%Y-%m-%d %H:%M").to_string()
    }
}

impl Object for ReadingsView {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let number = |number: f64| Value::from(shown(number));
        Some(match key.as_str()? {
            "last" => number(self.trend.last.value),
            "at" => Value::from(self.at()),
            "change" => Value::from(self.trend.change.map(signed)),
            "min" => number(self.trend.min),
            "max" => number(self.trend.max),
            "count" => Value::from(self.trend.count),
            "unit" => Value::from(self.unit.clone()),
            _ => return None,
        })
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trend { last, change, min, max, count } = self.trend;
        write!(f, "{} ({}", with_unit(&shown(last.value), &self.unit), self.at())?;
        if let Some(change) = change {
            write!(f, "; {} since the reading before", signed(change))?;
        }
        if count > 1 {
            write!(f, "; {} to {} in {} days, {count} readings", shown(min), shown(max), self.days)?;
        }
        f.write_str(")")
    }
}

fn shown(number: f64) -> String {
    FieldValue::Number(number).shown(Tz::UTC, |_| None)
}

fn signed(number: f64) -> String {
    if number < 0.0 { format!("−{}", shown(-number)) } else { format!("+{}", shown(number)) }
}
