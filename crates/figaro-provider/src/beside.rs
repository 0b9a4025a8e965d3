//! Extra fields of a call, such as a signature. Only the service knows their purpose, and some refuse a conversation
//! whose calls come back without them. The dialects keep them and put them back.

use serde_json::{Map, Value};

/// Returns the fields of a call, or of a part of one, that are not among the known ones.
pub(crate) fn beside(value: &Value, known: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    let unknown = fields.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Puts kept fields back into a call. Fields of the call itself win.
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
