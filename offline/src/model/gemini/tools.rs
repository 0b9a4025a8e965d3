//! Gemini's rules for tools and settings, and for their combinations.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::checks::{non_empty_str, references, within};
use super::super::dialect::Validation;
use super::known::GeminiModelName;

const MODES: [&str; 5] = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"];

const LEVELS: [&str; 4] = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];

/// Checks the tools and the settings of a request.
pub(super) fn check(body: &Value, model: &GeminiModelName) -> Validation {
    let tools = GeminiTools::of(body)?;
    for (at, declaration) in tools.functions.iter().enumerate() {
        self::declaration(declaration, &format!("tools[0].function_declarations[{at}]"))?;
    }
    let mut names = BTreeSet::new();
    let twice = tools.functions.iter().filter_map(|d| d["name"].as_str()).find(|name| !names.insert(*name));
    if let Some(twice) = twice {
        return Err(format!("Duplicate function declaration found: {twice}"));
    }
    config(&body["toolConfig"], &names)?;
    let is_json = generation(&body["generationConfig"], model)?;
    together(&tools, is_json, &body["toolConfig"], model)
}

struct GeminiTools<'a> {
    functions: Vec<&'a Value>,
    searches: bool,
}

impl<'a> GeminiTools<'a> {
    fn of(body: &'a Value) -> Result<Self, String> {
        let list = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_empty = |tool: &Value| tool.as_object().is_none_or(serde_json::Map::is_empty);
        if let Some(at) = list.iter().position(is_empty) {
            return Err(format!(
                "* GenerateContentRequest.tools[{at}].tool_type: required one_of 'tool_type' must have one \
                 initialized field"
            ));
        }
        let functions = list.iter().flat_map(|tool| tool["functionDeclarations"].as_array()).flatten();
        let searches = list.iter().any(|tool| tool["googleSearch"].is_object());
        Ok(Self { functions: functions.collect(), searches })
    }
}

/// Checks combinations. Models before the third generation allow only one of functions, search and JSON.
fn together(tools: &GeminiTools<'_>, is_json: bool, config: &Value, model: &GeminiModelName) -> Validation {
    let calls = !tools.functions.is_empty();
    if model.is_third() {
        if calls && tools.searches && config["includeServerSideToolInvocations"] != true {
            return Err(
                "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with \
                        Function calling."
                    .to_owned(),
            );
        }
        return Ok(());
    }
    if config["includeServerSideToolInvocations"] == true {
        return Err("Tool call context circulation is not enabled for this model.".to_owned());
    }
    match (calls, tools.searches, is_json) {
        (true, true, _) => Err("Tool use with function calling is unsupported".to_owned()),
        (true, _, true) => {
            Err("Function calling with a response mime type: 'application/json' is unsupported".to_owned())
        }
        (_, true, true) => {
            Err("Tool use with a response mime type: 'application/json' is unsupported".to_owned())
        }
        _ => Ok(()),
    }
}

fn declaration(declaration: &Value, path: &str) -> Validation {
    if !non_empty_str(declaration, "name").is_some_and(is_name) {
        return Err(format!(
            "* GenerateContentRequest.{path}.name: Invalid function name. Must start with a letter or an underscore. \
             Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum \
             length of 64."
        ));
    }
    if non_empty_str(declaration, "description").is_none() {
        return Err(format!(
            "* GenerateContentRequest.{path}.description: a function needs one to be understood"
        ));
    }
    match (&declaration["parameters"], &declaration["parametersJsonSchema"]) {
        (Value::Null, Value::Null) => Ok(()),
        (schema, Value::Null)
            if schema["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object")) =>
        {
            self::schema(schema, &format!("{path}.parameters"))
        }
        (_, Value::Null) => Err(format!(
            "* GenerateContentRequest.{path}.parameters: only allowed to be of the type OBJECT, or left out"
        )),
        (Value::Null, schema) => {
            json_schema(schema).map_err(|why| format!("{path}.parameters_json_schema: {why}"))
        }
        _ => Err(format!("{path}: parameters and parameters_json_schema are mutually exclusive")),
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
}

/// Checks plain JSON Schema: the type must be `object`, and all references must resolve.
fn json_schema(schema: &Value) -> Validation {
    if schema["type"] != "object" {
        return Err("the schema must have type 'object'".to_owned());
    }
    references(schema)
}

