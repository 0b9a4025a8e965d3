//! Table of providers, and the settings that depend on it.

use std::collections::HashMap;

use super::additions::Additions;
use super::failure::StartupError;
use figaro_config::{Settings, SettingsFaults, Values, Variables};
use figaro_provider::{BUILTIN, Providers};

/// Builds the table of all providers: built-in, then added ones.
///
/// # Errors
/// When a provider has an invalid name, or shares a name or variable with another.
pub(super) fn table(additions: &Additions) -> Result<Providers, StartupError> {
    let mut table = Providers::default();
    for provider in BUILTIN.iter().chain(&additions.providers) {
        table.register(*provider).map_err(|unfit| StartupError(unfit.to_string()))?;
    }
    Ok(table)
}

/// Returns all variables that the settings are read from.
///
/// # Errors
/// When an added provider cannot be registered.
pub fn variables(additions: &Additions) -> Result<Variables, StartupError> {
    Ok(table(additions)?.variables())
}

/// Reads all settings from the values of variables, keyed by name.
///
/// # Errors
/// All faults at once, each with a remedy; also when an added provider cannot be registered.
pub fn settings(values: &HashMap<String, String>, additions: &Additions) -> Result<Settings, StartupError> {
    Settings::read(values, &variables(additions)?).map_err(|faults| refusal(&faults, &[]))
}

/// Like [`settings()`], and also returns a hint for each unknown name that may be misspelt.
///
/// # Errors
/// Errors of [`settings()`], with these hints among the faults.
pub fn settings_and_hints(
    values: &Values,
    additions: &Additions,
) -> Result<(Settings, Vec<String>), StartupError> {
    let variables = variables(additions)?.with_names_in_file(values.names_in_file());
    let doubtful = values.doubtful(&variables);
    match Settings::read(&values.all(), &variables) {
        Ok(settings) => Ok((settings, doubtful)),
        Err(faults) => Err(refusal(&faults, &doubtful)),
    }
}

/// Like [`settings()`], for commands that need no bot.
///
/// # Errors
/// Errors of [`settings()`], except for a missing token.
pub(super) fn settings_without_bot(
    values: &HashMap<String, String>,
    additions: &Additions,
) -> Result<Settings, StartupError> {
    Settings::without_bot(values, &variables(additions)?).map_err(|faults| refusal(&faults, &[]))
}

/// Describes the faults, with advice for a new installation.
pub(super) fn refusal(faults: &SettingsFaults, doubtful: &[String]) -> StartupError {
    let is_new = faults.lack_values();
    let faults = SettingsFaults([faults.0.as_slice(), doubtful].concat());
    if !is_new {
        return StartupError(format!(
            "{faults}\nNext: put that right in .env or in the environment, then run `figaro check`.\ndocs/configuration.md explains \
             every setting."
        ));
    }
    StartupError(format!(
        "{faults}\nNext: `figaro init` asks for what is missing and writes it into the file .env here; `figaro demo` needs \
         nothing.\ndocs/configuration.md explains every setting."
    ))
}
