//! Checks whether a closed store is valid and complete.

use super::format;
use super::marks::{Loss, loss};
use crate::engine::{Engine, EngineError, catching};
use crate::fault::StoreFault;
use crate::{Result, StoreError};
use figaro_config::StoreUrl;

/// Reads the whole store and fails if something is not as it was written. Repairs what can be repaired.
///
/// # Errors
/// [`EngineError::Unreadable`] with the engine's message if the store is damaged.
pub fn verify(engine: &mut dyn Engine) -> Result<(), EngineError> {
    match catching(|| engine.verify()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(EngineError::Unreadable("it is damaged".to_owned())),
        Err(error) => Err(error),
    }
}

/// Returns the loss of a closed store; `None` if no loss is known.
///
/// # Errors
/// If the store is not whole yet or is the database of another program; of the engine.
pub fn state(engine: &dyn Engine, url: &StoreUrl) -> Result<Option<Loss>> {
    let failed = |error: EngineError| StoreFault::from(error).into_error(&url.to_string(), "be read");
    let lost = loss(engine).map_err(failed)?;
    let format = format::recorded(engine).map_err(|fault| fault.into_error(&url.to_string(), "be read"))?;
    match format {
        Some(found) if found != format::FORMAT => {
            Err(StoreError::OtherFormat { place: url.to_string(), found, known: format::FORMAT })
        }
        None if lost.is_none() => Err(failed(EngineError::Unreadable("it is empty".to_owned()))),
        _ => Ok(lost),
    }
}
