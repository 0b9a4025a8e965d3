//! End of the setup: a link that makes its first user the owner, or a test message to the existing owner.

use chrono::TimeDelta;
use serde_json::json;

use crate::app::failure::StartupError;
use crate::app::owner_invite::link;
use crate::app::terminal::{say, show_code};
use figaro_base::clock::Clock;
use figaro_base::ids::UserId;
use figaro_config::{Settings, TelegramSettings};
use figaro_domain::access::INVITE_MINUTES;
use figaro_prompts::texts::{Locales, fill};
use figaro_store::engine::found;
use figaro_store::{Store, StoreError};
use figaro_telegram::api::{Api, SendMessage};
use figaro_telegram::error::ApiError;

/// State of the bot after the setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterSetup {
    /// It is to be started now.
    Starts,
    /// It runs already, with its earlier settings.
    Runs,
    /// Its owner starts it.
    Waits,
}

/// Creates and shows an owner link if the bot has no owner; else sends a message to the owner. The link works once the bot
/// runs; Telegram queues messages until then. A bot that `starts` now shows its link itself; not called if it runs already.
/// `is_service` says that a service starts next.
///
/// # Errors
/// When the store cannot be used.
pub(super) async fn show(
    settings: &Settings,
    clock: &Clock,
    username: &str,
    is_service: bool,
    starts: impl AsyncFnOnce() -> bool,
) -> Result<AfterSetup, StartupError> {
    let refuse = |error: StoreError| StartupError(error.to_string());
    let named = settings.access.owners.first();
    let store = match Store::open(&found(&settings.store.url), settings.telegram.bot).await {
        Err(StoreError::InUse(_)) => {
            say(
                "! A bot runs with this store. Restart it, so that it reads the file: a service with `systemctl restart figaro` or \
                 `systemctl --user restart figaro`. If nobody owns it, its log shows a link to become its owner.",
            );
            if let Some(owner) = named {
                greet(&settings.telegram, owner, None, username).await?;
            }
            return Ok(AfterSetup::Runs);
        }
        opened => opened.map_err(refuse)?,
    };
    let starts = starts().await;
    let made = clock.now();
    let link = match starts {
        true => None,
        false => link(&settings.access, &store.settings(), clock, username).await.map_err(refuse)?,
    };
    if let Some(link) = link {
        let (first, later) = match is_service {
            true => ("Open this link", "the log"),
            false => ("Start it, then open this link", "`figaro`"),
        };
        let until = (made + TimeDelta::minutes(INVITE_MINUTES)).with_timezone(&settings.timezone);
        say(&format!(
            "\nNobody owns this bot yet. {first} to become its owner. The link is good for {INVITE_MINUTES} minutes, until {}; \
             later {later} shows another.\n\n{}",
            until.format("%H:%M"),
            link.0
        ));
        show_code(&link.0);
    }
    let access = store.settings().access().map_err(refuse)?;
    if let Some(owner) = named.or(access.owners.first()) {
        let profile = store.profiles().find(owner).map_err(refuse)?;
        let language = profile.and_then(|profile| profile.language);
        greet(&settings.telegram, owner, language.as_deref(), username).await?;
    }
    store.flush().await.map_err(refuse)?;
    Ok(if starts { AfterSetup::Starts } else { AfterSetup::Waits })
}

/// Sends the owner a message in the language of this IETF tag, and prints the result.
async fn greet(
    telegram: &TelegramSettings,
    owner: &UserId,
    language: Option<&str>,
    username: &str,
) -> Result<(), StartupError> {
    let Some(chat) = owner.telegram_id() else { return Ok(()) };
    let locales = Locales::default();
    let text = fill(locales.of(language).init_test(), &[("bot", username)]);
    let sent = Api::new(telegram)
        .map_err(StartupError)?
        .call(SendMessage(json!({"chat_id": chat, "text": text})))
        .await;
    say(&match sent {
        Ok(_) => format!("✓ A test message went to the owner ({chat}): look into Telegram."),
        Err(ApiError::Refused(words)) => format!(
            "! The owner ({chat}) got no test message: a bot may write to nobody who has not written to it, or who has blocked it \
             (Telegram says: {words}). Press Start first at https://t.me/{username}"
        ),
        Err(error) => format!("! The owner ({chat}) got no test message: {error}"),
    });
    Ok(())
}
