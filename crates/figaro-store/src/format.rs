//! Format of a store: checked before anything is read, recorded when the store is made.

use super::fault::StoreFault;
use super::marks;
use super::space::Space;
use super::tables::{self, META};
use crate::StoreError;
use crate::engine::{Batch, Engine, EngineError, Reader};
use figaro_base::ids::BotId;
use figaro_config::StoreUrl;

/// Format that this build reads and writes.
pub(super) const FORMAT: u32 = 2;
/// Operation named in errors of opening.
pub(super) const OPEN: &str = "be opened";
/// Key of the format in [`META`], in every format.
pub(super) const KEY: &[u8] = b"format";
/// Key present while a copy or import creates the store.
pub(super) const COPYING: &[u8] = b"copying";

/// Checks the format of a store, or records this format in a new one, and creates missing tables. Returns the space of
/// the bot's records.
pub(super) fn prepare(engine: &mut dyn Engine, url: &StoreUrl, bot: BotId) -> Result<Space, StoreError> {
    let place = url.place();
    let found = recorded(engine).map_err(|fault| fault.into_error(&place, OPEN))?;
    let space = examine(engine, url, bot, found)?;
    let made = create(engine, found.is_none());
    made.map_err(|error| StoreFault::from(error).into_error(&place, OPEN))?;
    Ok(space)
}

/// Returns the space of the bot's records, if this build reads the store's recorded format and the store has lost
/// nothing.
pub(super) fn examine(
    engine: &dyn Reader,
    url: &StoreUrl,
    bot: BotId,
    found: Option<u32>,
) -> Result<Space, StoreError> {
    let place = url.place();
    let space = match found {
        Some(FORMAT) | None => Space::of(bot),
        Some(found) => return Err(StoreError::OtherFormat { place, found, known: FORMAT }),
    };
    // A store that lost everything looks like a new one.
    let lost = marks::loss(engine).map_err(|error| StoreFault::from(error).into_error(&place, OPEN))?;
    if let Some(loss) = lost {
        return Err(StoreError::Lost { place: url.to_string(), loss: loss.to_string() });
    }
    Ok(space)
}

/// Returns the recorded format; `None` if the store is new.
///
/// # Errors
/// If the files are not a store of Figaro, or not a whole one.
pub(super) fn recorded(engine: &dyn Reader) -> Result<Option<u32>, StoreFault> {
    let unreadable = |reason: &str| StoreFault::from(EngineError::Unreadable(reason.to_owned()));
    let tables = engine.tables()?;
    if !tables.is_empty() && !tables.contains(META) {
        return Err(unreadable("it is the database of another program"));
    }
    if engine.view()?.get(META, COPYING)?.is_some() {
        return Err(StoreFault::Unfinished);
    }
    match engine.view()?.get(META, KEY)? {
        Some(format) => {
            serde_json::from_slice(&format).map(Some).map_err(|_error| unreadable("its format is not known"))
        }
        // A crash may have left a new store with its first table only.
        None if tables.len() <= 1 => Ok(None),
        None => Err(unreadable("its format is not recorded")),
    }
}

fn create(engine: &mut dyn Engine, is_new: bool) -> Result<(), EngineError> {
    if is_new {
        engine.create_tables(&[META])?;
        let mut batch = Batch::default();
        batch.put(META, KEY.to_vec(), FORMAT.to_string().into_bytes());
        engine.write(&batch)?;
    }
    engine.create_tables(&tables::NAMES)
}
