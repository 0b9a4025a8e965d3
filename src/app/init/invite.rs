//! The end of the setup: the link that makes its first user the owner of the bot.

use chrono::TimeDelta;

use crate::app::failure::Refusal;
use crate::app::owner_invite::link;
use crate::app::terminal::{say, show_code};
use figaro_base::clock::Clock;
use figaro_config::Settings;
use figaro_domain::access::INVITE_MINUTES;
use figaro_store::engine::found;
use figaro_store::kv::KvStore;
use figaro_store::{Store, StoreError};

/// Makes a link in the store and shows it, if nobody owns the bot. The bot has to run for it to work; what was sent to it before its
/// start waits at Telegram.
///
/// # Errors
/// When the store cannot be used.
pub(super) async fn show(settings: &Settings, clock: &Clock, username: &str) -> Result<(), Refusal> {
    let refuse = |error: StoreError| Refusal(error.to_string());
    let store = match KvStore::open(&found(&settings.store.url), settings.telegram.bot).await {
        Err(StoreError::InUse(_)) => {
            say(
                "! A bot runs with this store. Start it anew, so that it reads the file; if nobody owns it, it shows a link to \
                 become its owner.",
            );
            return Ok(());
        }
        opened => opened.map_err(refuse)?,
    };
    let made = clock.now();
    if let Some(link) = link(&settings.access, &store, clock, username).await.map_err(refuse)? {
        let until = (made + TimeDelta::minutes(INVITE_MINUTES)).with_timezone(&settings.timezone);
        say(&format!(
            "\nNobody owns this bot yet. Start it, then open this link to become its owner. The link is good for {INVITE_MINUTES} \
             minutes, until {}; later `figaro` shows another.\n\n{}",
            until.format("%H:%M"),
            link.0
        ));
        show_code(&link.0);
    }
    store.flush().await.map_err(refuse)
}
