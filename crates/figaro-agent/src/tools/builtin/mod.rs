//! Figaro's own tools, and the table in which all tools are registered.

use std::sync::Arc;

use figaro_mcp::catalog::{Catalog, MethodSelection};

use super::config::ConfigTools;
use super::documents::DocumentTools;
use super::draw::{self, DrawTools};
use super::pages::PageTools;
use super::recall::MemoryTools;
use super::records::RecordTools;
use super::source::{Rare, Sources};
use super::tasks::{TaskTools, allow_tool};
use super::telegram::TelegramTools;
use super::web::WebSearch;
use super::{
    Registry, Tool, ToolNeed, ToolSource, action, agents, documents, find, lookup, memories, moderation,
    notes, pages as page_tools, pins as pin_tools, profile, recall, web,
};

use figaro_store::{ConversationStore, NoteStore, PinStore, ProfileStore};

/// Names of Figaro's own tools, one per line. A test compares them with the table.
const NAMES: &str = include_str!("names.txt");

/// Returns the names of all tools that an agent can have, without a running bot: Figaro's own, then the methods of the Bot
/// API.
#[must_use]
pub fn names() -> Vec<String> {
    let methods = Catalog::new(&MethodSelection::default()).listed();
    let methods = methods.into_iter().map(|listed| listed.method.name.clone());
    NAMES.lines().map(str::to_owned).chain(methods).collect()
}

/// Tools and sources from which a registry is made.
#[derive(Debug, Default)]
pub struct ToolTable {
    tools: Vec<Arc<dyn Tool>>,
    rare: Vec<Arc<dyn Tool>>,
    sources: Vec<Arc<dyn ToolSource>>,
}

impl ToolTable {
    /// Adds a tool, offered in every turn, or only once found if it is [rare](Tool::rare).
    pub(crate) fn add(&mut self, tool: Arc<dyn Tool>) {
        match tool.rare() {
            Some(_) => self.rare.push(tool),
            None => self.tools.push(tool),
        }
    }

    /// Adds a source, whose tools are offered once found.
    pub(crate) fn add_source(&mut self, source: Arc<dyn ToolSource>) {
        self.sources.push(source);
    }

    /// Removes the tools with this need, except those of sources.
    #[must_use]
    pub fn without(mut self, need: ToolNeed) -> Self {
        let stays = |tool: &Arc<dyn Tool>| tool.needs() != need;
        self.tools.retain(stays);
        self.rare.retain(stays);
        self
    }

    /// Makes the registry, including the finder. Built-in tools take precedence over sources, and sources in the order
    /// added.
    #[must_use]
    pub fn registry(self) -> Registry {
        let rare: Arc<dyn ToolSource> = Arc::new(Rare(self.rare));
        let sources = Sources::new([rare].into_iter().chain(self.sources).collect());
        let finder = find::tool(sources.clone());
        Registry::new(self.tools.into_iter().chain([finder]), sources)
    }
}

/// Dependencies of the built-in tools.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// Notes of chats, for the note tools.
    pub notes: NoteStore,
    /// Pins of chats, for `pin` and `unpin`.
    pub pins: PinStore,
    /// Profiles of people, for `set_profile`.
    pub profiles: ProfileStore,
    /// Messages of sessions, for `lookup` and `pin`.
    pub conversations: ConversationStore,
    /// Search in earlier messages of chats.
    pub memory: MemoryTools,
    /// Documents of chats, for the document tools.
    pub documents: DocumentTools,
    /// Web pages, for `read_page`.
    pub pages: PageTools,
    /// Picture model and the last pictures of conversations, for `draw`.
    pub draw: DrawTools,
    /// Records of chats, for the record tools.
    pub records: RecordTools,
    /// Settings of chats, for the settings tools.
    pub config: ConfigTools,
    /// Scheduled tasks, for the scheduling tools.
    pub tasks: TaskTools,
    /// Web search service behind `web_search`.
    pub web: Arc<dyn WebSearch>,
}

impl BuiltIn {
    /// Adds every built-in tool. A new tool is a file in `tools/` and a line here.
    pub fn register(self, table: &mut ToolTable) {
        let Self {
            notes,
            pins,
            profiles,
            conversations,
            memory,
            documents,
            pages,
            draw,
            records,
            config,
            tasks,
            web,
        } = self;
        table.add(notes::add(notes.clone()));
        table.add(notes::list(notes.clone()));
        table.add(notes::remove(notes.clone()));
        table.add(notes::clear(notes));
        table.add(pin_tools::add(pins.clone(), conversations.clone()));
        table.add(pin_tools::remove(pins));
        table.add(profile::tool(profiles));
        table.add(config.clone().get());
        table.add(config.clone().set());
        table.add(config.reset());
        table.add(web::tool(web));
        if pages.pages.is_on() {
            table.add(page_tools::tool(pages));
        }
        draw::tool(&draw).into_iter().for_each(|tool| table.add(tool));
        table.add(lookup::tool(conversations));
        table.add(recall::tool(memory));
        table.add(documents::search(documents.clone()));
        table.add(documents::read(documents));
        table.add(memories::tool());
        records.unoffered().into_iter().for_each(|tool| table.add(tool));
        table.add(action::tool());
        table.add(agents::tool());
        table.add(tasks.clone().schedule_tool());
        table.add(tasks.clone().list_tool());
        table.add(tasks.clone().cancel_tool());
        table.add(tasks.update_tool());
    }
}

/// Adds the methods of the Bot API: a few to every prompt, all of them as a source.
pub fn register_telegram(telegram: TelegramTools, tasks: TaskTools, table: &mut ToolTable) {
    table.add(moderation::tool(telegram.clone()));
    table.add(allow_tool(tasks, telegram.clone()));
    telegram.everyday().for_each(|tool| table.add(tool));
    table.add_source(Arc::new(telegram));
}

#[cfg(test)]
mod tests;
