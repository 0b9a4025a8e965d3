//! Served tools: all described methods of the table as MCP shows them, and the search for them. Used by the server and by
//! Figaro, which shows its models the same tools. Tools are built on request: all schemas together would be the largest
//! thing in memory.

use std::sync::OnceLock;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::find::{self, SearchIndex, SearchableTool, Synonyms};
use crate::lines::TableLines;
use crate::schema::{self, entries};
use crate::table::{ApiTable, Class, Method};

/// Name of the tool that searches for methods.
pub(crate) const FIND: &str = "find_telegram_methods";
/// Maximum length of a query, in characters.
const MAX_QUERY: usize = 300;

/// Tools per page of `tools/list`. Building thirty tools that send messages would take five megabytes.
const PAGE_SIZE: usize = 10;
/// Approximate maximum of a found method's schema, in bytes of JSON.
const FOUND_BYTES: usize = 6_000;
/// Approximate maximum of a named type's schema, in bytes of JSON.
const TYPE_BYTES: usize = 6_000;
/// Maximum number of methods and types in a search result.
const MAX_METHODS: usize = 4;
const MAX_TYPES: usize = 2;

/// Served methods, in Telegram's order.
#[derive(Debug)]
pub struct Catalog {
    methods: Vec<&'static Method>,
    /// Methods that the selection leaves out.
    unserved: Vec<&'static Method>,
    with_lifecycle: bool,
    lines: TableLines,
    /// Made by the first search.
    index: OnceLock<SearchIndex<&'static Method>>,
}

/// Selection of the methods to serve.
#[derive(Debug, Clone, Default)]
pub struct MethodSelection {
    /// Classes to serve; empty means all.
    pub only: Vec<Class>,
    /// `true` to include methods that would take the update stream away from a running bot.
    pub with_lifecycle: bool,
}

/// Methods and types found by a search.
#[derive(Debug, Default)]
pub struct CatalogMatches {
    /// Methods, best first; a few at most.
    pub methods: Vec<&'static Method>,
    /// Methods that would be in front, but are not served.
    pub(crate) unserved: Vec<&'static Method>,
    /// Schemas of the types named in the query, by name.
    pub types: Map<String, Value>,
}

impl CatalogMatches {
    fn is_empty(&self) -> bool {
        self.methods.is_empty() && self.unserved.is_empty() && self.types.is_empty()
    }
}

/// A method as a search entry, for searches over more than the Bot API.
#[derive(Debug, Clone, Copy)]
pub struct MethodListing {
    /// The method itself.
    pub method: &'static Method,
    /// Description in one line.
    pub description: &'static str,
    /// Search words for its purpose; may be empty.
    pub words: &'static str,
}

/// Reason why a search found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// The query is empty or too long.
    #[error("query must be a text of 1 to {MAX_QUERY} characters")]
    BadQuery,
    /// No method or type matches.
    #[error("nothing fits: say it in other words, like \"pin a message\"")]
    NothingFits,
}

/// Error of a cursor that this server did not issue.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown cursor: start again without one")]
pub(crate) struct BadCursor;

impl Catalog {
    /// Makes a catalog of the selected methods.
    #[must_use]
    pub fn new(choice: &MethodSelection) -> Self {
        let lines = TableLines::embedded();
        let is_served = |method: &&Method| {
            (choice.with_lifecycle || method.class != Class::Lifecycle)
                && (choice.only.is_empty() || choice.only.contains(&method.class))
        };
        let described =
            ApiTable::get().methods().iter().filter(|method| lines.method(&method.name).is_some());
        let (methods, unserved) = described.partition(is_served);
        Self { methods, unserved, with_lifecycle: choice.with_lifecycle, lines, index: OnceLock::new() }
    }

