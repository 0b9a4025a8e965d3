//! Arguments for any method, made from the table: the least that is valid, as much as is sensible, and one fault in it.

use figaro_mcp::table::{Field, Method, Table, Type, TypeDef, Unit};
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
pub(crate) fn mistyped(ty: &Type) -> Value {
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

fn takes_boolean(ty: &Type) -> bool {
    match ty {
        Type::Boolean | Type::True => true,
        Type::Union(types) => types.iter().any(takes_boolean),
        Type::Named(name) => match Table::get().type_def(name) {
            Some(TypeDef::Union(types)) => types.iter().any(takes_boolean),
            _ => false,
        },
        _ => false,
    }
}

fn object(fields: &[Field], size: Size, depth: usize) -> Map<String, Value> {
    let wanted = |field: &&Field| field.required || (size == Size::Full && depth < MAX_DEPTH);
    fields.iter().filter(wanted).map(|field| (field.name.clone(), value(field, size, depth))).collect()
}

fn value(field: &Field, size: Size, depth: usize) -> Value {
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
        (Type::String, Some(Unit::Chars | Unit::Bytes)) => "x".repeat(bound).into(),
        (Type::Integer, Some(Unit::Value)) => bound.into(),
        (Type::Array(inner), Some(Unit::Items)) => list(inner, bound, size, depth),
        (ty, _) => of(ty, size, depth),
    }
}

fn bound(field: &Field, size: Size) -> usize {
    let bound = match size {
        Size::Minimal => field.min.unwrap_or(1),
        Size::Full => field.max.or(field.min).unwrap_or(1),
    };
    usize::try_from(bound).unwrap()
}

fn of(ty: &Type, size: Size, depth: usize) -> Value {
    match ty {
        Type::Integer => json!(1),
        Type::Float => json!(0.5),
        Type::String => json!("x"),
        Type::Boolean | Type::True => json!(true),
        Type::InputFile => file(Size::Full),
        Type::Array(inner) => list(inner, alternatives(inner, size, depth).len().max(1), size, depth),
        Type::Union(types) if types.contains(&Type::InputFile) => file(size),
        Type::Union(_) => alternatives(ty, size, depth).pop().unwrap(),
        Type::Named(name) => match Table::get().type_def(name).unwrap() {
            TypeDef::Fields(fields) => Value::Object(object(fields, size, depth + 1)),
            TypeDef::Union(_) => alternatives(ty, size, depth).pop().unwrap(),
        },
    }
}

/// A list of that many, in turn of each alternative.
fn list(inner: &Type, count: usize, size: Size, depth: usize) -> Value {
    let alternatives = alternatives(inner, size, depth);
    alternatives.iter().cycle().take(count).cloned().collect()
}

/// One value for each alternative of a type; of the smallest size and from some depth on only for the first.
fn alternatives(ty: &Type, size: Size, depth: usize) -> Vec<Value> {
    let types = match ty {
        Type::Union(types) if !types.contains(&Type::InputFile) => types,
        Type::Named(name) => match Table::get().type_def(name).unwrap() {
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
