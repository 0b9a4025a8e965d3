//! Values of arguments and options, and how each is read.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use figaro_config::{EngineKind, NoStoreUrl, StoreUrl};
use figaro_policy::tools::CallerRole;

/// The longest name of a session of the terminal, in characters.
const MAX_SESSION_CHARS: usize = 100;

/// A chat as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedChat {
    /// The one that the model is in.
    Here,
    /// That of this number or username, as a call names it.
    Other(String),
}

/// Parts of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Only {
    /// Older messages that bear on the question.
    Retrieved,
}

pub(super) fn chat(text: &str) -> Result<NamedChat, String> {
    let is_number = text.parse::<i64>().is_ok_and(|number| number != 0);
    let is_username = text.strip_prefix('@').is_some_and(|name| !name.is_empty());
    match text {
        "here" => Ok(NamedChat::Here),
        _ if is_number || is_username => Ok(NamedChat::Other(text.to_owned())),
        _ => Err("is not here, nor the number of a chat, nor a username with its @".to_owned()),
    }
}

pub(super) fn session(text: &str) -> Result<String, String> {
    let name = text.trim();
    match name.chars().count() {
        1..=MAX_SESSION_CHARS => Ok(name.to_owned()),
        _ => Err(format!("takes a name of 1 to {MAX_SESSION_CHARS} characters")),
    }
}

pub(super) fn role(text: &str) -> Result<CallerRole, String> {
    let found = CallerRole::ALL.into_iter().find(|role| role.name() == text);
    found.ok_or_else(|| format!("takes {}", CallerRole::ALL.map(CallerRole::name).join(", ")))
}

pub(super) fn store_in(text: &str) -> Result<StoreUrl, String> {
    let has_engine = EngineKind::ALL.iter().any(|kind| text.starts_with(&format!("{}:", kind.name())));
    if has_engine || text.contains("://") {
        return text.parse().map_err(|_none: NoStoreUrl| NoStoreUrl::WORDS.to_owned());
    }
    if text.trim().is_empty() {
        Err("is no folder".to_owned())
    } else {
        Ok(StoreUrl::new(EngineKind::ALL[0], text))
    }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "takes a number from 0 to 1".to_owned())
}

pub(super) fn day(text: &str) -> Result<NaiveDate, String> {
    text.trim().parse().map_err(|_none| "takes a day, as 2026-12-31".to_owned())
}

/// Reads a number within these bounds.
pub(super) fn number<T: TryFrom<u64>>(
    bounds: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| bounds.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("takes a whole number from {} to {}", bounds.start(), bounds.end()))
    }
}
