//! What a request binds its answer to: the tools that it has to call, words that end it, a form that it is to have.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::super::error::ApiError;
use super::content::shown;
use figaro_agent::tools::Tool;
use figaro_domain::form::Form;
use figaro_domain::generation::OutputFormat;
use figaro_provider::ToolChoice;

/// So many words may end an answer.
const MAX_STOPS: usize = 16;

/// Whether the caller's tools may be called, or have to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    None,
    Of(ToolChoice),
}

impl Choice {
    /// Reads it, in whichever dialect.
    ///
    /// # Errors
    /// If it names what is no function.
    pub(crate) fn read(choice: Option<&Value>) -> Result<Self, ApiError> {
        let wrong = || {
            let words = "it is auto, none, required, or a function by its name";
            ApiError::unsupported("tool_choice", words)
        };
        match choice {
            None | Some(Value::Null) => Ok(Self::Of(ToolChoice::Auto)),
            Some(Value::String(word)) => match word.as_str() {
                "auto" => Ok(Self::Of(ToolChoice::Auto)),
                "none" => Ok(Self::None),
                "required" | "any" => Ok(Self::Of(ToolChoice::Required)),
                _ => Err(wrong()),
            },
            Some(named) => {
                let is_function = named.get("type").and_then(Value::as_str) == Some("function");
                let name =
                    named.pointer("/function/name").or_else(|| named.get("name")).and_then(Value::as_str);
                let name = name.filter(|_| is_function).ok_or_else(wrong)?;
                Ok(Self::Of(ToolChoice::Named(name.to_owned())))
            }
        }
    }

    /// What it means for these tools, and those of them that may be called.
    ///
    /// # Errors
    /// If the one that it names is not there.
    pub(crate) fn of(self, tools: Vec<Arc<dyn Tool>>) -> Result<(ToolChoice, Vec<Arc<dyn Tool>>), ApiError> {
        let wrong = |words: String| Err(ApiError::invalid(words).about("tool_choice"));
        match self {
            Self::None => Ok((ToolChoice::Auto, Vec::new())),
            Self::Of(ToolChoice::Required) if tools.is_empty() => {
                wrong("it is required that a function is called, and there is none".to_owned())
            }
            Self::Of(ToolChoice::Named(name)) if !tools.iter().any(|tool| tool.spec().name == name) => {
                wrong(format!("there is no function of the name {}", shown(&name)))
            }
            Self::Of(choice) => Ok((choice, tools)),
        }
    }
}

/// The words that end an answer: one, or several.
///
/// # Errors
/// If they are none.
pub(crate) fn stop(stop: Option<&Value>) -> Result<Vec<String>, ApiError> {
    let wrong = |words: &str| ApiError::invalid(words).about("stop");
    let words = match stop {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(word)) => vec![word.clone()],
        Some(words) => Vec::<String>::deserialize(words)
            .map_err(|_odd| wrong("it is neither a text nor a list of texts"))?,
    };
    match words.len() > MAX_STOPS {
        true => Err(wrong(&format!("there are more than {MAX_STOPS} texts"))),
        false => Ok(words.into_iter().filter(|word| !word.is_empty()).collect()),
    }
}

/// How an answer is held to a form: what the model is told, and what the answer is checked by.
pub(crate) type Held = (Option<OutputFormat>, Option<Form>);

/// The form of an answer, as `param` has it: one dialect has the schema in a part of it, the other in itself.
///
/// # Errors
/// The fault, in words.
pub(crate) fn form(param: &str, format: Option<&Value>) -> Result<Held, ApiError> {
    let wrong = |words: &str| ApiError::invalid(words).about(param);
    let Some(format) = format.filter(|format| !format.is_null()) else { return Ok((None, None)) };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok((None, None)),
        Some("json_object") => {
            let form = Form::any_object().map_err(|words| wrong(&words))?;
            Ok((Some(OutputFormat::Json), Some(form)))
        }
        Some("json_schema") => {
            let named = format.get("json_schema").unwrap_or(format);
            let schema = named.get("schema").filter(|schema| schema.is_object());
            let schema = schema.ok_or_else(|| wrong("its schema is missing"))?;
            if !is_of_object(schema) {
                return Err(wrong("the schema is not one of an object"));
            }
            let name = named.get("name").and_then(Value::as_str).unwrap_or("answer");
            let form = Form::new(name, schema.clone());
            Ok((None, Some(form.map_err(|words| wrong(&format!("the schema cannot be used: {words}")))?)))
        }
        _ => Err(wrong("its type is text, json_object or json_schema")),
    }
}

/// Whether a schema is one of an object, by itself or by what it refers to, as some clients write it.
fn is_of_object(schema: &Value) -> bool {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let meant = target.and_then(|place| schema.pointer(place)).unwrap_or(schema);
    meant.get("type").and_then(Value::as_str) == Some("object")
}
