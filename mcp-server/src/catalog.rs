//! The tools that are served: the methods of the table that have a description, as MCP shows them. Used by the server.
//! A tool is made when it is asked for: all schemas together would be the largest thing in memory.

use std::collections::HashMap;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, json};

use crate::schema;
use crate::table::{Class, Method, Table};

/// Tools on one page of `tools/list`.
const PAGE_SIZE: usize = 50;

/// The methods that are served, in Telegram's order.
#[derive(Debug)]
pub(crate) struct Catalog {
    methods: Vec<&'static Method>,
    lines: Lines,
}

/// Our own one-line descriptions, read from `bot-api/descriptions.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    /// For a parameter wherever it occurs.
    parameters: HashMap<String, String>,
    methods: HashMap<String, MethodLines>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodLines {
    description: String,
    /// For a parameter of this method, instead of the common line.
    parameters: HashMap<String, String>,
}

/// A cursor that this server did not hand out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown cursor: start again without one")]
pub(crate) struct BadCursor;

impl Catalog {
    /// The methods that have a description; those that would take the update stream away only when asked for.
    pub(crate) fn embedded(with_lifecycle: bool) -> Self {
        Self::new(Lines::embedded(), with_lifecycle)
    }

    fn new(lines: Lines, with_lifecycle: bool) -> Self {
        let served = |method: &&Method| {
            lines.methods.contains_key(&method.name) && (with_lifecycle || method.class != Class::Lifecycle)
        };
        Self { methods: Table::get().methods().iter().filter(served).collect(), lines }
    }

    /// A served method by its exact name.
    pub(crate) fn method(&self, name: &str) -> Option<&'static Method> {
        self.methods.iter().copied().find(|method| method.name == name)
    }

    /// How MCP shows a served method.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        self.method(name).map(|method| self.describe(method))
    }

    /// One page and the cursor of the next. A cursor is the name of the last tool shown, so it outlives a restart.
    pub(crate) fn page(&self, cursor: Option<&str>) -> Result<(Vec<Tool>, Option<String>), BadCursor> {
        let start = match cursor {
            None => 0,
            Some(name) => self.methods.iter().position(|m| m.name == name).ok_or(BadCursor)? + 1,
        };
        let rest = self.methods.get(start..).unwrap_or_default();
        let shown = rest.get(..PAGE_SIZE).unwrap_or(rest);
        let next = if shown.len() < rest.len() { shown.last().map(|last| last.name.clone()) } else { None };
        Ok((shown.iter().map(|method| self.describe(method)).collect(), next))
    }

    fn describe(&self, method: &'static Method) -> Tool {
        let own = self.lines.methods.get(&method.name);
        let line = |name: &str| {
            own.and_then(|own| own.parameters.get(name))
                .or_else(|| self.lines.parameters.get(name))
                .map(String::as_str)
        };
        let description = own.map(|own| own.description.clone()).unwrap_or_default();
        let title = title(&method.name);
        let meta = Map::from_iter([("class".to_owned(), json!(method.class))]);
        Tool::new(method.name.as_str(), description, schema::of_method(method, line))
            .with_title(title.clone())
            .with_annotations(annotations(method, title))
            .with_meta(MetaObject(meta))
    }
}

impl Lines {
    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    fn embedded() -> Self {
        serde_json::from_str(include_str!("../bot-api/descriptions.json")).expect("descriptions.json fits")
    }
}

fn annotations(method: &Method, title: String) -> ToolAnnotations {
    let reads = method.class == Class::Read;
    let starts = |words: &[&str]| words.iter().any(|word| method.name.starts_with(word));
    let dangerous = match method.class {
        Class::Read | Class::Message | Class::Answers | Class::Profile | Class::Stickers => false,
        Class::Delete
        | Class::Moderation
        | Class::Business
        | Class::Other
        | Class::Money
        | Class::ManagedBots
        | Class::Lifecycle => true,
    };
    ToolAnnotations::with_title(title)
        .read_only(reads)
        .destructive(!reads && (dangerous || method.irreversible || starts(&["delete", "remove"])))
        .idempotent(reads || starts(&["edit", "set", "delete"]))
        .open_world(true)
}