    /// Returns a served method by exact name; `None` if there is none.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Method> {
        self.methods.iter().copied().find(|method| method.name == name)
    }

    /// Returns the names of the served methods.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.methods.iter().map(|method| method.name.as_str())
    }

    /// Returns a method that the selection leaves out, ignoring case as Telegram does.
    pub(crate) fn unserved(&self, name: &str) -> Option<&'static Method> {
        self.unserved.iter().copied().find(|method| method.name.eq_ignore_ascii_case(name))
    }

    /// Returns `true` if a method that is not served needs `--with-lifecycle`.
    pub(crate) fn misses_lifecycle(&self, method: &Method) -> bool {
        method.class == Class::Lifecycle && !self.with_lifecycle
    }

    /// Returns a tool in MCP form; `None` for an unknown name.
    #[must_use]
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        if name == FIND {
            Some(Self::search_tool())
        } else {
            self.method(name).map(|method| self.describe(method, self.schema(method)))
        }
    }

    /// Returns a method as a tool with its short schema; `None` for an unknown name.
    #[must_use]
    pub(crate) fn short_tool(&self, name: &str) -> Option<Tool> {
        self.method(name).map(|method| self.describe(method, self.short_schema(method)))
    }

    /// Returns one page and the cursor of the next. A cursor is the name of the last tool shown, so it survives a restart.
    ///
    /// # Errors
    /// [`BadCursor`].
    pub(crate) fn page(&self, cursor: Option<&str>) -> Result<(Vec<Tool>, Option<String>), BadCursor> {
        let start = match cursor {
            None => 0,
            Some(name) => self.methods.iter().position(|m| m.name == name).ok_or(BadCursor)? + 1,
        };
        let rest = self.methods.get(start..).unwrap_or_default();
        let shown = rest.get(..PAGE_SIZE).unwrap_or(rest);
        let next = if shown.len() < rest.len() { shown.last().map(|last| last.name.clone()) } else { None };
        let search = if start == 0 { Some(Self::search_tool()) } else { None };
        let methods = shown.iter().map(|method| self.describe(method, self.schema(method)));
        Ok((search.into_iter().chain(methods).collect(), next))
    }

    /// Finds the methods meant by a query in words. A query with exact names gives only the methods and types of these
    /// names.
    ///
    /// # Errors
    /// [`NotFound`], worded for a model.
    pub fn find(&self, query: &str) -> Result<CatalogMatches, NotFound> {
        let query = query.trim();
        if query.is_empty() || query.chars().count() > MAX_QUERY {
            return Err(NotFound::BadQuery);
        }
        let mut found = self.named(query);
        if found.is_empty() {
            let all = || self.methods.iter().chain(&self.unserved).map(|m| (*m, self.searchable(m)));
            let ranked = self.index.get_or_init(|| SearchIndex::new(all())).rank(query);
            let is_unserved = |method: &&&'static Method| self.unserved(&method.name).is_some();
            found.unserved.extend(ranked.first().filter(is_unserved));
            found.methods.extend(ranked.iter().filter(|method| !is_unserved(method)).take(MAX_METHODS));
        }
        if found.is_empty() { Err(NotFound::NothingFits) } else { Ok(found) }
    }

    /// Finds methods and types by exact names in a query; often none.
    #[must_use]
    pub fn named(&self, query: &str) -> CatalogMatches {
        let mut found = CatalogMatches::default();
        for name in find::names(query) {
            if let Some(method) = self.methods.iter().find(|method| method.name.eq_ignore_ascii_case(name)) {
                add(&mut found.methods, method);
            } else if let Some(method) = self.unserved(name) {
                add(&mut found.unserved, method);
            } else if let (Some(schema), true) =
                (schema::of_type(name, &self.lines, TYPE_BYTES), found.types.len() < MAX_TYPES)
            {
                found.types.insert(name.to_owned(), Value::Object(schema));
            }
        }
        found
    }

    /// Returns all served methods as search entries, in Telegram's order.
    #[must_use]
    pub fn listed(&self) -> Vec<MethodListing> {
        let words = Synonyms::embedded();
        let listed = |method: &&'static Method| MethodListing {
            method,
            description: self.description(method),
            words: words.said_of(method),
        };
        self.methods.iter().map(listed).collect()
    }

    /// Returns the description of a method in one line; empty if it has none.
    #[must_use]
    pub fn description(&self, method: &Method) -> &'static str {
        self.lines.method(&method.name).unwrap_or_default()
    }

    /// Returns the full schema of a method's arguments.
    #[must_use]
    pub fn schema(&self, method: &Method) -> Map<String, Value> {
        schema::of_method(method, &self.lines)
    }

    /// Returns the schema of a method's arguments for a search result. Definitions that do not fit are cut and can be
    /// requested by name.
    #[must_use]
    pub fn short_schema(&self, method: &Method) -> Map<String, Value> {
        schema::within(method, &self.lines, FOUND_BYTES)
    }

    fn searchable(&self, method: &'static Method) -> SearchableTool<'static> {
        SearchableTool {
            name: &method.name,
            words: Synonyms::embedded().said_of(method),
            description: self.description(method),
            parameters: method.params.iter().map(|param| param.name.as_str()).collect(),
        }
    }

    fn describe(&self, method: &'static Method, schema: Map<String, Value>) -> Tool {
        let title = title(&method.name);
        let meta = json!({"class": method.class, "returns": method.returns.to_string()});
        Tool::new(method.name.as_str(), self.description(method), schema)
            .with_title(title.clone())
            .with_annotations(annotations(method, title))
            .with_meta(MetaObject(entries(meta)))
    }

    fn search_tool() -> Tool {
        let title = "Find Telegram methods";
        let schema = json!({
            "type": "object",
            "properties": {"query": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_QUERY,
                "description": "What to do, in a few words; or exact names of methods or types"
            }},
            "required": ["query"],
            "additionalProperties": false
        });
        Tool::new(FIND, find::DESCRIPTION, entries(schema)).with_title(title).with_annotations(
            ToolAnnotations::with_title(title)
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
        )
    }
}

