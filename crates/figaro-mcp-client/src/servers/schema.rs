//! Makes the schema of a tool's arguments acceptable to every provider. A single tool that a provider refuses fails
//! the whole request. So loose schemas are mended, and tools that cannot be mended are left out with a reason. Called
//! by [`super::tools`].

use serde_json::{Map, Value, json};

use super::plain::{MAX_DESCRIPTION, MAX_NAME, plain};

/// Maximum size of a schema, in bytes. Each pass of the model carries it.
const MAX_SCHEMA: usize = 16 << 10;
/// Maximum size of a schema that is mended, in bytes.
const MENDED: usize = 16 * MAX_SCHEMA;
/// Maximum nesting of objects in arguments.
const MAX_LEVELS: usize = 12;
/// Resulting maximum nesting of lists and objects in the schema: each object of the arguments has its table of
/// properties.
const MAX_DEPTH: usize = 2 * MAX_LEVELS + 1;
/// Maximum number of invalid keys of a schema that are dropped one by one.
const MAX_MISFITS: usize = 50;
/// Keywords that providers refuse at the root of a schema.
const NOT_AT_ROOT: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "$ref"];
/// Keywords that tell a model nothing.
const SILENT: [&str; 5] = ["$schema", "$id", "$comment", "title", "examples"];
/// Keywords whose value is a schema for each of its names.
const NAMED: [&str; 5] = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
/// Keywords that apply to objects only, and to lists only.
const OF_OBJECTS: [&str; 5] =
    ["properties", "required", "additionalProperties", "patternProperties", "propertyNames"];
const OF_LISTS: [&str; 3] = ["items", "prefixItems", "contains"];
/// Keywords whose value is a list of schemas.
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value is a schema.
const INNER: [&str; 8] =
    ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
/// Types of JSON Schema, each with its aliases.
const TYPES: [(&str, &[&str]); 7] = [
    ("string", &["str", "text"]),
    ("integer", &["int", "int32", "int64", "long"]),
    ("number", &["float", "double", "decimal"]),
    ("boolean", &["bool"]),
    ("array", &["list", "tuple"]),
    ("object", &["dict", "map"]),
    ("null", &["none"]),
];

