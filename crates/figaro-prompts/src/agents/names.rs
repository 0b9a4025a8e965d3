//! Names outside of agents' files that they may refer to.

/// Names that agents' files may use. Prompts know neither tools nor providers, so the caller passes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFileNames {
    /// Names of the available tools.
    pub tools: Vec<String>,
    /// Names of the other MCP servers.
    pub servers: Vec<String>,
    /// Names of the model providers.
    pub providers: Vec<String>,
}
