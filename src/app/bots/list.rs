//! `figaro bots`: the bots of the file, with what each is doing.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::task::spawn_blocking;

use super::file::NamedBot;
use super::set_up::{BotsToRun, bots_to_run};
use crate::app::additions::Additions;
use crate::app::bot_states::{self, BotState, BotStateSince};
use crate::app::failure::StartupError;
use crate::app::terminal::{all_said, say};
use figaro_base::ids::BotId;
use figaro_config::{StoreUrl, Values};
use figaro_store::engine::found;
use figaro_store::whole::look;
use figaro_store::{StoreError, Stores};

/// Prints each bot of the file with its state; `as_json` as a line of JSON each.
///
/// # Errors
/// All faults of the settings; if there is no file of bots; if the database of the bots cannot be read.
pub async fn bots(values: &Values, additions: &Additions, as_json: bool) -> Result<(), StartupError> {
    let (set_up, _hints) = bots_to_run(values, additions)?;
    let BotsToRun::Many(list) = set_up else {
        return Err(StartupError(
            "there is no file bots.yaml: this folder has one bot, and `figaro check` looks at it".to_owned(),
        ));
    };
    let url = found(&list.bots[0].settings.store.url);
    let states = match &url {
        StoreUrl::Folder(_) => of_folder(&url, &list.bots).await,
        StoreUrl::Database(_) => of_database(&url, &list.bots).await?,
    };
    for bot in &list.bots {
        let (state, words) = &states[&bot.name];
        match as_json {
            true => say(&json!({"bot": bot.name, "state": state, "about": words}).to_string()),
            false => say(&format!("{:<16} {state:<10} {words}", bot.name)),
        }
    }
    all_said()
}

/// Word for the state of a bot, and words about it, by the bot's name.
type StateLines = BTreeMap<String, (&'static str, String)>;

/// Reads what the process with this folder wrote, if one runs.
async fn of_folder(url: &StoreUrl, bots: &[NamedBot]) -> StateLines {
    let (at, bot) = (url.clone(), bots[0].settings.telegram.bot);
    let looked = spawn_blocking(move || look(&at, bot)).await;
    let is_running = matches!(looked, Ok(Err(StoreError::InUse(_))));
    let states = url.folder().filter(|_| is_running).map(bot_states::read).unwrap_or_default();
    let line = |bot: &NamedBot| match states.get(&bot.name) {
        Some(since) => lines_of(since),
        None if is_running => ("unknown", "the process has not read the file yet".to_owned()),
        None => ("stopped", "no process runs these bots: `figaro` starts them".to_owned()),
    };
    bots.iter().map(|bot| (bot.name.clone(), line(bot))).collect()
}

fn lines_of(BotStateSince { state, since, .. }: &BotStateSince) -> (&'static str, String) {
    let since = since.format("since %Y-%m-%d %H:%M UTC");
    match state {
        BotState::Starting => ("starting", since.to_string()),
        BotState::Runs { username } => ("runs", format!("as @{username} {since}")),
        BotState::Paused { reason } => ("paused", format!("{since}: {reason}")),
        BotState::Stopping => ("stopping", since.to_string()),
    }
}

/// Reads from the database which processes have the bots.
async fn of_database(url: &StoreUrl, bots: &[NamedBot]) -> Result<StateLines, StartupError> {
    let ids: Vec<BotId> = bots.iter().map(|bot| bot.settings.telegram.bot).collect();
    let found = Stores::new(url).ownership(&ids).await.map_err(|error| StartupError(error.to_string()))?;
    let line = |bot: &NamedBot| match found.owners.get(&bot.settings.telegram.bot) {
        Some(owner) => ("runs", format!("in process {}", owner.host)),
        None => ("stopped", "no process has it".to_owned()),
    };
    Ok(bots.iter().map(|bot| (bot.name.clone(), line(bot))).collect())
}
