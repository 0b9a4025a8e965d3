//! `figaro dashboard`: asks the running bot for a link to its dashboard, prints it, and opens it in a browser of this machine.

use std::collections::HashMap;
use std::io::{IsTerminal, stdout};

use tokio::task::spawn_blocking;

use super::failure::StartupError;
use super::socket;
use super::store::url_of;
use super::terminal::{all_said, say};
use figaro_agent::sign_in::TICKET_MINUTES;
use figaro_config::StoreUrl;
use figaro_store::engine;

/// Variables that say that a browser would open where nobody sees it: the person sits at another machine.
const FROM_AFAR: [&str; 2] = ["SSH_CONNECTION", "SSH_TTY"];
/// Variables of which a desktop has one, where each program may run without.
const DESKTOP: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// Prints a link that signs the owner in to the dashboard of a running bot, and opens it unless `is_printed_only`. `name` is that
/// of the bot among several; empty for one bot alone.
///
/// # Errors
/// If the bot does not run here, has no dashboard, or has no owner; with a remedy.
pub async fn dashboard(
    name: String,
    store: Option<StoreUrl>,
    is_printed_only: bool,
    variables: &HashMap<String, String>,
) -> Result<(), StartupError> {
    let url = engine::found(&url_of(store, variables)?);
    let StoreUrl::Folder(place) = url else {
        let words = "a bot whose store is a database gives the link in the chat: send it /dashboard";
        return Err(StartupError(words.to_owned()));
    };
    let asking = spawn_blocking(move || socket::ask_for_link(&place.folder, &name));
    let link = asking.await.unwrap_or_else(|error| Err(StartupError(format!("it broke off: {error}"))))?;
    say(&format!("{link}\nIt signs you in once, within {TICKET_MINUTES} minutes."));
    let has = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_desktop = cfg!(not(all(unix, not(target_os = "macos")))) || DESKTOP.iter().any(|name| has(&name));
    let is_near = is_desktop && !FROM_AFAR.iter().any(|name| has(&name));
    if !is_printed_only && is_near && stdout().is_terminal() {
        match open::that_detached(&link) {
            Ok(()) => say("It opens in your browser."),
            Err(error) => say(&format!("Open it in a browser: none could be started here ({error}).")),
        }
    } else {
        say("Open it in a browser.");
    }
    all_said()
}
