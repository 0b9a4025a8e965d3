//! Where other MCP servers are described.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::faults::Faults;
use super::reader::Reader;
use super::variables::Variables;

/// Variables that a child needs to find programs, its home and its language; none holds a secret.
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

/// Where other MCP servers are described, and the values that stand for variables there.
#[derive(Debug, Clone)]
pub struct ServersSettings {
    /// The owner's file of servers.
    pub file: PathBuf,
    /// Whether the settings name it: then it has to be there.
    pub is_named: bool,
    /// What `${NAME}` stands for in the file.
    pub values: KnownValues,
}

/// All variables of the environment and of the file `.env`, as they were at the start. Many are secrets: none is shown. Cheap to
/// clone.
#[derive(Clone, Default)]
pub struct KnownValues(Arc<HashMap<String, String>>);

impl ServersSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        Self {
            file: reader.text("MCP_CONFIG").into(),
            is_named: reader.get("MCP_CONFIG").is_some(),
            values: KnownValues(Arc::new(reader.values().clone())),
        }
    }

    /// Reads these settings alone from the values of variables, by name.
    ///
    /// # Errors
    /// All mistakes at once, each with what to do.
    pub fn alone(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, Faults> {
        let reader = Reader::new(values, variables);
        let settings = Self::read(&reader);
        reader.finish_part(settings)
    }
}

impl KnownValues {
    /// The variables by their names.
    #[must_use]
    pub fn all(&self) -> &HashMap<String, String> {
        &self.0
    }

    /// Those that every child gets: where programs, certificates and its home are, and its language.
    pub fn inherited(&self) -> impl Iterator<Item = (&'static str, &str)> {
        INHERITED.iter().filter_map(|name| Some((*name, self.0.get(*name)?.as_str())))
    }
}

/// Whether every child gets this variable: it holds no secret.
#[must_use]
pub fn is_inherited(name: &str) -> bool {
    INHERITED.contains(&name)
}

impl fmt::Debug for KnownValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KnownValues({})", self.0.len())
    }
}
