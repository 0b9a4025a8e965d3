//! The table of commands: the built-in ones, then those that were added.

use std::sync::Arc;

use super::StartupError;
use figaro_telegram::commands::{Command, CommandTable, Handles, builtin};

/// The table of all commands there are.
///
/// # Errors
/// When two commands have the same name, or buttons of the same family.
pub(super) fn table(handles: &Handles, added: &[Arc<dyn Command>]) -> Result<CommandTable, StartupError> {
    let settings = handles.store.clone();
    let mut table = CommandTable::new(handles.cards.clone(), handles.access.clone(), settings.settings());
    for command in builtin(handles).into_iter().chain(added.iter().cloned()) {
        table.register(command).map_err(|taken| StartupError(taken.to_string()))?;
    }
    Ok(table)
}
