//! Tools listed by default: the search, a caller for any method, and the everyday methods of `bot-api/everyday.json` with
//! short schemas. With `--all`, and under a parent, `catalog` lists every method instead. Used by `server`.

use rmcp::model::{Tool, ToolAnnotations};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::body::PART_COST;
use crate::catalog::{Catalog, FIND};
use crate::scan::BodyScan;
use crate::schema::entries;

/// Name of the tool that calls any served method.
pub(crate) const CALL: &str = "call_telegram_method";

/// Maximum number of keys and values in arguments that come as a text. The limits of bodies do not count these, and a
/// body with so few needs no room.
const MAX_TEXT_PARTS: usize = (1 << 20) / PART_COST;

const NO_OBJECT: &str = "`arguments` must be an object";

/// Arguments of the tool that calls any served method.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodCall {
    /// Exact name of the method.
    pub(crate) method: String,
    /// Arguments of the method.
    #[serde(default, deserialize_with = "object_or_text")]
    pub(crate) arguments: Map<String, Value>,
}

/// Reads an object, or a text with one, as some models send it.
fn object_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        Value::String(text) => {
            let mut scan = BodyScan::default();
            scan.feed(text.as_bytes());
            if scan.parts > MAX_TEXT_PARTS {
                let limit = format!("`arguments` as a text has at most {MAX_TEXT_PARTS} keys and values");
                return Err(D::Error::custom(limit));
            }
            serde_json::from_str(&text).map_err(|error| D::Error::custom(format!("{NO_OBJECT}: {error}")))
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(D::Error::custom(NO_OBJECT)),
    }
}

/// Reads the arguments of a tool that is not a method.
pub(crate) fn arguments<T: DeserializeOwned>(args: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(args)).map_err(|error| format!("the arguments do not fit: {error}"))
}

/// Returns the tools in the order of the data. Methods that `--only` excludes are left out.
pub(crate) fn tools(catalog: &Catalog) -> Vec<Tool> {
    let methods = names().into_iter().filter_map(|name| catalog.short_tool(name));
    catalog.tool(FIND).into_iter().chain([call_tool()]).chain(methods).collect()
}

#[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
fn names() -> Vec<&'static str> {
    serde_json::from_str(include_str!("../bot-api/everyday.json")).expect("everyday.json fits")
}

fn call_tool() -> Tool {
    let title = "Call a Telegram method";
    let description = "Call any method of the Telegram Bot API by its exact name, with arguments as \
                       find_telegram_methods describes them.";
    let schema = json!({
        "type": "object",
        "properties": {
            "method": {"type": "string", "description": "Exact name, such as sendDice"},
            "arguments": {"type": "object", "description": "Arguments of the method"}
        },
        "required": ["method"],
        "additionalProperties": false
    });
    let hints = ToolAnnotations::with_title(title).read_only(false).destructive(true).idempotent(false);
    Tool::new(CALL, description, entries(schema)).with_title(title).with_annotations(hints.open_world(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::MethodSelection;
    use crate::table::Class;

    #[test]
    fn everyday_methods_are_served() {
        let tools = tools(&Catalog::new(&MethodSelection::default()));
        let listed: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(listed, [[FIND, CALL].as_slice(), names().as_slice()].concat());
    }

    #[test]
    fn excluded_classes_are_not_listed() {
        let only_read = MethodSelection { only: vec![Class::Read], with_lifecycle: false };
        let tools = tools(&Catalog::new(&only_read));
        let listed: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(listed, [FIND, CALL, "getMe", "getChat", "getChatMember", "getChatAdministrators"]);
    }
}
