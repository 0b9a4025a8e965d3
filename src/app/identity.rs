//! Identity of the bot in Telegram.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::StartupError;
use figaro_base::ids::BotId;
use figaro_config::TelegramSettings;
use figaro_telegram::api::{Api, GetMe};
use figaro_telegram::error::ApiError;
use figaro_telegram::inbound::Me;

/// Pauses between attempts to reach Telegram at the start, and between log lines about them. Each doubles from the first
/// value up to the second.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];
const SILENCES: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(3600)];

/// Asks Telegram who the bot is. Retries while Telegram is unreachable; fails on an invalid token.
pub(super) async fn who_am_i(api: &Api, settings: &TelegramSettings) -> Result<Me, StartupError> {
    let ([mut pause, longest], [mut silence, longest_silence]) = (PAUSES, SILENCES);
    let mut told_at: Option<Instant> = None;
    loop {
        let error = match ask(api, settings.bot).await {
            Ok(me) => return Ok(me),
            Err(error) => error,
        };
        if let Some(words) = refused(&error) {
            return Err(StartupError(words));
        }
        if told_at.is_none_or(|at| at.elapsed() >= silence) {
            if told_at.is_some() {
                silence = (silence * 2).min(longest_silence);
            }
            told_at = Some(Instant::now());
            tracing::warn!(
                %error,
                address = settings.api_url,
                "Telegram does not answer yet; I go on trying: look at the network, TELEGRAM_API_URL and TELEGRAM_PROXY"
            );
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

/// Asks Telegram once who the bot is.
///
/// # Errors
/// See [`ApiError`].
pub(super) async fn ask(api: &Api, bot: BotId) -> Result<Me, ApiError> {
    Ok(me(&api.call(GetMe(json!({}))).await?, bot))
}

/// Returns the reason of a permanent error; `None` if a retry may help.
pub(super) fn refused(error: &ApiError) -> Option<String> {
    match error {
        ApiError::Unauthorized => Some(
            "Telegram does not know this bot token: copy TELEGRAM_BOT_TOKEN again from @BotFather".to_owned(),
        ),
        ApiError::Refused(words) => Some(format!("Telegram refused to say who the bot is: {words}")),
        ApiError::Conflict
        | ApiError::RetryAfter(_)
        | ApiError::Migrated(_)
        | ApiError::Unreachable(_)
        | ApiError::Unclear(_) => None,
    }
}

fn me(user: &Value, bot: BotId) -> Me {
    let text = |key: &str| user.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is = |key: &str| user.get(key).and_then(Value::as_bool).unwrap_or_default();
    let answers_elsewhere = is("supports_inline_queries") && is("supports_guest_queries");
    let (name, username) = (text("first_name"), text("username"));
    let (reads_all, connects_accounts) = (is("can_read_all_group_messages"), is("can_connect_to_business"));
    Me { id: bot, name, username, reads_all, answers_elsewhere, connects_accounts }
}
