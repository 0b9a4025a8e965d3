//! Check of the bot token with Telegram.

use tokio::time::timeout;

use super::finding::{Finding, REACH};
use crate::app::identity::{ask, refused};
use figaro_config::Settings;
use figaro_telegram::api::Api;
use figaro_telegram::error::ApiError;
use figaro_telegram::inbound::Me;

/// Checks the token of a bot; the name of a bot alone is empty.
pub(super) async fn probe(name: &str, settings: &Settings) -> Finding {
    let named = |words: String| if name.is_empty() { words } else { format!("{name}: {words}") };
    Finding::new("telegram", username(settings).await.map(named).map_err(named))
}

/// Returns the bot's username, and how to turn on what is off at @BotFather.
fn described(me: &Me) -> String {
    let elsewhere = "; to be asked from other chats: /setinline and /setinlinefeedback at @BotFather, and Guest mode in its app";
    let accounts = "; to draft replies for people's own accounts: Business Mode at @BotFather";
    let hint = |is_on: bool, hint: &'static str| if is_on { "" } else { hint };
    let hints = [hint(me.answers_elsewhere, elsewhere), hint(me.connects_accounts, accounts)];
    format!("@{}{}", me.username, hints.concat())
}

async fn username(settings: &Settings) -> Result<String, String> {
    let api = Api::new(&settings.telegram)?;
    let asked = timeout(REACH, ask(&api, settings.telegram.bot)).await;
    let silent = |_| Err(ApiError::Unclear(format!("no answer in {} s", REACH.as_secs())));
    asked.unwrap_or_else(silent).map(|me| described(&me)).map_err(|error| {
        refused(&error)
            .unwrap_or_else(|| format!("{error}: check TELEGRAM_API_URL, TELEGRAM_PROXY and the network"))
    })
}
