//! Templates of records in prompts: compiled and tried out when a pack is read, so that no fault appears later.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value};

use super::render::ReadingsView;
use figaro_base::text::{one_line, with_nearest};
use figaro_domain::record::{Kind, Point, Trend};

/// Maximum characters of a template fault.
const MAX_WORDS: usize = 200;

/// Creates an environment for templates of records.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment
}

/// Returns the fault of a kind's template; `None` if it is valid.
pub(super) fn fault(kind: &Kind, template: &str) -> Option<String> {
    let environment = environment();
    let compiled = match environment.template_from_str(template) {
        Ok(compiled) => compiled,
        Err(error) => return Some(told(&error)),
    };
    let fields = || kind.fields.iter().map(|field| field.name.as_str());
    for name in sorted(compiled.undeclared_variables(false)) {
        if !fields().any(|field| field == name) && !is_function(&environment, &name) {
            let fault = format!("{{{{ {name} }}}} is no field of {}", kind.name);
            return Some(with_nearest(fault, &name, fields()));
        }
    }
    let empty: BTreeMap<&str, Value> = BTreeMap::new();
    let full: BTreeMap<&str, Value> =
        kind.fields.iter().map(|field| (field.name.as_str(), sample(kind, &field.name))).collect();
    let tried = [compiled.render(&full), compiled.render(&empty)];
    let broken = tried.iter().find_map(|tried| tried.as_ref().err());
    if let Some(error) = broken {
        return Some(told(error));
    }
    let says = tried[0].as_deref().unwrap_or_default();
    says.trim().is_empty().then(|| "it gives no words even where every field is filled".to_owned())
}

fn sorted(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort();
    names
}

/// Returns `true` if a name is defined in every template.
fn is_function(environment: &Environment<'_>, name: &str) -> bool {
    environment.globals().any(|(known, _)| known == name)
}

/// Returns a sample value of a field for trying a template.
fn sample(kind: &Kind, field: &str) -> Value {
    let Some(field) = kind.field(field) else { return Value::UNDEFINED };
    if kind.series.is_some() && field.form.range().is_some() {
        let last = Point { at: chrono::DateTime::UNIX_EPOCH, value: 1.0 };
        let trend = Trend { last, change: Some(0.5), min: 0.5, max: 1.0, count: 2 };
        return ReadingsView {
            trend,
            unit: field.form.unit().to_owned(),
            days: 30,
            zone: figaro_base::tz::Tz::UTC,
        }
        .value();
    }
    Value::from("x")
}

fn told(error: &minijinja::Error) -> String {
    let words = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let line = error.line().filter(|line| *line > 1).map(|line| format!(" (line {line} of it)"));
    one_line(&format!("{words}{}", line.unwrap_or_default()), MAX_WORDS)
}
