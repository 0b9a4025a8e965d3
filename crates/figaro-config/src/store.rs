//! Location and engine of the store: `STORE_URL`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// One file in a folder, managed by redb.
    Redb,
    /// A folder managed by sled.
    Sled,
}

impl EngineKind {
    /// All engines, the default first.
    pub const ALL: [Self; 2] = [Self::Redb, Self::Sled];

    /// Returns the name of the engine in a URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redb => "redb",
            Self::Sled => "sled",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Location of a store, as `ENGINE:FOLDER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl {
    /// Storage engine.
    pub engine: EngineKind,
    /// Folder, relative to the working directory unless it begins with `/`.
    pub folder: PathBuf,
}

impl StoreUrl {
    /// Makes the URL of a store by engine and folder.
    #[must_use]
    pub fn new(engine: EngineKind, folder: impl Into<PathBuf>) -> Self {
        Self { engine, folder: folder.into() }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.engine, self.folder.display())
    }
}

/// Error of a text that is not a store URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}", words = Self::WORDS)]
pub struct NoStoreUrl;

impl NoStoreUrl {
    /// Description of the error, to follow the name of the setting.
    pub const WORDS: &str = "is not of the form redb:FOLDER or sled:FOLDER, such as redb:./data";
}

impl FromStr for StoreUrl {
    type Err = NoStoreUrl;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, folder) = text.split_once(':').ok_or(NoStoreUrl)?;
        let engine = EngineKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(NoStoreUrl)?;
        if folder.trim().is_empty() {
            return Err(NoStoreUrl);
        }
        Ok(Self::new(engine, folder))
    }
}