/// Checks Gemini's own schema format. The types of its fields were checked before.
fn schema(schema: &Value, path: &str) -> Validation {
    let told = |why: &str| Err(format!("* GenerateContentRequest.{path}{why}"));
    let kind = schema["type"].as_str().unwrap_or_default().to_ascii_uppercase();
    let options = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, option) in options.iter().enumerate() {
        self::schema(option, &format!("{path}.any_of[{at}]"))?;
    }
    match kind.as_str() {
        "" if options.is_empty() => return told(".type: must be specified"),
        "" | "STRING" | "NUMBER" | "INTEGER" | "BOOLEAN" | "NULL" => {}
        "ARRAY" if schema["items"].is_null() => return told(".items: missing field."),
        "ARRAY" => self::schema(&schema["items"], &format!("{path}.items"))?,
        "OBJECT" => object(schema, path)?,
        _ => return told(".type: is not one of the known types"),
    }
    if !schema["enum"].is_null() && kind != "STRING" {
        return told(".enum: only allowed for STRING type");
    }
    let formats: &[&str] = match kind.as_str() {
        "STRING" => &["enum", "date-time"],
        "NUMBER" => &["float", "double"],
        "INTEGER" => &["int32", "int64"],
        _ => &[],
    };
    match schema["format"].as_str() {
        Some(format) if !formats.contains(&format) => {
            told(&format!(".format: only {} are supported for {kind} type", formats.join(" and ")))
        }
        _ => Ok(()),
    }
}

fn object(schema: &Value, path: &str) -> Validation {
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return Err(format!(
            "* GenerateContentRequest.{path}.properties: should be non-empty for OBJECT type"
        ));
    };
    for (name, property) in properties {
        self::schema(property, &format!("{path}.properties[{name}]"))?;
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.enumerate().find(|(_, name)| !properties.contains_key(*name)) {
        Some((at, _)) => {
            Err(format!("* GenerateContentRequest.{path}.required[{at}]: property is not defined"))
        }
        None => Ok(()),
    }
}

fn config(config: &Value, names: &BTreeSet<&str>) -> Validation {
    let calling = &config["functionCallingConfig"];
    if calling.is_null() {
        return Ok(());
    }
    if names.is_empty() {
        return Err("Function calling config is set without function_declarations.".to_owned());
    }
    let mode = calling["mode"].as_str().unwrap_or("AUTO");
    if !MODES.contains(&mode) {
        return Err(format!(
            "Invalid value at 'tool_config.function_calling_config.mode' (TYPE_ENUM), \"{mode}\""
        ));
    }
    let allowed: Vec<&str> =
        calling["allowedFunctionNames"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !allowed.is_empty() && !matches!(mode, "ANY" | "VALIDATED") {
        return Err("Allowed function names should be set only when function calling mode is ANY.".to_owned());
    }
    match allowed.into_iter().find(|name| !names.contains(name)) {
        Some(name) => Err(format!("allowed_function_names: {name} is not declared")),
        None => Ok(()),
    }
}

/// Checks the settings. Returns `true` if the answer must be JSON.
fn generation(config: &Value, model: &GeminiModelName) -> Result<bool, String> {
    within(config, "temperature", 0.0, 2.0)?;
    within(config, "topP", 0.0, 1.0)?;
    let penalised = ["presencePenalty", "frequencyPenalty"];
    if penalised.iter().any(|name| config[name].as_f64().is_some_and(|penalty| penalty != 0.0)) {
        return Err("Penalty is not enabled for this model".to_owned());
    }
    if config["maxOutputTokens"].as_i64().is_some_and(|most| most < 1) {
        return Err("max_output_tokens must be positive.".to_owned());
    }
    if config["candidateCount"].as_i64().is_some_and(|count| count != 1) {
        return Err("Only one candidate can be specified".to_owned());
    }
    thinking(&config["thinkingConfig"], model)?;
    let is_json = config["responseMimeType"] == "application/json";
    let schemas = [&config["responseSchema"], &config["responseJsonSchema"]];
    match schemas {
        [Value::Null, Value::Null] => {}
        _ if !is_json => {
            return Err(
                "response_mime_type must be application/json when a response schema is set.".to_owned()
            );
        }
        [own, Value::Null] => schema(own, "generation_config.response_schema")?,
        [Value::Null, free] => references(free)?,
        _ => return Err("response_schema and response_json_schema are mutually exclusive".to_owned()),
    }
    Ok(is_json)
}

fn thinking(config: &Value, model: &GeminiModelName) -> Validation {
    let level = config["thinkingLevel"].as_str();
    if level.is_some() && !config["thinkingBudget"].is_null() {
        return Err("You can only set only one of thinking budget and thinking level.".to_owned());
    }
    match level {
        Some(_) if !model.is_third() => Err("Thinking level is not supported for this model.".to_owned()),
        Some(level) if !LEVELS.contains(&level.to_ascii_uppercase().as_str()) => Err(format!(
            "Invalid value at 'generation_config.thinking_config.thinking_level' (TYPE_ENUM), \"{level}\""
        )),
        _ => Ok(()),
    }
}
