//! Table of commands: built-in, then added ones.

use std::sync::Arc;

use super::StartupError;
use figaro_telegram::commands::{Command, CommandTable, Handles, builtin};

/// Builds the table of all commands.
///
/// # Errors
/// When two commands share a name or a button family.
pub(super) fn table(handles: &Handles, added: &[Arc<dyn Command>]) -> Result<CommandTable, StartupError> {
    let mut table = CommandTable::new(handles);
    for command in builtin(handles).into_iter().chain(added.iter().cloned()) {
        table.register(command).map_err(|taken| StartupError(taken.to_string()))?;
    }
    Ok(table)
}
