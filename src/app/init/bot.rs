//! First question: token of the bot.

use std::time::Duration;

use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use super::service::BACK;
use crate::app::failure::StartupError;
use crate::app::identity::{ask as who_is, refused};
use crate::app::terminal::say;
use figaro_config::TelegramSettings;
use figaro_telegram::api::Api;
use figaro_telegram::error::ApiError;
use figaro_telegram::inbound::Me;

const TOKEN: &str = "TELEGRAM_BOT_TOKEN";
/// Timeout of Telegram's answer.
const REACH: Duration = Duration::from_secs(10);

/// Asks for the token until Telegram accepts it. Returns the bot's username.
///
/// # Errors
/// When the dialogue ends; when the environment sets an invalid token.
pub(super) async fn ask(dialogue: &mut Dialogue, draft: &mut SettingsDraft) -> Result<String, StartupError> {
    say(
        "\n1. The bot. Write /newbot to https://t.me/BotFather, and copy the token that it gives you. Pasted secrets are not shown.",
    );
    let (mut known, mut failed) = (None, None);
    if let Some(token) = draft.get(TOKEN) {
        match dialogue.wait(check(draft, &token)).await? {
            Ok(me) if draft.is_fixed(TOKEN) => {
                say(&format!("✓ @{}, by the token in the environment", me.username));
                return Ok(me.username);
            }
            Ok(me) => known = Some(me.username),
            Err(words) if draft.is_fixed(TOKEN) => {
                return Err(StartupError(format!(
                    "{words}; {TOKEN} is set in the environment, change it there"
                )));
            }
            Err(words) => {
                say(&format!("✗ The token in .env: {words}"));
                failed = Some(token);
            }
        }
    }
    if let Some(username) = known {
        let question = format!("Token [that of @{username}, which is set]:");
        return match dialogue.ask_secret(&question).await? {
            None => Ok(username),
            Some(token) => until_good(dialogue, draft, Some(token), None).await,
        };
    }
    until_good(dialogue, draft, None, failed).await
}

/// Asks until a token is valid, starting with `token` if given. Enter retries the failed one.
async fn until_good(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    mut token: Option<String>,
    mut failed: Option<String>,
) -> Result<String, StartupError> {
    loop {
        if let Some(token) = &token {
            match dialogue.wait(check(draft, token)).await? {
                Ok(me) => {
                    say(&format!("✓ @{} ({})", me.username, me.name));
                    draft.set(TOKEN, token);
                    return Ok(me.username);
                }
                Err(words) => say(&format!("✗ {words}")),
            }
            failed = Some(token.clone());
        }
        let question = if failed.is_some() { "Token (Enter tries the same again):" } else { "Token:" };
        token = match dialogue.ask_secret(question).await? {
            Some(text) if text == BACK => {
                say(
                    "There is no question before this one. Ctrl-C ends the setup, and nothing is written then.",
                );
                None
            }
            None if failed.is_none() => {
                say(
                    "✗ A bot needs a token: paste it here. Ctrl-C ends the setup, and nothing is written then.",
                );
                None
            }
            text => text.or(failed.clone()),
        };
    }
}

/// Asks Telegram whose token this is. The error is in words for the user.
async fn check(draft: &SettingsDraft, token: &str) -> Result<Me, String> {
    let mut values = draft.all();
    values.insert(TOKEN.to_owned(), token.to_owned());
    let settings = TelegramSettings::of(&values, &draft.variables).map_err(|faults| faults.0.join("; "))?;
    let api = Api::new(&settings)?;
    let silent = |_| Err(ApiError::Unclear(format!("no answer in {} s", REACH.as_secs())));
    tokio::time::timeout(REACH, who_is(&api, settings.bot)).await.unwrap_or_else(silent).map_err(|error| {
        refused(&error)
            .unwrap_or_else(|| format!("{error}: check the network, TELEGRAM_API_URL and TELEGRAM_PROXY"))
    })
}
