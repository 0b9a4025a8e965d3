//! Who the bot is, as Telegram knows it.

use std::time::Duration;

use serde_json::{Value, json};

use super::Refusal;
use figaro_base::ids::BotId;
use figaro_telegram::api::{Api, GetMe};
use figaro_telegram::error::ApiError;
use figaro_telegram::inbound::Me;

/// The pause between tries to reach Telegram at the start.
const RETRY: Duration = Duration::from_secs(2);

/// Asks Telegram who the bot is; waits for a Telegram that cannot be reached, refuses a token that is not good.
pub(super) async fn who_am_i(api: &Api, bot: BotId) -> Result<Me, Refusal> {
    loop {
        match ask(api, bot).await {
            Ok(me) => return Ok(me),
            Err(error) => match refused(&error) {
                Some(words) => return Err(Refusal(words)),
                None => tracing::warn!(%error, "Telegram does not answer yet; trying again"),
            },
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Asks Telegram once who the bot is.
///
/// # Errors
/// See [`ApiError`].
pub(super) async fn ask(api: &Api, bot: BotId) -> Result<Me, ApiError> {
    Ok(me(&api.call(GetMe(json!({}))).await?, bot))
}

/// What is wrong where asking again is no use; `None` for a Telegram that cannot be reached.
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
    let reads_all = user.get("can_read_all_group_messages").and_then(Value::as_bool).unwrap_or_default();
    Me { id: bot, name: text("first_name"), username: text("username"), reads_all }
}
