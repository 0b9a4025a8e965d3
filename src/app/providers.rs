//! The table of providers, and the settings that are read by it.

use std::collections::HashMap;

use super::additions::Additions;
use super::failure::Refusal;
use crate::config::{Settings, Variables};
use crate::provider::{BUILTIN, Providers};

/// The table of all providers there are: the built-in ones, then those that were added.
///
/// # Errors
/// When one has a name that does not do, or that of another, or a variable of another.
pub(super) fn table(additions: &Additions) -> Result<Providers, Refusal> {
    let mut table = Providers::default();
    for provider in BUILTIN.iter().chain(&additions.providers) {
        table.register(*provider).map_err(|unfit| Refusal(unfit.to_string()))?;
    }
    Ok(table)
}

/// All variables that the settings are read from.
///
/// # Errors
/// When an added provider cannot be registered.
pub fn variables(additions: &Additions) -> Result<Variables, Refusal> {
    Ok(table(additions)?.variables())
}

/// Reads all settings from the values of variables, by name, as the environment or `.env` give them.
///
/// # Errors
/// All mistakes at once, each with what to do; also when an added provider cannot be registered.
pub fn settings(values: &HashMap<String, String>, additions: &Additions) -> Result<Settings, Refusal> {
    Settings::read(values, &variables(additions)?).map_err(|faults| Refusal(faults.to_string()))
}
