//! The tool that finds Bot API methods; what it finds, the model may call for the rest of the turn.

use std::sync::Arc;

use async_trait::async_trait;
use figaro_mcp::catalog::{Catalog, FIND, Found, MAX_QUERY};
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput};
use crate::domain::tool::{Carried, Effect};
use crate::provider::ToolSpec;

#[derive(Debug)]
struct FindMethods {
    spec: ToolSpec,
    catalog: Arc<Catalog>,
}

/// `find_telegram_methods(query)`.
#[must_use]
pub fn tool(catalog: Arc<Catalog>) -> Arc<dyn Tool> {
    let spec = ToolSpec {
        name: FIND.to_owned(),
        description: "Find Telegram methods beyond those at hand for what is to be done in this chat, such as \
                      \"roll a dice\" or \"who is online here\"; those found can be called for the rest of the turn."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"query": {
                "type": "string",
                "description": "What to do, in a few English words; or exact names of methods, or of types cut from a schema"
            }},
            "required": ["query"],
            "additionalProperties": false
        }),
    };
    Arc::new(FindMethods { spec, catalog })
}

#[async_trait]
impl Tool for FindMethods {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Read
    }

    async fn call(&self, _context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default().trim();
        if query.is_empty() || query.chars().count() > MAX_QUERY {
            return Err(ToolError::ForModel(format!("query must be a text of 1 to {MAX_QUERY} characters")));
        }
        let Found { methods, types } = self.catalog.find(query);
        if methods.is_empty() && types.is_empty() {
            let hint = "nothing fits: say it in other English words, like \"pin a message\"";
            return Err(ToolError::ForModel(hint.to_owned()));
        }
        let found: Vec<String> = methods.iter().map(|method| method.name.clone()).collect();
        let shown: Vec<Value> = methods
            .iter()
            .map(|method| json!({"name": method.name, "description": self.catalog.description(method)}))
            .collect();
        let mut value = json!({"success": true, "callable_now": shown});
        if let (Some(map), false) = (value.as_object_mut(), types.is_empty()) {
            map.insert("types".to_owned(), Value::Object(types));
        }
        Ok(ToolOutput { value, carried: Carried { found, ..Carried::default() } })
    }
}
