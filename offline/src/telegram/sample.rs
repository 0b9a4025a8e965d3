//! The smallest value of a type in the table: results of methods that have no behaviour here, arguments in tests.

use figaro_mcp::table::{Field, Table, Type, TypeDef, Unit};
use serde_json::{Map, Value, json};

/// Nesting deeper than any required field goes.
const MAX_DEPTH: usize = 12;

/// The smallest value of a type: required fields only, lists empty, names short.
pub(super) fn of_type(ty: &Type) -> Value {
    deep(ty, 0)
}

fn field_at(field: &Field, depth: usize) -> Value {
    if let Some(fixed) = field.constant.as_ref().or(field.one_of.first()) {
        return fixed.clone();
    }
    let least = field.min.and_then(|m| usize::try_from(m).ok()).unwrap_or(0);
    match (field.unit, &field.ty) {
        (Some(Unit::Chars | Unit::Bytes), Type::String) => json!("x".repeat(least)),
        (Some(Unit::Items), Type::Array(inner)) => {
            (0..least).map(|_| deep(inner, depth + 1)).collect::<Value>()
        }
        (Some(Unit::Value), Type::Integer) => json!(field.min.unwrap_or(0)),
        (_, ty) => deep(ty, depth),
    }
}

fn deep(ty: &Type, depth: usize) -> Value {
    match ty {
        Type::Integer => json!(0),
        Type::Float => json!(0.0),
        Type::String => json!(""),
        Type::Boolean => json!(false),
        Type::True => json!(true),
        Type::InputFile => json!("https://example.com/file.png"),
        Type::Array(_) => json!([]),
        Type::Union(types) => types.first().map_or(Value::Null, |t| deep(t, depth)),
        Type::Named(_) if depth > MAX_DEPTH => Value::Null,
        Type::Named(name) => match Table::get().type_def(name) {
            Some(TypeDef::Fields(fields)) => Value::Object(object(fields, depth + 1)),
            Some(TypeDef::Union(types)) => types.first().map_or(Value::Null, |t| deep(t, depth + 1)),
            None => Value::Null,
        },
    }
}

/// An object of the required fields, or the required arguments of a method.
pub(super) fn object(fields: &[Field], depth: usize) -> Map<String, Value> {
    fields.iter().filter(|f| f.required).map(|f| (f.name.clone(), field_at(f, depth))).collect()
}
