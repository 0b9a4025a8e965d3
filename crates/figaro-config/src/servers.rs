//! Location of the file that describes other MCP servers.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::faults::SettingsFaults;
use super::reader::VariableReader;
use super::variables::Variables;

/// Variables that a child process needs to find programs, its home and its language. None holds a secret.
const INHERITED: [&str; 14] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// File of other MCP servers, and the values its `${NAME}` placeholders may use.
#[derive(Debug, Clone)]
pub struct ServersSettings {
    /// File of servers, from `MCP_CONFIG`.
    pub file: PathBuf,
    /// `true` if the settings name the file. It must then exist.
    pub is_named: bool,
    /// Values of the `${NAME}` placeholders in the file.
    pub values: KnownValues,
}

/// All variables of the environment and of `.env` at the start. Many are secrets, so none is shown. Cheap to clone.
#[derive(Clone, Default)]
pub struct KnownValues(Arc<HashMap<String, String>>);

impl ServersSettings {
    pub(super) fn read(reader: &VariableReader<'_>) -> Self {
        Self {
            file: reader.text("MCP_CONFIG").into(),
            is_named: reader.get("MCP_CONFIG").is_some(),
            values: KnownValues(Arc::new(reader.values().clone())),
        }
    }

    /// Reads these settings alone from values by variable name.
    ///
    /// # Errors
    /// All mistakes at once, each with its remedy.
    pub fn alone(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, SettingsFaults> {
        let reader = VariableReader::new(values, variables);
        let settings = Self::read(&reader);
        reader.finish_part(settings)
    }
}

impl KnownValues {
    /// Returns all values by variable name.
    #[must_use]
    pub fn all(&self) -> &HashMap<String, String> {
        &self.0
    }

    /// Returns the variables for every child process: locations of programs, certificates and its home, and its language.
    pub fn inherited(&self) -> impl Iterator<Item = (&'static str, &str)> {
        INHERITED.iter().filter_map(|name| Some((*name, self.0.get(*name)?.as_str())))
    }
}

/// Returns `true` if every child process gets this variable, which holds no secret.
#[must_use]
pub fn is_inherited(name: &str) -> bool {
    INHERITED.contains(&name)
}

impl fmt::Debug for KnownValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KnownValues({})", self.0.len())
    }
}
