//! The table of providers, and the settings that are read by it.

use std::collections::HashMap;

use super::additions::Additions;
use super::failure::StartupError;
use figaro_config::{Settings, SettingsFaults, Values, Variables};
use figaro_provider::{BUILTIN, Providers};

/// The table of all providers there are: the built-in ones, then those that were added.
///
/// # Errors
/// When one has a name that does not do, or that of another, or a variable of another.
pub(super) fn table(additions: &Additions) -> Result<Providers, StartupError> {
    let mut table = Providers::default();
    for provider in BUILTIN.iter().chain(&additions.providers) {
        table.register(*provider).map_err(|unfit| StartupError(unfit.to_string()))?;
    }
    Ok(table)
}

/// All variables that the settings are read from.
///
/// # Errors
/// When an added provider cannot be registered.
pub fn variables(additions: &Additions) -> Result<Variables, StartupError> {
    Ok(table(additions)?.variables())
}

/// Reads all settings from the values of variables, by name, as the environment or `.env` give them.
///
/// # Errors
/// All mistakes at once, each with what to do; also when an added provider cannot be registered.
pub fn settings(values: &HashMap<String, String>, additions: &Additions) -> Result<Settings, StartupError> {
    Settings::read(values, &variables(additions)?).map_err(|faults| refusal(&faults, &[]))
}

/// [`settings()`], and a sentence for each name that is not known and may be a misspelt one.
///
/// # Errors
/// Those of [`settings()`], with these sentences among the mistakes.
pub fn settings_and_hints(
    values: &Values,
    additions: &Additions,
) -> Result<(Settings, Vec<String>), StartupError> {
    let variables = variables(additions)?;
    let doubtful = values.doubtful(&variables);
    match Settings::read(&values.all(), &variables) {
        Ok(settings) => Ok((settings, doubtful)),
        Err(faults) => Err(refusal(&faults, &doubtful)),
    }
}

/// [`settings()`] for what does without a bot.
///
/// # Errors
/// Those of [`settings()`] but for a token that is missing.
pub(super) fn settings_without_bot(
    values: &HashMap<String, String>,
    additions: &Additions,
) -> Result<Settings, StartupError> {
    Settings::without_bot(values, &variables(additions)?).map_err(|faults| refusal(&faults, &[]))
}

/// What is wrong, and what somebody does about it who has just installed the program and has no more than it.
fn refusal(faults: &SettingsFaults, doubtful: &[String]) -> StartupError {
    let faults = SettingsFaults([faults.0.as_slice(), doubtful].concat());
    StartupError(format!(
        "{faults}\n`figaro init` asks for what is needed and writes it into a file .env here; `figaro demo` needs \
         nothing.\nThe file .env.example of the source explains every variable."
    ))
}
