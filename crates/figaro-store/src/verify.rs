//! Whether a closed store is one, and whole.

use super::format;
use super::marks::{Loss, loss};
use crate::engine::{Engine, EngineError, catching};
use crate::fault::Fault;
use crate::{Result, StoreError};
use figaro_config::StoreUrl;

/// Reads all there is, and fails if something is not as it was written. What can be mended is.
///
/// # Errors
/// [`EngineError::Unreadable`] if it is damaged, with what the engine says of it.
pub fn verify(engine: &mut dyn Engine) -> Result<(), EngineError> {
    match catching(|| engine.verify()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(EngineError::Unreadable("it is damaged".to_owned())),
        Err(error) => Err(error),
    }
}

/// What a closed store has lost; `None` if nothing that is known of.
///
/// # Errors
/// If it is not whole yet, if it is the database of another program, of the engine.
pub fn state(engine: &dyn Engine, url: &StoreUrl) -> Result<Option<Loss>> {
    let failed = |error: EngineError| Fault::from(error).into_error(&url.to_string(), "be read");
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
