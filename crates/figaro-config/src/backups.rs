//! Scheduled backups of the store: `BACKUP_FOLDER`, `BACKUP_AT`, `BACKUP_KEEP`, `BACKUP_RECIPIENT`.

use std::path::PathBuf;

use super::reader::VariableReader;
use super::store::StoreUrl;
use figaro_base::clock::Clock;
use figaro_base::tz::Tz;
use figaro_domain::schedule::Schedule;

/// Backups that the bot makes by itself.
#[derive(Debug, Clone)]
pub struct BackupSettings {
    /// Folder of the files.
    pub folder: PathBuf,
    /// Times of the backups, a cron expression.
    pub at: Schedule,
    /// Number of files that stay: 1 to 1000. Older ones are removed.
    pub kept: usize,
    /// Recipients of age that may read the files, as written; empty for no encryption.
    pub recipients: String,
}

impl BackupSettings {
    /// Reads them; `None` if there is no folder for them.
    pub(super) fn read(reader: &mut VariableReader<'_>, store: &StoreUrl) -> Option<Self> {
        let (at, recipients) = (reader.text("BACKUP_AT"), reader.text("BACKUP_RECIPIENT"));
        let at = Schedule::recurring(&at, Tz::UTC, Clock::system().now());
        let at = at.map_err(|error| reader.complain("BACKUP_AT", &format!("is no cron expression: {error}")));
        let kept = reader.number("BACKUP_KEEP", 1..=1000).try_into().unwrap_or(1);
        let folder = PathBuf::from(reader.get("BACKUP_FOLDER")?);
        if store.folder().is_none() {
            reader.fault(
                "BACKUP_FOLDER",
                "is for a store in a folder: a database is backed up by its own means (docs/operations.md), or by `figaro backup`",
            );
        }
        Some(Self { folder, at: at.ok()?, kept, recipients })
    }
}
