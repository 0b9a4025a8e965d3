//! Tools of other servers listed by an agent: some always offered, all of them findable.

use std::sync::Arc;

use super::shared::ServerTools;
use super::tool::RemoteTool;
use crate::tools::source::{ToolListing, ToolSource};
use crate::tools::{Registry, Tool};
use figaro_base::text::one_line;
use figaro_domain::agent::{ALL_TOOLS, OfServer};
use figaro_mcp_client::servers::{Server, ServerTool};

/// Maximum length of a description in search results, in characters.
const MAX_FOUND: usize = 200;

impl ServerTools {
    /// Adds the listed tools of other servers to an agent's own. Tools listed by name are always offered. Tools listed with
    /// their whole server are findable if the agent has the finder, and always offered otherwise.
    #[must_use]
    pub(crate) fn beside(&self, own: &Registry, listed: &[OfServer]) -> Registry {
        let listing = Listing { tools: self.clone(), listed: listed.to_vec() };
        let finds = own.finds();
        let is_offered = |of: &OfServer| of.tool != ALL_TOOLS || !finds;
        let offered: Vec<OfServer> = listed.iter().filter(|of| is_offered(of)).cloned().collect();
        let offered = Listing { tools: self.clone(), listed: offered };
        let offered: Vec<Arc<dyn Tool>> =
            offered.all().into_iter().map(|(server, tool)| self.made(server, tool)).collect();
        own.and(offered, Arc::new(listing))
    }

    fn made(&self, server: Arc<Server>, tool: Arc<ServerTool>) -> Arc<dyn Tool> {
        Arc::new(RemoteTool::new(self.clone(), server, tool))
    }
}

/// Tools of other servers listed by an agent, read at each use.
#[derive(Debug)]
struct Listing {
    tools: ServerTools,
    listed: Vec<OfServer>,
}

impl Listing {
    fn all(&self) -> Vec<(Arc<Server>, Arc<ServerTool>)> {
        let of = |server: Arc<Server>| {
            let name = &server.config.name;
            let listed: Vec<&OfServer> = self.listed.iter().filter(|of| of.server == *name).collect();
            let tools = if listed.is_empty() { Arc::default() } else { server.status().tools };
            let has = |tool: &ServerTool| listed.iter().any(|of| of.has(&tool.remote));
            let tools: Vec<Arc<ServerTool>> = tools.iter().filter(|tool| has(tool)).cloned().collect();
            tools.into_iter().map(move |tool| (server.clone(), tool))
        };
        self.tools.servers.all().into_iter().flat_map(of).collect()
    }
}

impl ToolSource for Listing {
    fn list(&self) -> Vec<ToolListing> {
        let listed = |(server, tool): (Arc<Server>, Arc<ServerTool>)| ToolListing {
            name: tool.name.clone(),
            description: format!(
                "(of the MCP server {}, in its author's words) {}",
                server.config.name,
                one_line(&tool.description, MAX_FOUND)
            ),
            words: server.config.name.clone(),
            parameters: parameters(&tool),
            takes_approval: self.tools.takes_approval(&server, &tool),
        };
        self.all().into_iter().map(listed).collect()
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let (server, tool) = self.all().into_iter().find(|(_, tool)| tool.name == name)?;
        Some(self.tools.made(server, tool))
    }
}

fn parameters(tool: &ServerTool) -> Vec<String> {
    let names = tool.parameters["properties"].as_object();
    names.into_iter().flat_map(|names| names.keys().cloned()).collect()
}