/// `sendMessage` as `Send message`.
fn title(name: &str) -> String {
    let mut title = String::with_capacity(name.len() + 4);
    for (at, letter) in name.chars().enumerate() {
        match (at, letter) {
            (0, letter) => title.push(letter.to_ascii_uppercase()),
            (_, 'A'..='Z') => title.extend([' ', letter.to_ascii_lowercase()]),
            (_, letter) => title.push(letter),
        }
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Every method described, as it will be one day.
    fn whole(with_lifecycle: bool) -> Catalog {
        let line = || MethodLines { description: "Does it.".to_owned(), parameters: HashMap::new() };
        let methods = Table::get().methods().iter().map(|m| (m.name.clone(), line())).collect();
        Catalog::new(Lines { parameters: HashMap::new(), methods }, with_lifecycle)
    }

    #[test]
    fn pages_hold_every_tool_once_and_in_order() {
        for (with_lifecycle, count) in [(true, 185), (false, 180)] {
            let catalog = whole(with_lifecycle);
            let (mut names, mut sizes, mut cursor) = (Vec::new(), Vec::new(), None);
            loop {
                let (tools, next) = catalog.page(cursor.as_deref()).unwrap();
                sizes.push(tools.len());
                names.extend(tools.into_iter().map(|tool| tool.name.into_owned()));
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(sizes, [50, 50, 50, count - 150]);
            assert_eq!(names, catalog.methods.iter().map(|m| m.name.clone()).collect::<Vec<_>>());
            assert_eq!(names.iter().any(|name| name == "getUpdates"), with_lifecycle);
        }
        assert_eq!(whole(false).page(Some("getUpdates")), Err(BadCursor));
        assert_eq!(whole(true).page(Some("")), Err(BadCursor));
    }

    #[test]
    fn annotations_follow_the_class() {
        let catalog = whole(true);
        let hints = |name: &str| {
            let tool = catalog.tool(name).unwrap();
            let hints = tool.annotations.unwrap();
            let class = tool.meta.unwrap().0.get("class").cloned();
            (
                hints.read_only_hint,
                hints.destructive_hint,
                hints.idempotent_hint,
                hints.open_world_hint,
                class,
            )
        };
        let cases = [
            ("getChat", true, false, true, "read"),
            ("sendMessage", false, false, false, "message"),
            ("editMessageText", false, false, true, "message"),
            ("deleteMessage", false, true, true, "delete"),
            ("banChatMember", false, true, false, "moderation"),
            ("sendGift", false, true, false, "money"),
            ("deleteMyCommands", false, true, true, "profile"),
            ("getManagedBotToken", false, true, false, "managed_bots"),
        ];
        for (name, reads, destroys, repeats, class) in cases {
            let wanted = (Some(reads), Some(destroys), Some(repeats), Some(true), Some(Value::from(class)));
            assert_eq!(hints(name), wanted, "{name}");
        }
    }

    #[test]
    fn descriptions_name_what_exists_on_one_line() {
        let lines = Lines::embedded();
        let table = Table::get();
        let short = |text: &str| !text.is_empty() && text.len() <= 160 && !text.contains('\n');
        for (name, line) in &lines.parameters {
            assert!(short(line), "{name}");
            assert!(table.methods().iter().any(|m| m.params.iter().any(|p| p.name == *name)), "{name}");
        }
        for (name, own) in &lines.methods {
            let method = table.method(name).unwrap();
            assert!(method.name == *name && short(&own.description), "{name}");
            for (parameter, line) in &own.parameters {
                assert!(
                    short(line) && method.params.iter().any(|p| p.name == *parameter),
                    "{name} {parameter}"
                );
            }
        }
    }

    #[test]
    fn a_title_is_the_name_in_words() {
        assert_eq!(title("setMessageReaction"), "Set message reaction");
        assert_eq!(Catalog::embedded(false).tool("getChat").unwrap().title.as_deref(), Some("Get chat"));
    }
}
