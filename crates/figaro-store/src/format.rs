//! The format of a store: checked before anything is read, recorded when the store is made.

use super::fault::Fault;
use super::marks;
use super::space::Space;
use super::tables::{self, META};
use crate::StoreError;
use crate::engine::{Batch, Engine, EngineError, Reader};
use figaro_base::ids::BotId;
use figaro_config::StoreUrl;

/// The one format that this build reads and writes.
pub(super) const FORMAT: u32 = 2;
/// What fails when opening fails.
pub(super) const OPEN: &str = "be opened";
/// The key of [`META`] it is recorded under, in every format.
pub(super) const KEY: &[u8] = b"format";
/// The key that is there as long as the store is being made by a copy or an import.
pub(super) const COPYING: &[u8] = b"copying";

/// Checks the format of a store, or gives a new one this format, and makes the tables that are missing. Gives where in it the
/// records of a bot are.
pub(super) fn prepare(engine: &mut dyn Engine, url: &StoreUrl, bot: BotId) -> Result<Space, StoreError> {
    let place = url.folder.display().to_string();
    let found = recorded(engine).map_err(|fault| fault.into_error(&place, OPEN))?;
    let space = examine(engine, url, bot, found)?;
    let made = create(engine, found.is_none());
    made.map_err(|error| Fault::from(error).into_error(&place, OPEN))?;
    Ok(space)
}

/// Gives where in a store of this format on record the records of a bot are, if the store is one that this build reads and has lost
/// nothing.
pub(super) fn examine(
    engine: &dyn Reader,
    url: &StoreUrl,
    bot: BotId,
    found: Option<u32>,
) -> Result<Space, StoreError> {
    let place = url.folder.display().to_string();
    let space = match found {
        Some(FORMAT) | None => Space::of(bot),
        Some(found) => return Err(StoreError::OtherFormat { place, found, known: FORMAT }),
    };
    // A store that has lost all it had looks like a new one.
    let lost = marks::loss(engine).map_err(|error| Fault::from(error).into_error(&place, OPEN))?;
    if let Some(loss) = lost {
        return Err(StoreError::Lost { place: url.to_string(), loss: loss.to_string() });
    }
    Ok(space)
}

/// The format on record; `None` if the store is new.
///
/// # Errors
/// If what is there is no store of Figaro's, or no whole one.
pub(super) fn recorded(engine: &dyn Reader) -> Result<Option<u32>, Fault> {
    let unreadable = |reason: &str| Fault::from(EngineError::Unreadable(reason.to_owned()));
    let tables = engine.tables()?;
    if !tables.is_empty() && !tables.contains(META) {
        return Err(unreadable("it is the database of another program"));
    }
    if engine.view()?.get(META, COPYING)?.is_some() {
        return Err(Fault::Unfinished);
    }
    match engine.view()?.get(META, KEY)? {
        Some(format) => {
            serde_json::from_slice(&format).map(Some).map_err(|_error| unreadable("its format is not known"))
        }
        // A crash may have left a new store with no more than its first table.
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
