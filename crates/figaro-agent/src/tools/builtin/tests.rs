use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use async_trait::async_trait;
use chrono::TimeDelta;
use figaro_base::tz::Tz;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::*;
use crate::channel::Channel;
use crate::documents::{Documents, FileReader};
use crate::pages::Pages;
use crate::tools::counts::TurnCounts;
use crate::tools::documents::DocumentTools;
use crate::tools::draw::{DrawTools, LastPictures};
use crate::tools::pages::PageTools;
use crate::tools::recall::MemoryTools;
use crate::tools::source::ToolListing;
use crate::tools::tasks::TaskReader;
use crate::tools::telegram::{Approvers, Grants};
use crate::tools::web::{SearchError, WebSearchResult};
use crate::tools::{ToolContext, ToolDefinition, typed};
use figaro_base::clock::Clock;
use figaro_base::ids::BotId;
use figaro_base::shutdown::TaskTracker;
use figaro_config::{AccessMode, AccessSettings, EngineKind, PageSettings, StoreUrl};
use figaro_domain::model::ModelName;
use figaro_domain::tool::{Effect, MAX_FOUND, StatusKey, ToolKind};
use figaro_ledger::{ConfiguredLimits, Ledger, LedgerParts, RoleOf, Slots};
use figaro_memory::{Chats, DocumentSearch, RecordBooks};
use figaro_policy::access::Admins;
use figaro_prompts::texts::Locales;
use figaro_prompts::{AgentFileNames, Prompts};
use figaro_provider::ProviderError;
use figaro_provider::models::Models;
use figaro_provider::paint::{PaintAnswer, Painter, PictureOrder};
use figaro_provider::price::Prices;
use figaro_store::Store;
use figaro_store::TaskLimits;

/// Administers nothing and finds nothing.
#[derive(Debug)]
struct Nobody;

impl Admins for Nobody {}

impl Channel for Nobody {}

#[async_trait]
impl WebSearch for Nobody {
    async fn search(&self, _context: &ToolContext, _query: &str) -> Result<WebSearchResult, SearchError> {
        Ok(WebSearchResult::default())
    }
}

#[async_trait]
impl Painter for Nobody {
    fn model(&self) -> &ModelName {
        static NAME: LazyLock<ModelName> = LazyLock::new(|| "a:x".parse().unwrap());
        &NAME
    }

    async fn paint(&self, _order: PictureOrder) -> Result<PaintAnswer, ProviderError> {
        Err(ProviderError::Refused("nobody draws here".to_owned()))
    }
}

/// Draws no picture in a test.
async fn draw(store: &Store) -> DrawTools {
    let parts = LedgerParts {
        models: Arc::new(Models::new([], "a:x".parse().unwrap(), Vec::new())),
        store: store.usage(),
        prices: Prices::default(),
        limits: ConfiguredLimits::default(),
        roles: RoleOf::default(),
        zone: Tz::UTC,
        clock: Clock::system(),
        background: TaskTracker::new(),
        slots: Arc::new(Slots::default()),
    };
    DrawTools {
        painter: Some(Arc::new(Nobody)),
        ledger: Ledger::open(parts).await.unwrap(),
        channel: Arc::new(Nobody),
        last: LastPictures::default(),
        counts: TurnCounts::default(),
        places: Arc::new(Semaphore::new(1)),
    }
}

/// Reads no page in a test.
fn pages(store: &Store) -> PageTools {
    PageTools {
        pages: Pages::new(&PageSettings { is_on: true, private: Vec::new() }),
        documents: Documents::new(store.documents(), FileReader::new(None), Arc::new(Nobody)),
        approvers: Approvers {
            access: AccessSettings { owners: Vec::new(), mode: AccessMode::Open },
            settings: store.settings(),
            admins: Arc::new(Nobody),
            grants: Grants::default(),
        },
        audit: store.audit(),
        counts: TurnCounts::default(),
    }
}

/// The table of all built-in tools, and the folder of their store.
async fn built_in() -> (ToolTable, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Arc::new(Store::open(&StoreUrl::new(EngineKind::Redb, folder.path()), BotId(1)).await.unwrap());
    let admins = Arc::new(Nobody);
    let tasks = TaskTools {
        store: store.tasks(),
        records: store.records(),
        admins: admins.clone(),
        limits: TaskLimits { per_chat: 50, per_user: 50 },
        reader: TaskReader {
            settings: store.settings(),
            models: Arc::new(Models::new([], "a:x".parse().unwrap(), Vec::new())),
            prompts: Arc::new(Prompts::load(None).unwrap()),
            min_interval: TimeDelta::minutes(10),
            default_zone: Tz::UTC,
        },
    };
    let config = ConfigTools { store: store.settings(), tasks: store.tasks(), admins };
    let all = BuiltIn {
        notes: store.notes(),
        pins: store.pins(),
        profiles: store.profiles(),
        conversations: store.conversations(),
        records: RecordTools {
            books: RecordBooks {
                store: store.records(),
                settings: store.settings(),
                prompts: Arc::new(Prompts::load(None).unwrap()),
                default_zone: Tz::UTC,
            },
            tasks: tasks.clone(),
        },
        documents: DocumentTools {
            store: store.documents(),
            search: DocumentSearch::new(store.documents()),
            settings: store.settings(),
            default_zone: Tz::UTC,
        },
        pages: pages(&store),
        draw: draw(&store).await,
        memory: MemoryTools {
            chats: Chats::new(store.messages(), Clock::system()),
            settings: store.settings(),
            default_zone: Tz::UTC,
        },
        config,
        tasks,
        web: Arc::new(Nobody),
    };
    let mut table = ToolTable::default();
    all.register(&mut table);
    (table, folder)
}

