//! What agents' files may refer to outside of themselves.

/// The names that agents' files may use. Prompts know neither tools nor providers, so whoever has them read says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The tools there are.
    pub tools: Vec<String>,
    /// The other MCP servers there are.
    pub servers: Vec<String>,
    /// The providers of models there are.
    pub providers: Vec<String>,
}
