//! Location and engine of the store: `STORE_URL`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Storage engine in files.
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

/// Location of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `ENGINE:FOLDER`, kept by an engine in files.
    Folder(StoreFolder),
    /// `postgres://…`, kept by a PostgreSQL server.
    Database(DatabaseUrl),
}

/// Folder of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFolder {
    /// Storage engine.
    pub engine: EngineKind,
    /// Folder, relative to the working directory unless it begins with `/`.
    pub folder: PathBuf,
}

impl StoreUrl {
    /// Makes the URL of a store by engine and folder.
    #[must_use]
    pub fn new(engine: EngineKind, folder: impl Into<PathBuf>) -> Self {
        Self::Folder(StoreFolder { engine, folder: folder.into() })
    }

    /// Returns the folder of the store; `None` for a database.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(at) => Some(&at.folder),
            Self::Database(_) => None,
        }
    }

    /// Returns the name of the engine.
    #[must_use]
    pub const fn engine_name(&self) -> &'static str {
        match self {
            Self::Folder(at) => at.engine.name(),
            Self::Database(_) => "PostgreSQL",
        }
    }

    /// Returns the name of the place in messages: the folder, or the database without its password.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Folder(at) => at.folder.display().to_string(),
            Self::Database(url) => url.to_string(),
        }
    }
}

impl fmt::Display for StoreFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.engine, self.folder.display())
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(at) => at.fmt(f),
            Self::Database(url) => url.fmt(f),
        }
    }
}

/// Beginnings of the URL of a database, as PostgreSQL's own programs take it.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// URL of a PostgreSQL database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE?KEY=VALUE`. Its text forms hide the password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Returns the URL with its password.
    #[must_use]
    pub fn exposed(&self) -> &str {
        &self.0
    }

    /// Returns `true` if its parameters name this key.
    #[must_use]
    pub fn states(&self, key: &str) -> bool {
        let parameters = self.0.split_once('?').map_or("", |(_, parameters)| parameters);
        parameters.split('&').any(|parameter| parameter.split_once('=').is_some_and(|(name, _)| name == key))
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        // Parameters may name a password, too.
        let address = rest.split('?').next().unwrap_or_default();
        match address.rsplit_once('@') {
            Some((who, place)) => {
                write!(f, "{scheme}://{}@{place}", who.split(':').next().unwrap_or_default())
            }
            None => write!(f, "{scheme}://{address}"),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error of a text that is not a store URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}", words = Self::WORDS)]
pub struct NoStoreUrl;

impl NoStoreUrl {
    /// Description of the error, to follow the name of the setting.
    pub const WORDS: &str = "is not of the form redb:FOLDER, sled:FOLDER or postgres://USER:PASSWORD@HOST/DATABASE, such as redb:./data";
}

impl FromStr for StoreUrl {
    type Err = NoStoreUrl;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(rest) = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)) {
            let is_whole = !rest.trim().is_empty() && !rest.contains(char::is_whitespace);
            return is_whole.then(|| Self::Database(DatabaseUrl(text.to_owned()))).ok_or(NoStoreUrl);
        }
        let (name, folder) = text.split_once(':').ok_or(NoStoreUrl)?;
        let engine = EngineKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(NoStoreUrl)?;
        if folder.trim().is_empty() {
            return Err(NoStoreUrl);
        }
        Ok(Self::new(engine, folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_form_of_a_database_has_its_password() {
        for (url, shown) in [
            ("postgres://ann:s3cret@db.example:5433/figaro", "postgres://ann@db.example:5433/figaro"),
            ("postgresql://ann@db/f?password=s3cret&sslmode=disable", "postgresql://ann@db/f"),
            ("postgres://ann:s3@cret@db/f", "postgres://ann@db/f"),
            ("postgres://%2Frun%2Fpostgresql/figaro", "postgres://%2Frun%2Fpostgresql/figaro"),
        ] {
            let read: StoreUrl = url.parse().unwrap();
            assert_eq!((read.to_string(), read.place()), (shown.to_owned(), shown.to_owned()));
            assert!(!format!("{read:?}").contains("cret"), "{read:?}");
        }
        for text in ["postgres://", "postgres:// ", "postgres:data", "redb:", "mysql://x", ""] {
            assert_eq!(text.parse::<StoreUrl>(), Err(NoStoreUrl), "{text}");
        }
    }
}
