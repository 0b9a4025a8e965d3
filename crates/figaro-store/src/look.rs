//! What a look at a closed store tells without a change of anything in it, for `figaro check`.

use parking_lot::RwLock;

use super::buffer::Buffer;
use super::fault::Fault;
use super::format;
use super::records::access;
use super::snapshot::Snapshot;
use super::tables::Tables;
use crate::engine::{self, EngineError, Reader, catching};
use crate::{Result, StoreError};
use figaro_base::ids::BotId;
use figaro_config::StoreUrl;
use figaro_domain::access::AccessList;

/// What fails when it cannot be looked at.
const READ: &str = "be read";

/// What was seen.
#[derive(Debug)]
pub struct Look {
    /// The bytes that it takes on its disk.
    pub bytes: u64,
    /// How many records and updates cannot be read and stand aside.
    pub unreadable: usize,
    /// Who may use the bot.
    pub access: AccessList,
}

/// Looks at the store of a bot. `None` for one that has to be opened for writing to be read: its engine cannot do else, or it was
/// not closed. Blocking.
///
/// # Errors
/// If another process has it, if it is no store or a damaged one, if it has lost what was durable once, if another version of Figaro wrote
/// it, if it cannot be read.
pub fn look(url: &StoreUrl, bot: BotId) -> Result<Option<Look>> {
    let place = url.folder.display().to_string();
    let failed = |fault: Fault| fault.into_error(&place, READ);
    let opened = engine::open_to_read(url).map_err(|error: EngineError| failed(error.into()))?;
    let look = |reader: Box<dyn Reader>| {
        // Engines answer some kinds of damage with a panic.
        catching(|| Ok(seen(&*reader, url, bot))).unwrap_or_else(|error| Err(failed(error.into())))
    };
    opened.map(look).transpose()
}

fn seen(reader: &dyn Reader, url: &StoreUrl, bot: BotId) -> Result<Look> {
    let place = url.folder.display().to_string();
    let failed = |fault: Fault| -> StoreError { fault.into_error(&place, READ) };
    let found = format::recorded(reader).map_err(failed)?;
    let space = format::examine(reader, url, bot, found)?;
    let read = || -> Result<Look, Fault> {
        let nothing = RwLock::new(Buffer::default());
        let buffer = nothing.read();
        let snapshot = Snapshot::of(reader, buffer, &space)?;
        let tables = Tables::of(&snapshot);
        let updates = tables.unreadable.keys_of(&[])?.count();
        Ok(Look {
            bytes: reader.disk_bytes()?,
            unreadable: snapshot.quarantined()? + updates,
            access: access::list(&tables)?,
        })
    };
    read().map_err(failed)
}
