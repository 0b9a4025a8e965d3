//! Bots that the settings set up: those of the file, or the one of the settings.

use std::collections::HashMap;

use super::file::{self, NamedBot};
use crate::app::additions::Additions;
use crate::app::failure::StartupError;
use crate::app::providers::{refusal, settings_and_hints, variables};
use crate::app::watch::text_of;
use figaro_base::secret::{Redactor, SecretString};
use figaro_config::{BotsSettings, Settings, SettingsFaults, Values, Variables, looks_secret};

/// Bots that the settings set up.
#[derive(Debug)]
pub enum BotsToRun {
    /// The bot of `TELEGRAM_BOT_TOKEN`.
    One(Box<Settings>),
    /// The bots of a file.
    Many(BotList),
}

/// Bots of the file, at least one.
#[derive(Debug)]
pub struct BotList {
    pub(super) bots: Vec<NamedBot>,
    pub(super) settings: BotsSettings,
    /// Text of the file.
    pub(super) text: String,
    pub(super) variables: Variables,
}

impl BotsToRun {
    /// Returns the settings of what the bots share, which those of each bot have.
    #[must_use]
    pub fn shared(&self) -> &Settings {
        match self {
            Self::One(settings) => settings,
            Self::Many(list) => &list.bots[0].settings,
        }
    }

    /// Returns name and settings of each bot; the name of a bot alone is empty.
    pub(in crate::app) fn all(&self) -> Vec<(&str, &Settings)> {
        match self {
            Self::One(settings) => vec![("", settings)],
            Self::Many(list) => list.bots.iter().map(|bot| (bot.name.as_str(), &*bot.settings)).collect(),
        }
    }

    /// Returns a redactor that knows the secrets of all bots, and the tokens of those that may come later.
    #[must_use]
    pub fn redactor(&self, values: &HashMap<String, String>) -> Redactor {
        match self {
            Self::One(settings) => settings.redactor(),
            Self::Many(list) => {
                let tokens = values.values().filter(|value| looks_like_a_token(value));
                let mut known = list.bots[0].settings.redactor();
                for token in tokens {
                    known = known.and(&SecretString::from(token.trim().to_owned()));
                }
                known
            }
        }
    }
}

fn looks_like_a_token(value: &str) -> bool {
    let parts = value.trim().split_once(':');
    parts.is_some_and(|(id, rest)| id.parse::<u64>().is_ok() && rest.len() >= 3 && !rest.contains('/'))
}

/// Reads the bots to run from the file of bots, or else from the settings. Also returns a hint for each unknown name that may be
/// misspelt.
///
/// # Errors
/// All faults, each with a remedy.
pub fn bots_to_run(values: &Values, additions: &Additions) -> Result<(BotsToRun, Vec<String>), StartupError> {
    let (all, variables) = (values.all(), variables(additions)?.with_names_in_file(values.names_in_file()));
    let Some(list) = list(&all, &variables)? else {
        let (settings, hints) = settings_and_hints(values, additions)?;
        return Ok((BotsToRun::One(Box::new(settings)), hints));
    };
    let names: Vec<&str> = list.bots.iter().map(NamedBot::token_variable).collect();
    let is_token = |hint: &String| names.iter().any(|name| hint.starts_with(&format!("{name} ")));
    let mut hints: Vec<String> = values.doubtful(&variables);
    hints.retain(|hint| !is_token(hint));
    if all.contains_key("TELEGRAM_BOT_TOKEN") && !names.contains(&"TELEGRAM_BOT_TOKEN") {
        hints.push(format!(
            "TELEGRAM_BOT_TOKEN is set, but {} names no bot with this token, so that bot does not run",
            list.settings.file.display()
        ));
    }
    Ok((BotsToRun::Many(list), hints))
}

/// Reads the file of bots; `None` if there is none.
fn list(values: &HashMap<String, String>, variables: &Variables) -> Result<Option<BotList>, StartupError> {
    let settings = BotsSettings::of(values, variables);
    let refused = |faults: String| refusal(&SettingsFaults(faults.lines().map(str::to_owned).collect()), &[]);
    let Some(text) = text_of(&settings.file).map_err(refused)? else {
        let file = settings.file.display();
        return match settings.is_named {
            // A secret in the wrong variable: the settings tell it without showing it.
            true if looks_secret(&file.to_string()) => Ok(None),
            true => Err(StartupError(format!("BOTS_FILE names {file}, and there is no such file"))),
            false => Ok(None),
        };
    };
    let bots = file::bots_of(&text, &settings.file, values, variables).map_err(refused)?;
    Ok(Some(BotList { bots, settings, text, variables: variables.clone() }))
}
