//! Other MCP servers, as the owner's file describes them: each is started or reached by a keeper of its own, which starts it
//! again when it fails. Their tools are listed here, and called.

mod call;
mod http;
mod keeper;
mod lenient;
mod pace;
mod plain;
mod recipe;
mod schema;
mod server;
mod stdio;
mod tools;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

pub use self::call::{CallError, Part, Reply};
use self::keeper::Keeper;
pub use self::recipe::ServerRecipe;
pub use self::server::{Phase, Server, Status};
pub use self::tools::ServerTool;
use super::file::ServerConfig;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::approval::ToolOfServer;

/// All other servers there are at the moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Servers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    recipe: ServerRecipe,
    background: TaskTracker,
    all: RwLock<BTreeMap<String, Arc<Server>>>,
    /// Counts the changes of what tools there are.
    changes: Arc<AtomicU64>,
}

impl Servers {
    /// Starts these servers, without waiting for any, and keeps them until `background` is asked to stop.
    #[must_use]
    pub fn start(configs: Vec<ServerConfig>, recipe: ServerRecipe, background: TaskTracker) -> Self {
        let servers =
            Self(Arc::new(Inner { recipe, background, all: RwLock::default(), changes: Arc::default() }));
        servers.replace(configs);
        servers
    }

    /// Has these servers in the place of those there are. One that is described as before goes on undisturbed.
    pub fn replace(&self, configs: Vec<ServerConfig>) {
        let Inner { recipe, background, all, changes } = &*self.0;
        let mut all = all.write();
        let mut before = std::mem::take(&mut *all);
        for config in configs {
            let name = config.name.clone();
            let kept = match before.remove(&name) {
                Some(server) if server.config == config => Some(server),
                other => {
                    other.iter().for_each(|server| server.stop());
                    None
                }
            };
            let server = kept.unwrap_or_else(|| {
                let server = Arc::new(Server::new(
                    config,
                    changes.clone(),
                    background.child_token(),
                    &recipe.redactor,
                ));
                if !server.config.is_disabled {
                    let keeper = Keeper { server: server.clone(), recipe: recipe.clone() };
                    background.spawn("mcp_server", keeper.keep());
                }
                server
            });
            all.insert(name, server);
        }
        before.into_values().for_each(|server| server.stop());
        changes.fetch_add(1, Ordering::Relaxed);
    }

    /// The servers in the order of their names.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.0.all.read().values().cloned().collect()
    }

    /// The names of all servers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.all().iter().map(|server| server.config.name.clone()).collect()
    }

    /// The server of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.0.all.read().get(name).cloned()
    }

    /// The server whose tool this is, as long as its name stands for the same program or address and it is not off.
    #[must_use]
    pub fn of(&self, tool: &ToolOfServer) -> Option<Arc<Server>> {
        let server = self.get(&tool.server)?;
        (!server.config.is_disabled && server.config.way_hash() == tool.way).then_some(server)
    }

    /// How often what tools there are has changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Relaxed)
    }
}
