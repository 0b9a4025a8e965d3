//! Tools offered to a model, and the names that it calls them by. Chat templates add to a name. Used by the reader of
//! every dialect.

use std::sync::Arc;

use serde_json::Value;

use crate::request::ToolSpec;

/// Prefixes that chat templates add to a name.
const PREFIXES: [&str; 5] = ["functions.", "function.", "tools.", "default_api:", "default_api."];
/// Name of a call without one. The model is told that there is no such tool.
pub(crate) const UNNAMED: &str = "unnamed";

#[derive(Debug, Clone, Default)]
pub(crate) struct Offered(Vec<Arc<ToolSpec>>);

impl Offered {
    pub(crate) fn of(tools: &[Arc<ToolSpec>]) -> Self {
        Self(tools.to_vec())
    }

    fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.0.iter().find(|tool| tool.name == name).map(AsRef::as_ref)
    }

    /// Returns the tool that a name means: the one of exactly that name, else the one whose name is contained in it.
    pub(crate) fn meant(&self, called: &str) -> Option<&ToolSpec> {
        let is_count = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let uncounted = |name: &str| match name.rsplit_once(':') {
            Some((name, digits)) if is_count(digits) => name.to_owned(),
            _ => name.to_owned(),
        };
        let name = called.trim();
        let bare = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        let written = [called, name, &uncounted(name), bare, &uncounted(bare)];
        written.iter().find_map(|name| self.tool(name))
    }

    /// Returns the name of the tool that is meant, or the given name if it means none.
    pub(crate) fn name(&self, called: String) -> String {
        match self.meant(&called) {
            Some(tool) => tool.name.clone(),
            None if called.trim().is_empty() => UNNAMED.to_owned(),
            None => called,
        }
    }

    /// Returns `true` if this piece continues a name: the name means no tool yet, and together they may become one.
    pub(crate) fn goes_on(&self, name: &str, piece: &str) -> bool {
        let joined = || format!("{name}{piece}");
        self.meant(name).is_none() && self.0.iter().any(|tool| tool.name.starts_with(&joined()))
    }
}

/// Returns `true` if a tool takes a text for this argument.
pub(crate) fn takes_text(tool: &ToolSpec, argument: &str) -> bool {
    let kind = &tool.parameters["properties"][argument]["type"];
    let text = Value::from("string");
    *kind == text || kind.as_array().is_some_and(|kinds| kinds.contains(&text))
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// Tools that take a text `key` and a number `count`.
    pub(crate) fn offering(names: &[&str]) -> Offered {
        let parameters = json!({"type": "object", "properties": {"key": {"type": "string"}, "count": {"type": "integer"}}});
        let tool = |name: &&str| Arc::new(ToolSpec::new(*name, "", parameters.clone()));
        Offered(names.iter().map(tool).collect())
    }

    #[test]
    fn a_name_means_the_tool_that_was_offered() {
        let cases = [
            ("add_note", "add_note"),
            (" add_note\n", "add_note"),
            ("functions.add_note", "add_note"),
            ("functions.add_note:0", "add_note"),
            ("add_note:12", "add_note"),
            ("default_api:add_note", "add_note"),
            ("default_api.add_note", "add_note"),
            ("tools.run", "tools.run"),
            ("add_notes", "add_notes"),
            ("functions.other:0", "functions.other:0"),
            ("add_note:x", "add_note:x"),
            ("", UNNAMED),
            (" ", UNNAMED),
        ];
        let offered = offering(&["add_note", "tools.run", "run"]);
        for (called, expected) in cases {
            assert_eq!(offered.name(called.into()), expected, "{called:?}");
        }
    }

    #[test]
    fn a_name_in_pieces_goes_on_until_it_is_one() {
        let offered = offering(&["add_note", "add", "note"]);
        let cases = [
            ("add_", "note", true),
            ("ad", "d", true),
            ("add", "_note", false),
            ("note", "note", false),
            ("x", "y", false),
        ];
        for (name, piece, expected) in cases {
            assert_eq!(offered.goes_on(name, piece), expected, "{name} {piece}");
        }
    }
}
