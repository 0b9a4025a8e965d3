//! Where everything is kept, and which engine keeps it: `STORE_URL`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What keeps a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// One file in a folder, kept by redb.
    Redb,
    /// A folder kept by sled.
    Sled,
}

impl EngineKind {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Redb, Self::Sled];

    /// Its name in a URL.
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

/// Where a store is kept, as `ENGINE:FOLDER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl {
    /// The engine that reads and writes it.
    pub engine: EngineKind,
    /// The folder; relative to the working directory unless it begins with `/`.
    pub folder: PathBuf,
}

impl StoreUrl {
    /// The store that this engine keeps in this folder.
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

/// What is wrong with a text that is no URL of a store, as the words after its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}", words = Self::WORDS)]
pub struct NoStoreUrl;

impl NoStoreUrl {
    /// What is wrong, as it stands after the name of the setting.
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
