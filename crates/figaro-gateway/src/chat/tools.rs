//! The tools of a caller: the model may call them, and the turn ends with such calls. The caller makes them and comes back.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::ApiError;
use figaro_agent::tools::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_domain::form::Form;
use figaro_domain::tool::{Call, Effect, SideEffects, StatusKey};
use figaro_provider::ToolSpec;

/// The most tools of a request: beside Figaro's own a model chooses badly among more.
const MAX_TOOLS: usize = 32;
/// The most characters of what a tool says of itself.
const MAX_DESCRIPTION: usize = 4_096;

/// A tool as a request has it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ToolDefinition {
    /// Its kind; functions are taken.
    #[serde(rename = "type", default)]
    pub(crate) kind: Option<String>,
    /// What it is.
    #[serde(default)]
    pub(crate) function: Option<FunctionDefinition>,
}

/// What a tool is.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FunctionDefinition {
    /// Its name.
    pub(crate) name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    pub(crate) parameters: Option<Value>,
}

/// Makes tools of what a request has.
///
/// # Errors
/// What is wrong with the first that is.
pub(crate) fn tools(definitions: &[ToolDefinition]) -> Result<Vec<Arc<dyn Tool>>, ApiError> {
    if definitions.len() > MAX_TOOLS {
        return Err(ApiError::invalid(format!("there are more than {MAX_TOOLS} tools")).about("tools"));
    }
    let (mut made, mut names): (Vec<Arc<dyn Tool>>, _) = (Vec::new(), BTreeSet::new());
    for (at, definition) in definitions.iter().enumerate() {
        let wrong = |words: String| ApiError::invalid(words).about(&format!("tools[{at}]"));
        let function = definition.function.as_ref();
        let is_function = definition.kind.as_deref().unwrap_or("function") == "function";
        let function = function
            .filter(|_| is_function)
            .ok_or_else(|| wrong("tools of the type function are taken, and no others".to_owned()))?;
        let tool = tool(function).map_err(wrong)?;
        if !names.insert(function.name.clone()) {
            return Err(wrong("another tool has this name".to_owned()));
        }
        made.push(Arc::new(tool));
    }
    Ok(made)
}

fn tool(function: &FunctionDefinition) -> Result<CallerTool, String> {
    let FunctionDefinition { name, description, parameters } = function;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !is_name {
        return Err(
            "its name has to be of letters, digits, _ and -, 64 at most, and begin with a letter or _"
                .to_owned(),
        );
    }
    let description = description.as_deref().unwrap_or_default();
    if description.chars().count() > MAX_DESCRIPTION {
        return Err(format!("its description has more than {MAX_DESCRIPTION} characters"));
    }
    let parameters = match parameters {
        None | Some(Value::Null) => json!({"type": "object", "properties": {}}),
        Some(schema) if schema.get("type").and_then(Value::as_str) == Some("object") => schema.clone(),
        Some(_) => return Err("its parameters are no JSON Schema of an object".to_owned()),
    };
    Form::new(name, parameters.clone())
        .map_err(|words| format!("its parameters are no JSON Schema: {words}"))?;
    Ok(CallerTool(Arc::new(ToolSpec::new(name, description, parameters))))
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
