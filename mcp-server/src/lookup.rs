//! Methods that a client means: the search as a tool, the method of a call, and the way on for those that are not served.
//! Used by `server`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, CatalogMatches};
use crate::everyday::{MethodCall, arguments};
use crate::table::Method;
use crate::updates;

/// Methods that receive updates; `--with-updates` replaces them.
const RECEIVING: [&str; 3] = ["getUpdates", "setWebhook", "deleteWebhook"];

/// Looks up methods for clients of one server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) catalog: &'a Catalog,
    /// `true` with `--with-updates`.
    pub(crate) reads_updates: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
}

impl Lookup<'_> {
    /// Returns the result of `find_telegram_methods`.
    pub(crate) fn search(self, args: Map<String, Value>) -> Result<Value, String> {
        let SearchArguments { query } = arguments(args)?;
        let found = self.catalog.find(&query).map_err(|why| why.to_string())?;
        let CatalogMatches { methods, unserved, types } = found;
        let methods: Vec<Value> = methods.iter().map(|method| self.found(method)).collect();
        let mut result = Map::from_iter([("methods".to_owned(), Value::from(methods))]);
        if !types.is_empty() {
            result.insert("types".to_owned(), Value::from(types));
        }
        if !unserved.is_empty() {
            let notes: Vec<String> = unserved.iter().map(|method| self.note(method)).collect();
            result.insert("note".to_owned(), Value::from(notes.join("; ")));
        }
        Ok(Value::from(result))
    }

    fn found(self, method: &Method) -> Value {
        json!({
            "name": method.name,
            "description": self.catalog.description(method),
            "class": method.class,
            "inputSchema": self.catalog.short_schema(method),
        })
    }

    /// Reads the arguments of `call_telegram_method`.
    pub(crate) fn method_call(
        self,
        args: Map<String, Value>,
    ) -> Result<(&'static Method, Map<String, Value>), String> {
        let MethodCall { method: name, arguments } = arguments(args)?;
        match (self.catalog.method(&name), self.catalog.unserved(&name)) {
            (Some(method), _) => Ok((method, arguments)),
            (None, Some(method)) => Err(self.refusal(method)),
            (None, None) => Err(format!("unknown method {name:?}: find_telegram_methods finds one")),
        }
    }

    /// Returns the message for a name that is no tool.
    pub(crate) fn unknown_tool(self, name: &str) -> String {
        if name == updates::READ {
            return format!("{name} is not served here: `figaro-mcp --with-updates` serves it");
        }
        match self.catalog.unserved(name) {
            Some(method) => self.refusal(method),
            None => format!("unknown tool {name:?}: tools/list names those there are"),
        }
    }

    /// Returns why a method is not served.
    fn refusal(self, method: &Method) -> String {
        let name = &method.name;
        let reason = if !self.catalog.misses_lifecycle(method) {
            format!("--only leaves out its class, {}", method.class.name())
        } else if !RECEIVING.contains(&name.as_str()) {
            "`figaro-mcp --with-lifecycle` serves it".to_owned()
        } else if self.reads_updates {
            format!(
                "{} returns incoming messages, `figaro-mcp --with-lifecycle` serves {name}",
                updates::READ
            )
        } else {
            "`figaro-mcp --with-updates` reads incoming messages, `--with-lifecycle` serves getUpdates, setWebhook, \
             deleteWebhook, logOut and close"
                .to_owned()
        };
        format!("{name} is not served here: {reason}")
    }

    /// Returns why a method is missing in the result of a search.
    fn note(self, method: &Method) -> String {
        if self.catalog.misses_lifecycle(method) {
            self.refusal(method)
        } else {
            format!("{} fits, but --only leaves it out", method.name)
        }
    }

    /// Returns how clients get incoming messages, for the instructions.
    pub(crate) fn incoming(self) -> String {
        if self.reads_updates {
            format!("{} returns the newest messages sent to the bot.", updates::READ)
        } else if self.catalog.method("getUpdates").is_some() {
            "getUpdates returns messages sent to the bot.".to_owned()
        } else {
            "Incoming messages are not served: `figaro-mcp --with-updates` reads them.".to_owned()
        }
    }
}