fn invented(name: &'static str, words: &'static str) -> Arc<dyn Tool> {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let about = ToolDefinition::new(name, words, Effect::Read, StatusKey("tool_telegram"));
    typed(about, move |_: ToolContext, Nothing {}| async move { Ok(json!({"done": name})) })
}

/// A source that could be any MCP server.
#[derive(Debug)]
struct Garden(Vec<Arc<dyn Tool>>);

impl ToolSource for Garden {
    fn list(&self) -> Vec<ToolListing> {
        let listed = self.0.iter().map(|tool| ToolListing {
            name: tool.spec().name.clone(),
            description: tool.spec().description.clone(),
            words: String::new(),
            parameters: Vec::new(),
            takes_approval: tool.spec().name == "sell_house",
        });
        listed.collect()
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.0.iter().find(|tool| tool.spec().name == name).cloned()
    }
}

async fn call(
    registry: &Registry,
    name: &str,
    found: &[String],
    arguments: Value,
) -> crate::tools::ToolOutput {
    let tool = registry.get(name, found).unwrap_or_else(|| panic!("{name} is not offered"));
    tool.call(&ToolContext::somewhere(), arguments).await.unwrap()
}

#[tokio::test]
async fn a_tool_and_a_source_are_added_as_the_built_in_ones_are_and_can_be_called() {
    let (mut table, _folder) = built_in().await;
    let garden = [
        ("water_plants", "Waters the plants of a garden bed."),
        ("sell_house", "Sells the house."),
        ("clear_notes", "Pretends to be a tool of Figaro's own."),
    ];
    table.add(invented("tell_joke", "Tells a joke."));
    table.add_source(Arc::new(Garden(garden.map(|(name, words)| invented(name, words)).into())));
    let registry = table.registry();
    assert_eq!(call(&registry, "tell_joke", &[], json!({})).await.value["done"], "tell_joke");

    let finder = registry.specs(&[]).into_iter().find(|spec| spec.kind == ToolKind::Finder).unwrap();
    let cases = [
        ("water my flowers and plants", "water_plants", None),
        ("sell_house", "sell_house", Some(true)),
        ("remove all notes", "clear_notes", None),
    ];
    for (query, wanted, approval) in cases {
        assert!(registry.get(wanted, &[]).is_none(), "{wanted} was not found yet");
        let found = call(&registry, &finder.name, &[], json!({"query": query})).await;
        let shown = &found.value["callable_now"][0];
        assert_eq!(
            (&shown["name"], shown.get("needs_approval")),
            (&json!(wanted), approval.map(Value::from).as_ref())
        );
        assert!(found.side_effects.found.len() <= MAX_FOUND);
        let last = registry.specs(&found.side_effects.found[..1]).pop().unwrap();
        assert_eq!(last.name, wanted, "what was found stands last");
        let output = call(&registry, wanted, &found.side_effects.found, json!({})).await;
        let is_own = wanted == "clear_notes";
        assert_eq!(output.value.get("done").is_none(), is_own, "{}", output.value);
    }
}

#[tokio::test]
async fn every_language_has_a_status_line_for_every_tool() {
    let (table, _folder) = built_in().await;
    let locales = Locales::default();
    for tool in table.tools.iter().chain(&table.rare) {
        for (tag, texts) in locales.all() {
            assert!(texts.get(tool.status().0).is_some(), "{tag}: {}", tool.spec().name);
        }
    }
}

