//! Other MCP servers, as the owner's file describes them. Each has its own keeper, which starts or connects it and
//! restarts it when it fails. Their tools are listed and called here.

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

pub use self::call::{CallError, ServerResult, ToolResultPart};
use self::keeper::ServerKeeper;
pub use self::recipe::ServerRecipe;
pub use self::server::{Server, ServerPhase, ServerStatus};
pub use self::tools::ServerTool;
use super::file::ServerConfig;
use figaro_base::shutdown::TaskTracker;
use figaro_domain::approval::ToolOfServer;

/// All other servers at the moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Servers(Arc<ServersInner>);

#[derive(Debug)]
struct ServersInner {
    recipe: ServerRecipe,
    background: TaskTracker,
    all: RwLock<BTreeMap<String, Arc<Server>>>,
    /// Number of changes to the set of tools.
    changes: Arc<AtomicU64>,
}

impl Servers {
    /// Starts these servers without waiting for any. Keeps them until `background` is asked to stop.
    #[must_use]
    pub fn start(configs: Vec<ServerConfig>, recipe: ServerRecipe, background: TaskTracker) -> Self {
        let servers = Self(Arc::new(ServersInner {
            recipe,
            background,
            all: RwLock::default(),
            changes: Arc::default(),
        }));
        servers.replace(configs);
        servers
    }

    /// Replaces the current servers by these. A server whose configuration is unchanged goes on undisturbed.
    pub fn replace(&self, configs: Vec<ServerConfig>) {
        let ServersInner { recipe, background, all, changes } = &*self.0;
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
                    let keeper = ServerKeeper { server: server.clone(), recipe: recipe.clone() };
                    background.spawn("mcp_server", keeper.keep());
                }
                server
            });
            all.insert(name, server);
        }
        before.into_values().for_each(|server| server.stop());
        changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the servers, sorted by name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.0.all.read().values().cloned().collect()
    }

    /// Returns the names of all servers, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.all().iter().map(|server| server.config.name.clone()).collect()
    }

    /// Returns the server of this name; `None` if there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.0.all.read().get(name).cloned()
    }

    /// Returns the server of a tool, if its name still stands for the same program or address and it is not off.
    #[must_use]
    pub fn of(&self, tool: &ToolOfServer) -> Option<Arc<Server>> {
        let server = self.get(&tool.server)?;
        (!server.config.is_disabled && server.config.way_hash() == tool.way).then_some(server)
    }

    /// Returns how often the set of tools has changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Relaxed)
    }
}
