//! The tools that come with Figaro, and the table that they, and any other, are registered in.

use std::sync::Arc;

use figaro_mcp::catalog::{Catalog, Choice};

use super::config::ConfigTools;
use super::recall::MemoryTools;
use super::records::RecordTools;
use super::source::{Rare, Sources};
use super::tasks::{TaskTools, allow_tool};
use super::telegram::TelegramTools;
use super::web::WebSearch;
use super::{
    Registry, Tool, ToolSource, action, agents, find, lookup, memories, moderation, notes, pins as pin_tools,
    profile, recall, web,
};

use figaro_store::{ConversationStore, NoteStore, PinStore, ProfileStore};

/// The names of the tools that come with Figaro, a line each; a test compares them with the table.
const NAMES: &str = include_str!("names.txt");

/// The names of all tools that an agent can have, known without a bot that runs: those that come with Figaro, then the methods
/// of the Bot API.
#[must_use]
pub fn names() -> Vec<String> {
    let methods = Catalog::new(&Choice::default()).listed();
    let methods = methods.into_iter().map(|listed| listed.method.name.clone());
    NAMES.lines().map(str::to_owned).chain(methods).collect()
}

/// Tools and sources, until a registry is made of them.
#[derive(Debug, Default)]
pub struct ToolTable {
    tools: Vec<Arc<dyn Tool>>,
    rare: Vec<Arc<dyn Tool>>,
    sources: Vec<Arc<dyn ToolSource>>,
}

impl ToolTable {
    /// Adds a tool: it is offered in every turn, or where it was found if it is [rare](Tool::rare).
    pub(crate) fn add(&mut self, tool: Arc<dyn Tool>) {
        match tool.rare() {
            Some(_) => self.rare.push(tool),
            None => self.tools.push(tool),
        }
    }

    /// Adds a source, whose tools are offered where they were found.
    pub(crate) fn add_source(&mut self, source: Arc<dyn ToolSource>) {
        self.sources.push(source);
    }

    /// The same table without the tools of these names; those of its sources stay.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        let stays = |tool: &Arc<dyn Tool>| !names.contains(&tool.spec().name.as_str());
        self.tools.retain(stays);
        self.rare.retain(stays);
        self
    }

    /// The registry of all of them, with the tool that finds those of the sources. Built-in tools come before those of
    /// the sources, these in the order in which they were added.
    #[must_use]
    pub fn registry(self) -> Registry {
        let rare: Arc<dyn ToolSource> = Arc::new(Rare(self.rare));
        let sources = Sources::new([rare].into_iter().chain(self.sources).collect());
        let finder = find::tool(sources.clone());
        Registry::new(self.tools.into_iter().chain([finder]), sources)
    }
}

/// What the built-in tools work on.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// The notes of chats.
    pub notes: NoteStore,
    /// The pins of chats.
    pub pins: PinStore,
    /// The profiles of people.
    pub profiles: ProfileStore,
    /// The messages of sessions.
    pub conversations: ConversationStore,
    /// What was said earlier in chats.
    pub memory: MemoryTools,
    /// The records of chats.
    pub records: RecordTools,
    /// The settings of chats.
    pub config: ConfigTools,
    /// The tools for scheduled tasks.
    pub tasks: TaskTools,
    /// The service that searches the web.
    pub web: Arc<dyn WebSearch>,
}

impl BuiltIn {
    /// Adds every built-in tool. A new one is a file in `tools/` and a line here.
    pub fn register(self, table: &mut ToolTable) {
        let Self { notes, pins, profiles, conversations, memory, records, config, tasks, web } = self;
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
        table.add(lookup::tool(conversations));
        table.add(recall::tool(memory));
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
