//! The tools of a caller: the model may call them, and the turn ends with such calls. The caller makes them and comes back.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use figaro_agent::tools::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_domain::tool::{Call, Effect, SideEffects, StatusKey};
use figaro_provider::ToolSpec;

/// The most tools of a request: no provider takes more.
const MAX_TOOLS: usize = 128;

const NO_OBJECT: &str = "its parameters are no JSON Schema of an object";

/// What a tool is.
#[derive(Debug, Clone, Deserialize)]
struct Function {
    /// Its name.
    name: String,
    /// What it does, for the model.
    #[serde(default)]
    description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    parameters: Option<Value>,
}

/// Makes tools of what a request has. Those that are no functions, such as a provider's own search, are passed over: they are offered
/// to whatever model a client may have before it.
///
/// # Errors
/// What is wrong with the first that is.
pub(crate) fn tools(definitions: &[Value]) -> Result<Vec<Arc<dyn Tool>>, ApiError> {
    let (mut made, mut names): (Vec<Arc<dyn Tool>>, _) = (Vec::new(), BTreeSet::new());
    for (at, definition) in definitions.iter().enumerate() {
        let wrong = |words: String| ApiError::invalid(words).about(&format!("tools[{at}]"));
        if definition.get("type").and_then(Value::as_str).unwrap_or("function") != "function" {
            continue;
        }
        // In one dialect what it is stands in the tool itself, in the other one deeper.
        let function = definition.get("function").unwrap_or(definition);
        let function =
            Function::deserialize(function).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        let tool = tool(&function).map_err(wrong)?;
        if !names.insert(function.name) {
            return Err(wrong("another tool has this name".to_owned()));
        }
        made.push(Arc::new(tool));
    }
    match made.len() > MAX_TOOLS {
        true => Err(ApiError::invalid(format!("there are more than {MAX_TOOLS} tools")).about("tools")),
        false => Ok(made),
    }
}

fn tool(function: &Function) -> Result<CallerTool, String> {
    let Function { name, description, parameters } = function;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !is_name {
        return Err(
            "its name has to be of letters, digits, _ and -, 64 at most, and begin with a letter or _"
                .to_owned(),
        );
    }
    let mut parameters = match parameters {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(schema)) => schema.clone(),
        Some(_) => return Err(NO_OBJECT.to_owned()),
    };
    if parameters.entry("type").or_insert_with(|| "object".into()) != "object" {
        return Err(NO_OBJECT.to_owned());
    }
    // Some services refuse an object that says nothing of what it has.
    parameters.entry("properties").or_insert_with(|| json!({}));
    // Some services want words about each.
    let description = description.as_deref().filter(|words| !words.trim().is_empty()).unwrap_or(name);
    Ok(CallerTool(Arc::new(ToolSpec::new(name, description, parameters.into()))))
}

/// A tool of a caller.
#[derive(Debug)]
struct CallerTool(Arc<ToolSpec>);

#[async_trait]
impl Tool for CallerTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    /// Figaro does nothing by it.
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn status(&self) -> StatusKey {
        StatusKey("tool_telegram")
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let call =
            Call { id: context.call.clone(), name: self.0.name.clone(), arguments: arguments.to_string() };
        let side_effects = SideEffects { handed: vec![call], ..SideEffects::default() };
        Ok(ToolOutput { side_effects, ..json!({"success": true, "made_by": "whoever asks"}).into() })
    }
}