/// Returns the schema in a form that every provider accepts.
///
/// # Errors
/// Reason why there is none, in words for the owner.
pub(super) fn parameters(schema: Map<String, Value>) -> Result<Value, String> {
    let bytes = serde_json::to_string(&schema).map_or(usize::MAX, |text| text.len());
    // Mending may shorten the schema, so its size is checked again.
    if bytes > MENDED {
        return Err(too_long(bytes));
    }
    let mut schema = rooted(schema);
    if !is_object(schema.get("type")) {
        return Err("its arguments are no object".to_owned());
    }
    NOT_AT_ROOT.iter().for_each(|word| drop(schema.remove(*word)));
    schema.insert("type".to_owned(), json!("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
    let mut schema = Value::Object(schema);
    if depth(&schema) > MAX_DEPTH {
        return Err(format!("the schema of its arguments is deeper than {MAX_LEVELS}"));
    }
    let root = schema.clone();
    mend(&mut schema, &root);
    drop_misfits(&mut schema)?;
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA {
        return Err(too_long(bytes));
    }
    if let Some(name) = odd_name(&schema) {
        return Err(format!("it takes an argument with an odd name: {}", plain(&name, MAX_NAME)));
    }
    Ok(schema)
}

/// Drops keywords with invalid values, such as a bound that is a text. Only the model sees the difference.
fn drop_misfits(schema: &mut Value) -> Result<(), String> {
    for _ in 0..MAX_MISFITS {
        let Err(error) = jsonschema::meta::validate(schema) else { return Ok(()) };
        let (path, why) = (error.instance_path().to_string(), error.to_string());
        if !is_dropped(schema, &path) {
            return Err(plain(&format!("the schema of its arguments is none: {why}"), 200));
        }
    }
    Err(format!("the schema of its arguments has more than {MAX_MISFITS} mistakes"))
}

/// Drops the value at this path, or the list that contains it.
fn is_dropped(schema: &mut Value, path: &str) -> bool {
    let Some((outer, word)) = path.rsplit_once('/') else { return false };
    match schema.pointer_mut(outer) {
        Some(Value::Object(fields)) => fields.remove(&word.replace("~1", "/").replace("~0", "~")).is_some(),
        Some(_) => is_dropped(schema, outer),
        None => false,
    }
}

fn too_long(bytes: usize) -> String {
    format!("the schema of its arguments has {bytes} bytes; {MAX_SCHEMA} at most")
}

/// Returns `true` if the type of the root allows an object.
fn is_object(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object" || kind.is_null(),
        None => true,
    }
}

/// Resolves the references of the root and merges the arguments of all its alternatives into it, because no provider
/// accepts these keywords there. An argument of an alternative is required only if the root requires it.
fn rooted(mut root: Map<String, Value>) -> Map<String, Value> {
    let whole = Value::Object(root.clone());
    let parts = |word: &str| whole[word].as_array().cloned().unwrap_or_default();
    let target = whole["$ref"].as_str().and_then(|path| target(&whole, path));
    for part in target.cloned().into_iter().chain(parts("allOf")) {
        join(&mut root, &part, &whole, true);
    }
    for part in parts("anyOf").into_iter().chain(parts("oneOf")) {
        join(&mut root, &part, &whole, false);
    }
    root
}

/// Adds the arguments of a part to a root. `is_always` is `true` if the part always applies; then its required
/// arguments are required.
fn join(root: &mut Map<String, Value>, part: &Value, whole: &Value, is_always: bool) {
    let part = part["$ref"].as_str().and_then(|path| target(whole, path)).unwrap_or(part);
    let own = part["properties"].as_object();
    match root.get_mut("properties") {
        Some(Value::Object(all)) => {
            for (name, property) in own.into_iter().flatten() {
                all.entry(name).or_insert_with(|| property.clone());
            }
        }
        Some(_) | None => {
            root.extend(own.map(|own| ("properties".to_owned(), Value::Object(own.clone()))));
        }
    }
    if let (true, Some(more)) = (is_always, part["required"].as_array()) {
        match root.get_mut("required") {
            Some(Value::Array(all)) => all.extend(more.iter().cloned()),
            Some(_) | None => drop(root.insert("required".to_owned(), json!(more))),
        }
    }
    for word in ["type", "description", "additionalProperties"] {
        if let (None, Some(value), true) = (root.get(word), part.get(word), is_always) {
            root.insert(word.to_owned(), value.clone());
        }
    }
}

fn target<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    root.pointer(path.strip_prefix('#')?)
}

/// Mends a schema and all schemas in it.
fn mend(schema: &mut Value, root: &Value) {
    // `true`, and anything that is no schema, allows every value.
    let Value::Object(fields) = schema else {
        *schema = json!({});
        return;
    };
    SILENT.iter().for_each(|word| drop(fields.remove(*word)));
    describe(fields);
    mend_type(fields);
    fields.retain(|word, value| word != "enum" || value.as_array().is_some_and(|values| !values.is_empty()));
    mend_bounds(fields);
    if fields.get("$ref").is_some_and(|path| path.as_str().and_then(|path| target(root, path)).is_none()) {
        fields.remove("$ref");
    }
    for (kind, words) in [("object", &OF_OBJECTS[..]), ("array", &OF_LISTS)] {
        if !may_be(fields, kind) {
            words.iter().for_each(|word| drop(fields.remove(*word)));
        }
    }
    mend_items(fields);
    for word in NAMED {
        match fields.get_mut(word) {
            Some(Value::Object(named)) => named.values_mut().for_each(|inner| mend(inner, root)),
            // PHP encodes an empty table as a list.
            Some(_) if word == "properties" => drop(fields.insert(word.to_owned(), json!({}))),
            Some(_) => drop(fields.remove(word)),
            None => {}
        }
    }
    for word in LISTED {
        match fields.get_mut(word) {
            Some(Value::Array(all)) if !all.is_empty() => all.iter_mut().for_each(|inner| mend(inner, root)),
            Some(_) => drop(fields.remove(word)),
            None => {}
        }
    }
    for word in INNER {
        match fields.get_mut(word) {
            Some(Value::Bool(_)) if word == "additionalProperties" => {}
            Some(inner) => mend(inner, root),
            None => {}
        }
    }
    require_known(fields);
}

