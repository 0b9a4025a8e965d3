//! The tool that finds what no prompt carries: tools of Figaro's own that are seldom wanted, and methods of the Bot API.
//! What it finds, the model may call for the rest of the turn.

use std::sync::Arc;

use async_trait::async_trait;
use figaro_mcp::catalog::{Catalog, Found, Other};
use figaro_mcp::table::Method;
use serde_json::{Value, json};

use super::{FIND, Shelf, Tool, ToolContext, ToolError, ToolOutput};
use crate::domain::tool::{Carried, Effect};
use crate::policy::tools::takes_approval;
use crate::provider::ToolSpec;

/// Tools of Figaro's own that are seldom wanted, with what people call that which they do.
const SELDOM: [Other; 3] = [
    Other { name: "clear_notes", words: "remove delete empty whole list all notes" },
    Other {
        name: "get_config",
        words: "show settings configuration of yours setup language tone instructions",
    },
    Other { name: "reset_config", words: "reset clear forget settings configuration default" },
];

/// Takes those that are seldom wanted out of Figaro's own tools.
#[must_use]
pub fn take_seldom(tools: &mut Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
    let is_seldom = |tool: &mut Arc<dyn Tool>| SELDOM.iter().any(|other| other.name == tool.spec().name);
    tools.extract_if(.., is_seldom).collect()
}

/// All that can be found.
#[derive(Debug)]
pub struct Findable {
    /// Those of Figaro's own that are seldom wanted.
    pub seldom: Vec<Arc<dyn Tool>>,
    /// The methods of the Bot API.
    pub telegram: Arc<dyn Shelf>,
}

impl Shelf for Findable {
    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let own = self.seldom.iter().find(|tool| tool.spec().name == name);
        own.cloned().or_else(|| self.telegram.tool(name))
    }
}

#[derive(Debug)]
struct FindTools {
    spec: ToolSpec,
    catalog: Arc<Catalog>,
    seldom: Vec<ToolSpec>,
}

/// `find_tools(query)` over the methods and these.
#[must_use]
pub fn tool(catalog: Arc<Catalog>, seldom: &[Arc<dyn Tool>]) -> Arc<dyn Tool> {
    let query = "What to do, in a few English words; or exact names of tools, methods or types";
    let spec = ToolSpec {
        name: FIND.to_owned(),
        description: "Finds tools for what you have none for: all of the Telegram Bot API, such as \"pin a message\" or \
                      \"who is admin here\"; your settings; clearing notes."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": query}},
            "required": ["query"],
        }),
    };
    let seldom = seldom.iter().map(|tool| tool.spec().clone()).collect();
    Arc::new(FindTools { spec, catalog, seldom })
}

#[async_trait]
impl Tool for FindTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Read
    }

    async fn call(&self, _context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = self.catalog.find_among(query, &SELDOM);
        let Found { others, methods, types } = found.map_err(|why| ToolError::ForModel(why.to_string()))?;
        let own: Vec<&ToolSpec> =
            others.iter().filter_map(|name| self.seldom.iter().find(|spec| spec.name == *name)).collect();
        let shown = own.iter().map(|spec| json!({"name": spec.name, "description": spec.description}));
        let shown: Vec<Value> = shown.chain(methods.iter().map(|method| self.shown(method))).collect();
        let mut value = json!({"success": true, "callable_now": shown});
        if let (Some(map), false) = (value.as_object_mut(), types.is_empty()) {
            map.insert("types".to_owned(), Value::Object(types));
        }
        let own = own.iter().map(|spec| spec.name.clone());
        let found = own.chain(methods.iter().map(|method| method.name.clone())).collect();
        Ok(ToolOutput { value, carried: Carried { found, ..Carried::default() } })
    }
}

impl FindTools {
    /// Its parameters stand in the tool that the next request carries.
    fn shown(&self, method: &Method) -> Value {
        let mut shown = json!({"name": method.name, "description": self.catalog.description(method)});
        if takes_approval(method) {
            shown["needs_approval"] = true.into();
        }
        shown
    }
}
