//! Tools of a caller. The model may call them, and the turn then ends. The caller runs them and returns with the
//! results.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::error::GatewayError;
use figaro_agent::tools::{Tool, ToolContext, ToolError, ToolOutput};
use figaro_domain::tool::{Call, Effect, SideEffects, StatusKey};
use figaro_provider::ToolSpec;

/// Maximum number of tools in a request. No provider takes more.
const MAX_TOOLS: usize = 128;

const NO_OBJECT: &str = "its parameters are no JSON Schema of an object";

#[derive(Debug, Clone, Deserialize)]
struct FunctionSpec {
    name: String,
    #[serde(default)]
    description: Option<String>,
    /// JSON Schema of the arguments.
    #[serde(default)]
    parameters: Option<Value>,
}

/// Converts the tools of a request. Tools that are no functions, such as a provider's own search, are skipped:
/// clients offer them to any model.
///
/// # Errors
/// The fault of the first invalid tool.
pub(crate) fn tools(definitions: &[Value]) -> Result<Vec<Arc<dyn Tool>>, GatewayError> {
    let (mut made, mut names): (Vec<Arc<dyn Tool>>, _) = (Vec::new(), BTreeSet::new());
    for (at, definition) in definitions.iter().enumerate() {
        let wrong = |words: String| GatewayError::invalid(words).about(&format!("tools[{at}]"));
        if definition.get("type").and_then(Value::as_str).unwrap_or("function") != "function" {
            continue;
        }
        // One dialect nests the definition in `function`, the other does not.
        let function = definition.get("function").unwrap_or(definition);
        let function = FunctionSpec::deserialize(function)
            .map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        let tool = tool(&function).map_err(wrong)?;
        if !names.insert(function.name) {
            return Err(wrong("another tool has this name".to_owned()));
        }
        made.push(Arc::new(tool));
    }
    match made.len() > MAX_TOOLS {
        true => Err(GatewayError::invalid(format!("there are more than {MAX_TOOLS} tools")).about("tools")),
        false => Ok(made),
    }
}

fn tool(function: &FunctionSpec) -> Result<CallerTool, String> {
    let FunctionSpec { name, description, parameters } = function;
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
    // Some services refuse an object without properties.
    parameters.entry("properties").or_insert_with(|| json!({}));
    // Some services require a description.
    let description = description.as_deref().filter(|words| !words.trim().is_empty()).unwrap_or(name);
    Ok(CallerTool(Arc::new(ToolSpec::new(name, description, parameters.into()))))
}

#[derive(Debug)]
struct CallerTool(Arc<ToolSpec>);

#[async_trait]
impl Tool for CallerTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    /// Figaro itself does nothing when it is called.
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