/// Makes the description one line of text.
fn describe(fields: &mut Map<String, Value>) {
    match fields.get_mut("description") {
        Some(Value::String(words)) => *words = plain(words, MAX_DESCRIPTION),
        Some(_) => drop(fields.remove("description")),
        None => {}
    }
}

/// Replaces aliases by the names of types. A type that allows any value is removed. An unknown name stays, and is
/// reported later.
fn mend_type(fields: &mut Map<String, Value>) {
    let known = |kind: &mut Value| {
        let lower = kind.as_str().unwrap_or_default().to_ascii_lowercase();
        let names = |(name, others): &&(&str, &[&str])| *name == lower || others.contains(&lower.as_str());
        if let Some((name, _)) = TYPES.iter().find(names) {
            *kind = json!(name);
        }
    };
    let says_nothing = |kind: &Value| !kind.is_string() || kind == "any" || kind == "";
    match fields.get_mut("type") {
        Some(Value::Array(kinds)) => {
            kinds.iter_mut().for_each(known);
            let mut unique: Vec<Value> = Vec::new();
            for kind in kinds.drain(..) {
                if !unique.contains(&kind) {
                    unique.push(kind);
                }
            }
            let is_any = unique.is_empty() || unique.iter().any(says_nothing);
            *kinds = unique;
            if is_any {
                fields.remove("type");
            }
        }
        Some(kind) if says_nothing(kind) => drop(fields.remove("type")),
        Some(kind) => known(kind),
        None => {}
    }
}

/// Returns `true` if the schema allows a value of this type.
fn may_be(fields: &Map<String, Value>, kind: &str) -> bool {
    fields.get("type").is_none_or(|named| {
        named == kind || named.as_array().is_some_and(|all| all.iter().any(|one| one == kind))
    })
}

/// Converts bounds of older drafts. Removes patterns that are not anchored or look around: servers that turn a
/// pattern into a grammar refuse them.
fn mend_bounds(fields: &mut Map<String, Value>) {
    for word in ["exclusiveMinimum", "exclusiveMaximum"] {
        if fields.get(word).is_some_and(Value::is_boolean) {
            fields.remove(word);
        }
    }
    let is_plain =
        |pattern: &str| pattern.starts_with('^') && pattern.ends_with('$') && !pattern.contains("(?");
    if fields.get("pattern").is_some_and(|pattern| !pattern.as_str().is_some_and(is_plain)) {
        fields.remove("pattern");
    }
    if fields.get("format").is_some_and(|format| !format.is_string()) {
        fields.remove("format");
    }
}

/// Gives each list a schema of its items. A list with a schema per position gets one that allows any of them.
fn mend_items(fields: &mut Map<String, Value>) {
    let is_list = fields.contains_key("type") && may_be(fields, "array");
    match fields.get("items") {
        Some(Value::Array(places)) => {
            let any = if places.is_empty() { json!({}) } else { json!({"anyOf": places}) };
            fields.insert("items".to_owned(), any);
        }
        Some(Value::Object(_)) => {}
        Some(_) => drop(fields.insert("items".to_owned(), json!({}))),
        None if is_list || fields.contains_key("prefixItems") => {
            let any = fields.remove("prefixItems").filter(|places| places[0].is_object());
            let any = any.map_or_else(|| json!({}), |places| json!({"anyOf": places}));
            fields.insert("items".to_owned(), any);
        }
        None => {}
    }
}

/// Keeps only required names that are described, each once.
fn require_known(fields: &mut Map<String, Value>) {
    let Some(required) = fields.remove("required") else { return };
    let properties = fields.get("properties").and_then(Value::as_object);
    let mut known: Vec<Value> = Vec::new();
    for name in required.as_array().into_iter().flatten() {
        let is_known = name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)));
        if is_known && !known.contains(name) {
            known.push(name.clone());
        }
    }
    if !known.is_empty() {
        fields.insert("required".to_owned(), known.into());
    }
}

