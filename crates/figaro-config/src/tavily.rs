//! Settings of Tavily, the web search service.

use super::reader::VariableReader;
use figaro_base::secret::SecretString;

/// Tavily, the web search for models without one of their own.
#[derive(Debug, Clone)]
pub struct TavilySettings {
    /// API key; `None` disables this search.
    pub key: Option<SecretString>,
    /// Base URL, without a trailing slash.
    pub base_url: String,
}

impl TavilySettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let key = reader.get("TAVILY_API_KEY").map(SecretString::from);
        Self { key, base_url: reader.url("TAVILY_BASE_URL") }
    }
}
