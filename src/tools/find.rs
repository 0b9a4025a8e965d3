//! The tool that finds Bot API methods; what it finds, the model may call for the rest of the turn.

use std::sync::Arc;

use async_trait::async_trait;
use figaro_mcp::catalog::{Catalog, FIND, Found};
use figaro_mcp::table::Method;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput};
use crate::domain::tool::{Carried, Effect};
use crate::policy::tools::takes_approval;
use crate::provider::ToolSpec;

#[derive(Debug)]
struct FindMethods {
    spec: ToolSpec,
    catalog: Arc<Catalog>,
}

/// `find_telegram_methods(query)`, as the server serves it.
#[must_use]
pub fn tool(catalog: Arc<Catalog>) -> Option<Arc<dyn Tool>> {
    let served = catalog.tool(FIND)?;
    let spec = ToolSpec {
        name: FIND.to_owned(),
        description: served.description.as_deref().unwrap_or_default().to_owned(),
        parameters: Value::Object((*served.input_schema).clone()),
    };
    Some(Arc::new(FindMethods { spec, catalog }))
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
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = self.catalog.find(query).map_err(|why| ToolError::ForModel(why.to_string()))?;
        let Found { methods, types } = found;
        let shown: Vec<Value> = methods.iter().map(|method| self.shown(method)).collect();
        let mut value = json!({"success": true, "callable_now": shown});
        if let (Some(map), false) = (value.as_object_mut(), types.is_empty()) {
            map.insert("types".to_owned(), Value::Object(types));
        }
        let found = methods.iter().map(|method| method.name.clone()).collect();
        Ok(ToolOutput { value, carried: Carried { found, ..Carried::default() } })
    }
}

impl FindMethods {
    /// Its parameters stand in the tool that the next request carries.
    fn shown(&self, method: &Method) -> Value {
        let mut shown = json!({"name": method.name, "description": self.catalog.description(method)});
        if takes_approval(method) {
            shown["needs_approval"] = true.into();
        }
        shown
    }
}