/// Adds a method to those found, once, while there is room.
fn add(found: &mut Vec<&'static Method>, method: &'static Method) {
    let is_new = !found.iter().any(|known| known.name == method.name);
    if is_new && found.len() < MAX_METHODS {
        found.push(method);
    }
}

fn annotations(method: &Method, title: String) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(method.class == Class::Read)
        .destructive(method.is_destructive())
        .idempotent(method.is_idempotent())
        .open_world(true)
}

/// Converts `sendMessage` to `Send message`.
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

    fn whole(with_lifecycle: bool) -> Catalog {
        Catalog::new(&MethodSelection { with_lifecycle, ..MethodSelection::default() })
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
            let rest = (count > 180).then_some(count - 180);
            let wanted = [PAGE_SIZE + 1].into_iter().chain([PAGE_SIZE; 17]).chain(rest);
            assert_eq!(sizes, wanted.collect::<Vec<_>>());
            let wanted = catalog.methods.iter().map(|m| m.name.as_str());
            assert_eq!(names, [FIND].into_iter().chain(wanted).collect::<Vec<_>>());
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
            ("setChatTitle", false, true, true, "moderation"),
            ("setChatPhoto", false, true, false, "moderation"),
            ("setMyProfilePhoto", false, false, false, "profile"),
            ("getManagedBotToken", false, true, false, "managed_bots"),
        ];
        for (name, reads, destroys, repeats, class) in cases {
            let wanted = (Some(reads), Some(destroys), Some(repeats), Some(true), Some(Value::from(class)));
            assert_eq!(hints(name), wanted, "{name}");
        }
    }

    #[test]
    fn only_chosen_classes_are_served_and_found() {
        let catalog = Catalog::new(&MethodSelection { only: vec![Class::Read], with_lifecycle: true });
        assert_eq!(catalog.methods.len(), 30);
        assert!(catalog.methods.iter().all(|method| method.class == Class::Read));
        assert!(catalog.tool("sendMessage").is_none() && catalog.tool(FIND).is_some());
        let found = catalog.find("sendMessage getChat").unwrap();
        assert_eq!(found.methods.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["getChat"]);
    }

    #[test]
    fn what_a_search_cut_is_there_for_its_name() {
        let catalog = whole(false);
        let short = catalog.short_schema(catalog.method("editMessageText").unwrap());
        let cut = |name: &str| {
            let def = short.get("$defs").and_then(|defs| defs.get(name)).unwrap();
            def.get("type").is_none() && def.get("anyOf").is_none()
        };
        assert!(cut("InlineKeyboardButton") && !cut("LinkPreviewOptions"));
        let names = |query: &str| {
            let found = catalog.find(query).unwrap_or_default();
            let methods = found.methods.iter().map(|method| method.name.clone());
            methods.chain(found.types.keys().cloned()).collect::<Vec<_>>().join(" ")
        };
        let cases = [
            ("InlineKeyboardButton, and NoSuchType", "InlineKeyboardButton"),
            ("User", "User"),
            ("sendDice: use sendDice or SENDDICE", "sendDice"),
            ("sendMessage with LinkPreviewOptions", "sendMessage LinkPreviewOptions"),
            ("getMe getChat getFile sendDice sendPoll", "getMe getChat getFile sendDice"),
            ("InputFile User ForceReply", "InputFile User"),
            ("  ", ""),
        ];
        for (query, wanted) in cases {
            assert_eq!(names(query), wanted, "{query}");
        }
        assert_eq!(catalog.find("qqqq zzzz").unwrap_err(), NotFound::NothingFits);
        let found = catalog.find("InlineKeyboardButton").unwrap();
        assert!(found.types["InlineKeyboardButton"].pointer("/properties/callback_data").is_some());
    }

    #[test]
    fn short_schemas_are_short_and_keep_every_parameter() {
        let catalog = whole(true);
        for method in &catalog.methods {
            let (short, whole) = (catalog.short_schema(method), catalog.schema(method));
            assert_eq!(short["properties"], whole["properties"], "{}", method.name);
            let bytes = Value::Object(short).to_string().len();
            assert!(bytes <= FOUND_BYTES, "{} takes {bytes} bytes", method.name);
        }
    }

    #[test]
    fn a_title_is_the_name_in_words() {
        assert_eq!(title("setMessageReaction"), "Set message reaction");
        assert_eq!(whole(false).tool("getChat").unwrap().title.as_deref(), Some("Get chat"));
    }
}
