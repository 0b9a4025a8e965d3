//! Read-only look at a closed store, for `figaro check`.

use parking_lot::RwLock;

use super::buffer::Buffer;
use super::fault::StoreFault;
use super::format;
use super::records::access;
use super::snapshot::Snapshot;
use super::tables::Tables;
use crate::engine::{self, EngineError, Reader, catching};
use crate::{Result, StoreError};
use figaro_base::ids::BotId;
use figaro_config::StoreUrl;
use figaro_domain::access::AccessList;

/// Operation named in errors of a look.
const READ: &str = "be read";

/// Findings of a look.
#[derive(Debug)]
pub struct Look {
    /// Size on disk, in bytes.
    pub bytes: u64,
    /// Number of unreadable records and updates that were set aside.
    pub unreadable: usize,
    /// Stored access list of the bot.
    pub access: AccessList,
}

/// Looks at the store of a bot. `None` if it can only be read after opening it for writing, because its engine requires
/// that or it was not closed. Blocking.
///
/// # Errors
/// If another process has the store open, it is no store or a damaged one, durable commits are lost, another version of
/// Figaro wrote it, or it cannot be read.
pub fn look(url: &StoreUrl, bot: BotId) -> Result<Option<Look>> {
    let place = url.place();
    let failed = |fault: StoreFault| fault.into_error(&place, READ);
    let opened = engine::open_to_read(url).map_err(|error: EngineError| failed(error.into()))?;
    let look = |reader: Box<dyn Reader>| {
        // Engines answer some kinds of damage with a panic.
        catching(|| Ok(seen(&*reader, url, bot))).unwrap_or_else(|error| Err(failed(error.into())))
    };
    opened.map(look).transpose()
}

fn seen(reader: &dyn Reader, url: &StoreUrl, bot: BotId) -> Result<Look> {
    let place = url.place();
    let failed = |fault: StoreFault| -> StoreError { fault.into_error(&place, READ) };
    let found = format::recorded(reader).map_err(failed)?;
    let space = format::examine(reader, url, bot, found)?;
    let read = || -> Result<Look, StoreFault> {
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
