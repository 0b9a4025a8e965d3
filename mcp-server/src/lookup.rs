//! Methods that a client means: the search as a tool, the method of a call, and the way on for those that are not served.
//! Used by `server`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, CatalogMatches};
use crate::check::ArgumentFault;
use crate::everyday::{CALL, MethodCall, arguments};
use crate::table::Method;
use crate::updates;

/// Methods that receive updates; `--with-updates` replaces them.
const RECEIVING: [&str; 3] = ["getUpdates", "setWebhook", "deleteWebhook"];

/// Maximum length of a misspelt name in bytes, so that a comparison costs little.
const MAX_NAME: usize = 64;
/// Letters of a name for each that may be wrong.
const LETTERS_PER_TYPO: usize = 4;
/// Maximum number of unknown parameters in an error.
const MAX_UNKNOWN: usize = 5;

/// Looks up methods for clients of one server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) catalog: &'a Catalog,
    /// `true` if the server reads incoming messages, which `--with-updates` asks for.
    pub(crate) reads_updates: bool,
    /// `true` to list every method, without `call_telegram_method`.
    pub(crate) lists_all: bool,
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
            (None, None) => {
                let remedy = match self.nearest(&name) {
                    Some(nearest) => format!("did you mean {nearest}?"),
                    None => "find_telegram_methods finds one".to_owned(),
                };
                Err(format!("unknown method {name:?}: {remedy}"))
            }
        }
    }

    /// Returns the served method with nearly this name, also in other case or with `_`.
    fn nearest(self, name: &str) -> Option<&'static str> {
        if name.len() > MAX_NAME {
            return None;
        }
        let letters = |name: &str| -> String {
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let sought = letters(name);
        let distance = |method: &str| strsim::damerau_levenshtein(&sought, &letters(method));
        let (distance, nearest) = self.catalog.names().map(|method| (distance(method), method)).min()?;
        (distance <= sought.len() / LETTERS_PER_TYPO).then_some(nearest)
    }

    /// Returns the message for a name that is no tool.
    pub(crate) fn unknown_tool(self, name: &str) -> String {
        if name == updates::READ {
            return format!("{name} is not served here: `figaro-mcp --with-updates` serves it");
        }
        match (self.catalog.unserved(name), self.nearest(name)) {
            (Some(method), _) => self.refusal(method),
            (None, Some(nearest)) if self.lists_all => {
                format!("unknown tool {name:?}: did you mean {nearest}?")
            }
            (None, Some(nearest)) => {
                format!("unknown tool {name:?}: did you mean {nearest}? {CALL} calls every method")
            }
            (None, None) => format!("unknown tool {name:?}: tools/list names those there are"),
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

/// Describes a fault in arguments. If required parameters are missing, names all of them, and those that are unknown: one
/// may be meant by the other.
pub(crate) fn described(method: &Method, args: &Map<String, Value>, fault: &ArgumentFault) -> String {
    let required = method.params.iter().filter(|param| param.required && !args.contains_key(&param.name));
    let missing: Vec<&str> = required.map(|param| param.name.as_str()).collect();
    if !matches!(fault, ArgumentFault::Missing { path } if missing.contains(&path.as_str())) {
        return fault.in_words();
    }
    let is_known = |name: &&String| method.params.iter().any(|param| param.name == **name);
    let unknown: Vec<&str> =
        args.keys().filter(|name| !is_known(name)).take(MAX_UNKNOWN).map(String::as_str).collect();
    let is_required =
        format!("{} {}", listed(&missing), if missing.len() > 1 { "are required" } else { "is required" });
    match unknown.as_slice() {
        [] => is_required,
        [unknown] => format!("{is_required}; {unknown} is not a parameter of {}", method.name),
        unknown => format!("{is_required}; {} are not parameters of {}", listed(unknown), method.name),
    }
}

/// Joins names with commas and "and".
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
