//! Settings of the Telegram MCP server: `MCP_HTTP_PORT`, `MCP_API_KEY`, `MCP_SERVER_BIN`.

use std::path::PathBuf;

use super::reader::VariableReader;
use figaro_base::secret::SecretString;

/// Settings of the Telegram MCP server.
#[derive(Debug, Clone)]
pub struct McpSettings {
    /// Loopback port for outside clients, served only with `api_key`; 0 picks a free port.
    pub port: u16,
    /// Key of outside clients; `None` admits none.
    pub api_key: Option<SecretString>,
    /// Executable of the server; `None` for the default one.
    pub binary: Option<PathBuf>,
    /// Variables of our environment passed to the server: locations of programs and certificates.
    pub inherited: Vec<(&'static str, String)>,
}

impl McpSettings {
    const INHERITED: [&'static str; 3] = ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"];

    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let read = |name: &&'static str| Some((*name, reader.get(name)?));
        let inherited = Self::INHERITED.iter().filter_map(read).collect();
        Self {
            port: reader.number("MCP_HTTP_PORT", 0..=u64::from(u16::MAX)).try_into().unwrap_or_default(),
            api_key: reader.get("MCP_API_KEY").map(SecretString::from),
            binary: reader.get("MCP_SERVER_BIN").map(PathBuf::from),
            inherited,
        }
    }
}
