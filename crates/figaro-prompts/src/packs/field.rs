//! Parses a field of a pack's file.

use serde_saphyr::Spanned;

use super::faults::PackFileReader;
use super::file::{FieldFile, TYPES};
use figaro_base::text::with_nearest;
use figaro_domain::record::{Field, FieldType, Range, Words};

/// Maximum characters of a label or a unit.
const MAX_LABEL: usize = 40;
const MAX_UNIT: usize = 12;
const MAX_OPTIONS: usize = 20;

#[derive(Clone, Copy)]
pub(super) struct FieldContext<'a> {
    /// Names of all kinds of the pack.
    pub(super) kinds: &'a [String],
    /// `true` if its kind is a history of readings.
    pub(super) is_series: bool,
}

/// Reads a field; `None` if its type is unknown.
pub(super) fn read(
    reading: &mut PackFileReader,
    name: String,
    spec: Spanned<FieldFile>,
    about: FieldContext<'_>,
) -> Option<Field> {
    let mut spec = spec.value;
    misplaced(reading, &spec, about);
    let label = match spec.label.take() {
        Some(label) => reading.words("label", label, MAX_LABEL),
        None => Words::plain(&name),
    };
    let form = form(reading, &spec, about)?;
    let key = spec.key.as_ref().is_some_and(|key| key.value);
    if let Some(at) = spec.key.as_ref().filter(|_| key && !form.can_be_key()) {
        let words = format!("key: records cannot be told apart by a {}", spec.r#type.value);
        reading.fault(at.defined, words);
    }
    let is_drawn = about.is_series && form.range().is_some();
    let chart = spec.chart.map(|chart| chart.value).or_else(|| Some(name.clone()));
    Some(Field { label, form, required: spec.required || key, key, chart: chart.filter(|_| is_drawn), name })
}

/// Reports keys that mean nothing for a field of this type.
fn misplaced(reading: &mut PackFileReader, spec: &FieldFile, about: FieldContext<'_>) {
    let kind = spec.r#type.value.as_str();
    let is_number = ["number", "integer"].contains(&kind);
    let mut only = |at: Option<serde_saphyr::Location>, key: &str, types: &str, fits: bool| {
        if let Some(at) = at.filter(|_| !fits && TYPES.contains(&kind)) {
            reading.fault(at, format!("{key} is for {types}, and this is a {kind}"));
        }
    };
    only(spec.unit.as_ref().map(|at| at.defined), "unit", "a number or integer", is_number);
    only(spec.min.as_ref().map(|at| at.defined), "min", "a number or integer", is_number);
    only(spec.max.as_ref().map(|at| at.defined), "max", "a number or integer", is_number);
    only(spec.options.as_ref().map(|at| at.defined), "options", "a choice", kind == "choice");
    only(spec.to.as_ref().map(|at| at.defined), "to", "a ref", kind == "ref");
    only(spec.chart.as_ref().map(|at| at.defined), "chart", "a number or integer", is_number);
    if let Some(chart) = spec.chart.as_ref().filter(|_| is_number && !about.is_series) {
        reading.fault(chart.defined, "chart: only readings of a kind with `series: true` are drawn");
    }
}

fn form(reading: &mut PackFileReader, spec: &FieldFile, about: FieldContext<'_>) -> Option<FieldType> {
    Some(match spec.r#type.value.as_str() {
        "text" => FieldType::Text,
        "number" => FieldType::Number(range(reading, spec)),
        "integer" => FieldType::Integer(range(reading, spec)),
        "boolean" => FieldType::Boolean,
        "date" => FieldType::Date,
        "time" => FieldType::Time,
        "datetime" => FieldType::Moment,
        "choice" => FieldType::Choice(options(reading, spec)),
        "list" => FieldType::List,
        "ref" => FieldType::Ref(target(reading, spec, about)),
        "schedule" => FieldType::Schedule,
        other => {
            let fault = format!("there is no type `{other}`");
            let nearest = with_nearest(fault.clone(), other, TYPES);
            let all = TYPES.join(", ");
            let words = if nearest == fault { format!("{fault}, there are: {all}") } else { nearest };
            reading.fault(spec.r#type.defined, words);
            return None;
        }
    })
}

fn range(reading: &mut PackFileReader, spec: &FieldFile) -> Range {
    let (min, max) = (spec.min.as_ref(), spec.max.as_ref());
    if let Some((min, max)) = min.zip(max).filter(|(min, max)| min.value > max.value) {
        reading.fault(min.defined, format!("min is {}, and max is {}", min.value, max.value));
    }
    if let Some(unit) = spec.unit.as_ref() {
        let chars = unit.value.trim().chars().count();
        if chars == 0 || chars > MAX_UNIT {
            reading.fault(unit.defined, format!("unit takes 1 to {MAX_UNIT} characters"));
        }
    }
    Range {
        unit: spec.unit.as_ref().map(|unit| unit.value.trim().to_owned()),
        min: min.map(|min| min.value),
        max: max.map(|max| max.value),
    }
}

fn options(reading: &mut PackFileReader, spec: &FieldFile) -> Vec<String> {
    let Some(options) = spec.options.as_ref() else {
        reading.fault(spec.r#type.defined, "a choice needs options: the words to choose of");
        return Vec::new();
    };
    if !(2..=MAX_OPTIONS).contains(&options.value.len()) {
        reading.fault(options.defined, format!("options takes 2 to {MAX_OPTIONS} words"));
    }
    let mut all: Vec<String> = Vec::new();
    for option in &options.value {
        let word = option.value.trim();
        if word.is_empty() || word.chars().count() > MAX_LABEL {
            reading.fault(option.defined, format!("options: a word has 1 to {MAX_LABEL} characters"));
        } else if all.iter().any(|known| known.to_lowercase() == word.to_lowercase()) {
            reading.fault(option.defined, format!("options: {word} stands twice"));
        } else {
            all.push(word.to_owned());
        }
    }
    all
}

fn target(reading: &mut PackFileReader, spec: &FieldFile, about: FieldContext<'_>) -> String {
    let Some(to) = spec.to.as_ref() else {
        reading.fault(spec.r#type.defined, "a ref needs to: the kind that it refers to");
        return String::new();
    };
    if !about.kinds.contains(&to.value) {
        let fault = format!("to: there is no kind `{}`", to.value);
        let known = about.kinds.iter().map(String::as_str);
        let nearest = with_nearest(fault.clone(), &to.value, known);
        let words = match nearest == fault {
            true => format!("{fault}, there are: {}", about.kinds.join(", ")),
            false => nearest,
        };
        reading.fault(to.defined, words);
    }
    to.value.clone()
}
