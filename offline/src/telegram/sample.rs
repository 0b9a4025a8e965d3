//! Smallest values of the types in the table: results of methods without behaviour, arguments in tests.

use figaro_mcp::table::{ApiField, ApiTable, ApiType, TypeDef, Unit};
use serde_json::{Map, Value, json};

/// Maximum nesting, deeper than any required field.
const MAX_DEPTH: usize = 12;

/// Returns the smallest value of a type: only required fields, empty lists, short names.
pub(super) fn of_type(ty: &ApiType) -> Value {
    deep(ty, 0)
}

fn field_at(field: &ApiField, depth: usize) -> Value {
    if let Some(fixed) = field.constant.as_ref().or(field.one_of.first()) {
        return fixed.clone();
    }
    let least = field.min.and_then(|m| usize::try_from(m).ok()).unwrap_or(0);
    match (field.unit, &field.ty) {
        (Some(Unit::Chars | Unit::Bytes), ApiType::String) => json!("x".repeat(least)),
        (Some(Unit::Items), ApiType::Array(inner)) => {
            (0..least).map(|_| deep(inner, depth + 1)).collect::<Value>()
        }
        (Some(Unit::Value), ApiType::Integer) => json!(field.min.unwrap_or(0)),
        (_, ty) => deep(ty, depth),
    }
}

fn deep(ty: &ApiType, depth: usize) -> Value {
    match ty {
        ApiType::Integer => json!(0),
        ApiType::Float => json!(0.0),
        ApiType::String => json!(""),
        ApiType::Boolean => json!(false),
        ApiType::True => json!(true),
        ApiType::InputFile => json!("https://example.com/file.png"),
        ApiType::Array(_) => json!([]),
        ApiType::Union(types) => types.first().map_or(Value::Null, |t| deep(t, depth)),
        ApiType::Named(_) if depth > MAX_DEPTH => Value::Null,
        ApiType::Named(name) => match ApiTable::get().type_def(name) {
            Some(TypeDef::Fields(fields)) => Value::Object(object(fields, depth + 1)),
            Some(TypeDef::Union(types)) => types.first().map_or(Value::Null, |t| deep(t, depth + 1)),
            None => Value::Null,
        },
    }
}

/// Returns an object with the required fields, or with the required arguments of a method.
pub(super) fn object(fields: &[ApiField], depth: usize) -> Map<String, Value> {
    fields.iter().filter(|f| f.required).map(|f| (f.name.clone(), field_at(f, depth))).collect()
}