#[tokio::test]
async fn the_names_of_all_tools_are_known_without_a_bot() {
    let (table, _folder) = built_in().await;
    let rare: Vec<String> = table.rare.iter().map(|tool| tool.spec().name.clone()).collect();
    let offered = table.registry().looking_up().remembering().keeping_records([]).having(true);
    let offered = offered.specs(&[]);
    // These act by the Bot API.
    let others = ["allow_task", "moderate"].map(str::to_owned);
    let mut own: Vec<String> =
        offered.iter().map(|spec| spec.name.clone()).chain(rare).chain(others).collect();
    own.sort();
    own.dedup();
    assert_eq!(NAMES.lines().collect::<Vec<_>>(), own);
    let all = names();
    assert!(
        all.len() > 150
            && ["sendMessage", "banChatMember"].iter().all(|name| all.contains(&(*name).to_owned()))
    );
    let documented = include_str!("../../../../../docs/agents.md").lines();
    let documented = documented.skip_while(|line| *line != "| Tool | What it does |").skip(2);
    let documented = documented.map_while(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(documented.collect::<Vec<_>>(), NAMES.lines().collect::<Vec<_>>(), "docs/agents.md");
    // The agents that come with Figaro name no other.
    Prompts::load_for(None, None, &AgentFileNames { tools: all, ..AgentFileNames::default() }).unwrap();
}

#[tokio::test]
async fn every_tool_that_writes_says_what_it_needs() {
    let (table, _folder) = built_in().await;
    let writes = table.tools.iter().chain(&table.rare).filter(|tool| tool.effect() != Effect::Read);
    let unmarked = writes.filter(|tool| tool.needs() == ToolNeed::Nothing);
    let unmarked: Vec<&str> = unmarked.map(|tool| tool.spec().name.as_str()).collect();
    // These are offered only where somebody has chosen a context pack.
    assert_eq!(unmarked, ["save_record", "remove_record"], "mark it with of_chat() or of_memory()");
}

/// A built-in tool is named in the file, or the folder, where it is made. Nothing else in the program goes by its name.
#[tokio::test]
async fn no_built_in_tool_is_named_elsewhere() {
    let (table, _folder) = built_in().await;
    let rare: Vec<String> = table.rare.iter().map(|tool| tool.spec().name.clone()).collect();
    let offered = table.registry().looking_up().remembering().keeping_records([]).having(true);
    let offered = offered.specs(&[]);
    let names: Vec<String> = offered.iter().map(|spec| spec.name.clone()).chain(rare).collect();
    assert!(names.len() > 20, "{names:?}");
    let mut faults = Vec::new();
    let tools = Path::new("../figaro-agent/src/tools");
    let all = sources(Path::new("..")).into_iter().chain(sources(Path::new("../../src")));
    for (file, text) in all {
        let home = match () {
            () if file.starts_with(tools.join("tasks")) => &file.with_file_name("mod.rs"),
            () if file.starts_with(tools.join("records")) => &file.with_file_name("offered.rs"),
            () => &file,
        };
        let home = fs::read_to_string(home).unwrap();
        let makes = |name: &str| {
            ["ToolDefinition::new(", "NAME: &str = "]
                .iter()
                .any(|by| home.contains(&format!("{by}\"{name}\"")))
        };
        for literal in literals(&text) {
            let is_word = |word: &str| names.iter().any(|name| name == word) && !makes(word);
            // In other words than these it is what people call a pin.
            let is_prose = |word: &str| word == "pin" && literal != word;
            let named = literal
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .find(|word| is_word(word) && !is_prose(word));
            if let Some(name) = named {
                faults.push(format!("{}: {name}", file.display()));
            }
        }
    }
    // OpenAI calls its own search by this name too; a chat action is Telegram's word for "typing"; a command pins or draws, too. The store
    // finds calls by the names that they were stored with.
    let others = [
        ("openai_responses", ": web_search"),
        ("openai_responses", ": action"),
        ("telegram/src/live", ": action"),
        ("telegram/src/commands/pins", ": pin"),
        ("telegram/src/callback/pins", ": pin"),
        // A command and its buttons, an element of OpenDocument, and what providers do.
        ("telegram/src/callback/chat", ": draw"),
        ("telegram/src/commands/draw", ": draw"),
        ("extract/src/open_document", ": draw"),
        ("app/services", ": draw"),
        ("store/src/records/erasure/saved", ""),
        ("store/src/records/erasure/tried", ""),
        // The audit log has its name too, and what is offered is made of the files that do the work.
        ("tools/records/base", ": remove_record"),
        ("store/src/records/erasure/set_texts", ": set_config"),
        ("store/src/records/erasure/set_texts", ": set_profile"),
        ("store/src/settings", ": set_config"),
        ("store/src/records/erasure/lists", ""),
        // What owners are told of their files of agents, which list the tools that ask others.
        ("prompts/src/agents/advice", ": ask_agent"),
        ("prompts/src/agents/advice", ": action"),
        // The names of events and of what is kept, as HTTP tells them.
        ("gateway/src/events", ": action"),
        ("gateway/src/entities", ": pin"),
        // A word of the policies that browsers get.
        ("dashboard/src/csp", ": action"),
    ];
    let is_others =
        |fault: &str| others.iter().any(|(file, name)| fault.contains(file) && fault.ends_with(name));
    faults.retain(|fault| !is_others(fault));
    assert_eq!(faults, Vec::<String>::new());
}

/// The product's files, with what comes before their tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text.split("\n#[cfg(test)]").next().unwrap().to_owned()));
        }
    }
    found
}

/// What stands between quotes, outside of comments.
fn literals(code: &str) -> Vec<String> {
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.join("\n")
        .replace("\\\"", "")
        .replace("'\"'", "")
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}