/// Returns the name of an argument, at any depth, that some provider refuses.
fn odd_name(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(fields) => {
            let names = fields.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
            let odd = names.into_iter().find(|name| !is_property(name)).cloned();
            odd.or_else(|| fields.values().find_map(odd_name))
        }
        Value::Array(items) => items.iter().find_map(odd_name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Returns `true` if every provider accepts this name of an argument.
fn is_property(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'.';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(fits)
}

/// Returns the nesting depth of lists and objects.
fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Object(map) => map.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    deepest.unwrap_or_default() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: &Value) -> Result<Value, String> {
        parameters(schema.as_object().unwrap().clone())
    }

    /// What an argument becomes.
    fn argument(schema: Value) -> Value {
        let defs = json!({"A": {"type": "string"}});
        let mut whole = of(&json!({"type": "object", "properties": {"a": schema}, "$defs": defs})).unwrap();
        whole["properties"]["a"].take()
    }

    #[test]
    fn a_root_becomes_an_object_with_all_its_arguments() {
        let a = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let needed = || json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let args = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let cases = [
            ("nothing", json!({}), json!({"type": "object", "properties": {}})),
            (
                "a table of PHP",
                json!({"type": "object", "properties": []}),
                json!({"type": "object", "properties": {}}),
            ),
            (
                "an object or nothing",
                json!({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}),
                a(),
            ),
            ("no type", json!({"properties": {"a": {"type": "string"}}, "type": null}), a()),
            (
                "what says nothing",
                json!({"$schema": "x", "type": "object", "title": "T", "properties": {"title": {"type": "string", "title": "T"}}}),
                json!({"type": "object", "properties": {"title": {"type": "string"}}}),
            ),
            (
                "alternatives in what is required",
                json!({"type": "object", "properties": {"a": {"description": "two\nlines\u{202e}"}}, "anyOf": [{"required": ["a"]}]}),
                json!({"type": "object", "properties": {"a": {"description": "two lines"}}}),
            ),
            (
                "alternatives",
                json!({"type": "object", "oneOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}]}),
                a(),
            ),
            ("all of them", json!({"allOf": [args.clone()]}), needed()),
            (
                "a reference",
                json!({"$ref": "#/definitions/Args", "definitions": {"Args": args.clone()}}),
                json!({"definitions": {"Args": args}, "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            ),
            (
                "required and not described",
                json!({"properties": {"a": {"type": "string"}}, "required": ["a", "b", "a", 3]}),
                needed(),
            ),
            (
                "required of old",
                json!({"properties": {"a": {"type": "string", "required": true}}, "required": true}),
                a(),
            ),
        ];
        for (name, schema, wanted) in cases {
            assert_eq!(of(&schema), Ok(wanted), "{name}");
        }
    }

    #[test]
    fn lists_say_what_is_in_them() {
        let word = || json!({"type": "string"});
        let cases = [
            ("a list of nothing", json!({"type": "array"}), json!({"type": "array", "items": {}})),
            (
                "a list or nothing",
                json!({"type": ["array", "null"]}),
                json!({"type": ["array", "null"], "items": {}}),
            ),
            (
                "a list in a list",
                json!({"type": "array", "items": {"type": "array"}}),
                json!({"type": "array", "items": {"type": "array", "items": {}}}),
            ),
            (
                "a list of anything",
                json!({"type": "array", "items": true}),
                json!({"type": "array", "items": {}}),
            ),
            (
                "a list by places",
                json!({"type": "array", "items": [word(), {"type": "array"}]}),
                json!({"type": "array", "items": {"anyOf": [word(), {"type": "array", "items": {}}]}}),
            ),
            (
                "a list by places, newer",
                json!({"type": "array", "prefixItems": [word()]}),
                json!({"type": "array", "items": {"anyOf": [word()]}}),
            ),
            (
                "a list among alternatives",
                json!({"anyOf": [{"type": "array"}, word()]}),
                json!({"anyOf": [{"type": "array", "items": {}}, word()]}),
            ),
        ];
        for (name, schema, wanted) in cases {
            assert_eq!(argument(schema), wanted, "{name}");
        }
    }

    #[test]
    fn words_of_other_drafts_and_languages_become_what_every_provider_takes() {
        let word = || json!({"type": "string"});
        let cases = [
            ("anything", json!(true), json!({})),
            ("no schema", json!(null), json!({})),
            ("types of other languages", json!({"type": "int"}), json!({"type": "integer"})),
            (
                "several, in capitals",
                json!({"type": ["STRING", "Null", "str"]}),
                json!({"type": ["string", "null"]}),
            ),
            ("any type", json!({"type": "any"}), json!({})),
            ("no choice", json!({"type": "string", "enum": []}), word()),
            (
                "bounds of old",
                json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
                json!({"type": "integer", "minimum": 1}),
            ),
            ("a pattern without anchors", json!({"type": "string", "pattern": "[a-z"}), word()),
            ("a pattern that looks around", json!({"type": "string", "pattern": "^(?!a).*$"}), word()),
            (
                "a plain pattern",
                json!({"type": "string", "pattern": "^a+$"}),
                json!({"type": "string", "pattern": "^a+$"}),
            ),
            ("a reference", json!({"$ref": "#/$defs/A"}), json!({"$ref": "#/$defs/A"})),
            (
                "a reference to nothing",
                json!({"$ref": "#/$defs/B", "description": "B."}),
                json!({"description": "B."}),
            ),
            ("a reference to elsewhere", json!({"$ref": "https://example.com/a.json"}), json!({})),
            ("alternatives that are none", json!({"type": "string", "anyOf": [], "oneOf": {}}), word()),
            ("a description that is none", json!({"type": "string", "description": ["a"]}), word()),
            (
                "an object",
                json!({"type": "object", "properties": [], "required": ["b"]}),
                json!({"type": "object", "properties": {}}),
            ),
            (
                "a table",
                json!({"type": "object", "additionalProperties": {"type": "array"}}),
                json!({"type": "object", "additionalProperties": {"type": "array", "items": {}}}),
            ),
            (
                "a closed object",
                json!({"type": "object", "additionalProperties": false}),
                json!({"type": "object", "additionalProperties": false}),
            ),
            ("a constant", json!({"const": 3}), json!({"const": 3})),
        ];
        for (name, schema, wanted) in cases {
            assert_eq!(argument(schema), wanted, "{name}");
        }
    }

    /// So many objects in each other.
    fn nested(levels: usize) -> Value {
        let innermost = json!({"type": "string"});
        (0..levels).fold(innermost, |inner, _| json!({"type": "object", "properties": {"a": inner}}))
    }

    #[test]
    fn what_cannot_stand_where_it_does_is_dropped() {
        let number = || json!({"type": "integer"});
        let cases = [
            (
                "a bound that is a text",
                json!({"type": "integer", "minimum": "0", "maxLength": "5"}),
                number(),
            ),
            ("a type that is none", json!({"type": "strin"}), json!({})),
            ("a type that is none among others", json!({"type": ["string", "strin"]}), json!({})),
            ("a type that is no name", json!({"type": ["string", 5]}), json!({})),
            (
                "words of objects at a text",
                json!({"type": "string", "properties": {"x": {}}, "required": ["x"], "items": {}}),
                json!({"type": "string"}),
            ),
            (
                "words of lists at an object",
                json!({"type": ["object", "null"], "properties": {"x": true}, "items": {}}),
                json!({"type": ["object", "null"], "properties": {"x": {}}}),
            ),
            (
                "a bound within alternatives",
                json!({"anyOf": [{"type": "integer", "multipleOf": -1}, {"minLength": -2}]}),
                json!({"anyOf": [number(), {}]}),
            ),
        ];
        for (name, schema, wanted) in cases {
            assert_eq!(argument(schema), wanted, "{name}");
        }
        assert!(of(&nested(12)).is_ok());
    }

    #[test]
    fn what_cannot_be_mended_is_left_out_with_its_reason() {
        let refused = [
            (json!({"type": "array"}), "its arguments are no object"),
            (json!({"properties": {"a b": {}}}), "it takes an argument with an odd name: a b"),
            (
                json!({"properties": {"a": {"type": "object", "properties": {"ü": {}}}}}),
                "it takes an argument with an odd name: ü",
            ),
            (
                json!({"properties": {"a": {"description": "x".repeat(20_000), "enum": ["y".repeat(20_000)]}}}),
                "the schema of its arguments has",
            ),
            (nested(13), "the schema of its arguments is deeper than 12"),
        ];
        for (schema, words) in refused {
            let reason = of(&schema).unwrap_err();
            assert!(reason.starts_with(words), "{reason}");
        }
    }
}
