//! What a call has beside what every call has, such as a signature: only its service knows what it is for, and some refuse a
//! conversation whose calls come back without it. Kept and put back by the dialects.

use serde_json::{Map, Value};

/// The fields of a call, or of a part of one, that are none of these.
pub(crate) fn beside(value: &Value, known: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    let unknown = fields.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Puts back what was kept of a call; what the call has itself stays.
pub(crate) fn put_back(call: &mut Value, kept: &Value) {
    for (field, value) in kept.as_object().into_iter().flatten() {
        match call.get_mut(field) {
            None => call[field] = value.clone(),
            Some(own @ Value::Object(_)) if value.is_object() => put_back(own, value),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_kept_is_put_back_and_changes_nothing_else() {
        let came = json!({"id": "a", "function": {"name": "f", "x": 1}, "signature": "S", "odd": null});
        assert_eq!(Value::from(beside(&came, &["id", "function"])), json!({"signature": "S"}));
        assert_eq!(Value::from(beside(&came["function"], &["name"])), json!({"x": 1}));
        assert!(beside(&Value::Null, &[]).is_empty());
        let mut call = json!({"id": "b", "function": {"name": "f"}});
        put_back(&mut call, &json!({"id": "a", "function": {"name": "g", "x": 1}, "signature": "S"}));
        assert_eq!(call, json!({"id": "b", "function": {"name": "f", "x": 1}, "signature": "S"}));
        put_back(&mut call, &Value::Null);
    }
}
