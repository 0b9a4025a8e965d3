//! `figaro dashboard`: asks the running bot for a link to its dashboard, and prints it.

use std::collections::HashMap;

use tokio::task::spawn_blocking;

use super::failure::StartupError;
use super::socket;
use super::store::url_of;
use super::terminal::{all_said, say};
use figaro_agent::sign_in::TICKET_MINUTES;
use figaro_config::StoreUrl;
use figaro_store::engine;

/// Prints a link that signs the owner in to the dashboard of a running bot. `name` is that of the bot among several; empty for
/// one bot alone.
///
/// # Errors
/// If the bot does not run here, has no dashboard, or has no owner; with a remedy.
pub async fn dashboard(
    name: String,
    store: Option<StoreUrl>,
    variables: &HashMap<String, String>,
) -> Result<(), StartupError> {
    let url = engine::found(&url_of(store, variables)?);
    let StoreUrl::Folder(place) = url else {
        let words = "a bot whose store is a database gives the link in the chat: send it /dashboard";
        return Err(StartupError(words.to_owned()));
    };
    let asking = spawn_blocking(move || socket::ask_for_link(&place.folder, &name));
    let link = asking.await.unwrap_or_else(|error| Err(StartupError(format!("it broke off: {error}"))))?;
    say(&format!("{link}\nOpen it in a browser within {TICKET_MINUTES} minutes. It works once."));
    all_said()
}
