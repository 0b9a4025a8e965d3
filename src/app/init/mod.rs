//! `figaro init`: asks for the settings of the bot, checks each answer at once, and writes `.env` after the last answer.

mod bill;
mod bot;
mod choice;
mod dialogue;
mod draft;
mod file;
mod invite;
mod list;
mod model;
mod reach;
mod service;
mod unit;
mod zone;

use std::path::Path;

use futures::{Stream, StreamExt};

use self::dialogue::Dialogue;
use self::draft::SettingsDraft;
use self::invite::AfterSetup;
use super::additions::Additions;
use super::failure::StartupError;
use super::providers::{settings_and_hints, table};
use super::terminal::{all_said, say};
use figaro_base::clock::Clock;
use figaro_config::{ENV_FILE, Values};

/// Sets the bot up in a dialogue on standard input and output. The first of `stops` ends it. Returns `true` if the bot is to be
/// started now.
///
/// # Errors
/// When the dialogue ends early or the file cannot be written; the file is unchanged then. Also when other settings keep the
/// bot from starting.
pub async fn init(
    values: Values,
    stops: impl Stream<Item = ()> + Unpin + 'static,
    additions: &Additions,
) -> Result<bool, StartupError> {
    let providers = table(additions)?;
    let variables = providers.variables();
    let path = Path::new(ENV_FILE);
    file::try_place(path)?;
    let environment = values.environment.clone();
    let mut draft = SettingsDraft::new(values, variables);
    let (mut dialogue, clock) = (Dialogue::new(stops.boxed_local()), Clock::system());
    say(
        "This sets Figaro up. Enter takes what stands in [brackets]; Ctrl-C ends it, and nothing is written then.",
    );
    let username = bot::ask(&mut dialogue, &mut draft).await?;
    service::ask(&mut dialogue, &mut draft, &providers).await?;
    zone::ask(&mut dialogue, &mut draft, &clock).await?;
    bill::ask(&mut dialogue, &mut draft).await?;
    let is_service = unit::ask(&mut dialogue).await?;
    let file = file::write(path, &draft)?;
    say(&format!("\n✓ {ENV_FILE} is written; no other account can read it."));
    if let outside @ [_, ..] = draft.outside_the_file(&file).as_slice() {
        say(&format!(
            "! The environment sets {}, which {ENV_FILE} does not have: set that for `figaro` as well.",
            outside.join(", ")
        ));
    }
    let (settings, hints) = settings_and_hints(&Values { environment, file }, additions)?;
    hints.iter().for_each(|hint| say(&format!("! {hint}")));
    let after = invite::show(&settings, &clock, &username, is_service, async || {
        !is_service && dialogue.is_at_terminal() && starts_now(&mut dialogue).await
    });
    let after = after.await?;
    if is_service {
        unit::start().await;
    } else if after == AfterSetup::Waits {
        say("\n`figaro` starts the bot in this folder. `figaro check` says whether all is well.");
    }
    all_said().map(|()| after == AfterSetup::Starts)
}

/// Asks for a start of the bot. The settings are written already, so a dialogue that ends here means no.
async fn starts_now(dialogue: &mut Dialogue) -> bool {
    let answer = dialogue.ask("\nStart the bot now? y or n [y]:").await;
    answer.is_ok_and(|answer| {
        answer.is_none_or(|answer| ["y", "yes"].contains(&answer.to_lowercase().as_str()))
    })
}
