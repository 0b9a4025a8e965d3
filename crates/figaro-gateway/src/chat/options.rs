//! Constraints on an answer: tools that must be called, stop sequences, and an output format.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::super::error::GatewayError;
use super::content::shown;
use figaro_agent::tools::Tool;
use figaro_domain::form::Form;
use figaro_domain::generation::OutputFormat;
use figaro_provider::ToolChoice;

const MAX_STOPS: usize = 16;

/// Choice of the caller's tools: none may be called, or as the model's own choice says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallerToolChoice {
    None,
    Of(ToolChoice),
}

impl CallerToolChoice {
    /// Reads the choice in either dialect.
    ///
    /// # Errors
    /// If it names something that is no function.
    pub(crate) fn read(choice: Option<&Value>) -> Result<Self, GatewayError> {
        let wrong = || {
            let words = "it is auto, none, required, or a function by its name";
            GatewayError::unsupported("tool_choice", words)
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

    /// Applies the choice to these tools. Returns the choice for the model and the tools that it may call.
    ///
    /// # Errors
    /// If the named tool does not exist.
    pub(crate) fn of(
        self,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<(ToolChoice, Vec<Arc<dyn Tool>>), GatewayError> {
        let wrong = |words: String| Err(GatewayError::invalid(words).about("tool_choice"));
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

/// Reads the stop sequences: one, or a list.
///
/// # Errors
/// If they are no texts.
pub(crate) fn stop(stop: Option<&Value>) -> Result<Vec<String>, GatewayError> {
    let wrong = |words: &str| GatewayError::invalid(words).about("stop");
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

/// Format of an answer: the instruction for the model, and the check of the answer.
pub(crate) type OutputConstraint = (Option<OutputFormat>, Option<Form>);

/// Reads the format of an answer from `param`. One dialect nests the schema, the other does not.
///
/// # Errors
/// The fault, in words.
pub(crate) fn form(param: &str, format: Option<&Value>) -> Result<OutputConstraint, GatewayError> {
    let wrong = |words: &str| GatewayError::invalid(words).about(param);
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

/// Returns `true` if the schema describes an object, directly or by a reference, as some clients write it.
fn is_of_object(schema: &Value) -> bool {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let meant = target.and_then(|place| schema.pointer(place)).unwrap_or(schema);
    meant.get("type").and_then(Value::as_str) == Some("object")
}
