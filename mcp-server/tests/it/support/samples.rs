//! Arguments for any method, made from the table: the least that is valid, as much as is sensible, and one fault in it.

use figaro_mcp::table::{ApiField, ApiTable, ApiType, Method, TypeDef, Unit};
use serde_json::{Map, Value, json};

/// Objects within objects, at most; deeper ones have only what they must.
const MAX_DEPTH: usize = 3;

/// How much of what may be left out is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Nothing: the lower bounds, the first alternatives, files by their ids.
    Minimal,
    /// All: the upper bounds, the last alternatives, in lists each alternative, files with their contents.
    Full,
}

/// Valid arguments.
pub(crate) fn arguments(method: &Method, size: Size) -> Map<String, Value> {
    object(&method.params, size, 0)
}

/// A value that no place of this type takes.
pub(crate) fn mistyped(ty: &ApiType) -> Value {
    if takes_boolean(ty) { json!("no") } else { json!(true) }
}

/// The arguments as they leave for Telegram: contents of files are parts of a form, and their places name these.
pub(crate) fn sent(value: Value) -> Value {
    match value {
        Value::Object(map) if map.contains_key("name") && map.contains_key("base64") => {
            json!("attach://file")
        }
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, sent(value))).collect(),
        Value::Array(items) => items.into_iter().map(sent).collect(),
        plain => plain,
    }
}

fn takes_boolean(ty: &ApiType) -> bool {
    match ty {
        ApiType::Boolean | ApiType::True => true,
        ApiType::Union(types) => types.iter().any(takes_boolean),
        ApiType::Named(name) => match ApiTable::get().type_def(name) {
            Some(TypeDef::Union(types)) => types.iter().any(takes_boolean),
            _ => false,
        },
        _ => false,
    }
}

fn object(fields: &[ApiField], size: Size, depth: usize) -> Map<String, Value> {
    let wanted = |field: &&ApiField| field.required || (size == Size::Full && depth < MAX_DEPTH);
    fields.iter().filter(wanted).map(|field| (field.name.clone(), value(field, size, depth))).collect()
}

fn value(field: &ApiField, size: Size, depth: usize) -> Value {
    let one_of = match size {
        Size::Minimal => field.one_of.first(),
        Size::Full => field.one_of.last(),
    };
    if let Some(value) = field.constant.as_ref().or(one_of) {
        return value.clone();
    }
    if field.attach {
        return file(size);
    }
    let bound = bound(field, size);
    match (&field.ty, field.unit) {
        (ApiType::String, Some(Unit::Chars | Unit::Bytes)) => "x".repeat(bound).into(),
        (ApiType::Integer, Some(Unit::Value)) => bound.into(),
        (ApiType::Array(inner), Some(Unit::Items)) => list(inner, bound, size, depth),
        (ty, _) => of(ty, size, depth),
    }
}

fn bound(field: &ApiField, size: Size) -> usize {
    let bound = match size {
        Size::Minimal => field.min.unwrap_or(1),
        Size::Full => field.max.or(field.min).unwrap_or(1),
    };
    usize::try_from(bound).unwrap()
}

fn of(ty: &ApiType, size: Size, depth: usize) -> Value {
    match ty {
        ApiType::Integer => json!(1),
        ApiType::Float => json!(0.5),
        ApiType::String => json!("x"),
        ApiType::Boolean | ApiType::True => json!(true),
        ApiType::InputFile => file(Size::Full),
        ApiType::Array(inner) => list(inner, alternatives(inner, size, depth).len().max(1), size, depth),
        ApiType::Union(types) if types.contains(&ApiType::InputFile) => file(size),
        ApiType::Union(_) => alternatives(ty, size, depth).pop().unwrap(),
        ApiType::Named(name) => match ApiTable::get().type_def(name).unwrap() {
            TypeDef::Fields(fields) => Value::Object(object(fields, size, depth + 1)),
            TypeDef::Union(_) => alternatives(ty, size, depth).pop().unwrap(),
        },
    }
}

/// A list of that many, in turn of each alternative.
fn list(inner: &ApiType, count: usize, size: Size, depth: usize) -> Value {
    let alternatives = alternatives(inner, size, depth);
    alternatives.iter().cycle().take(count).cloned().collect()
}

/// One value for each alternative of a type; of the smallest size and from some depth on only for the first.
fn alternatives(ty: &ApiType, size: Size, depth: usize) -> Vec<Value> {
    let types = match ty {
        ApiType::Union(types) if !types.contains(&ApiType::InputFile) => types,
        ApiType::Named(name) => match ApiTable::get().type_def(name).unwrap() {
            TypeDef::Union(types) => types,
            TypeDef::Fields(_) => return vec![of(ty, size, depth)],
        },
        _ => return vec![of(ty, size, depth)],
    };
    let count = if size == Size::Full && depth < MAX_DEPTH { types.len() } else { 1 };
    types.iter().take(count).map(|ty| of(ty, size, depth + 1)).collect()
}

fn file(size: Size) -> Value {
    match size {
        Size::Minimal => json!("AgACAgIAAxkBAAIB-x_1"),
        Size::Full => json!({"name": "a.bin", "base64": "AAH/"}),
    }
}
