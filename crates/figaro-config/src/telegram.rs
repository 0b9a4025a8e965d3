//! The bot, and the way to Telegram.

use std::collections::HashMap;

use figaro_mcp::proxy::Proxies;

use super::faults::Faults;
use super::reader::Reader;
use super::variables::Variables;
use figaro_base::ids::BotId;
use figaro_base::secret::SecretString;

/// The bot and its server.
#[derive(Debug, Clone)]
pub struct TelegramSettings {
    /// The token BotFather gave.
    pub token: SecretString,
    /// The number in it.
    pub bot: BotId,
    /// The Bot API server, without a trailing slash.
    pub api_url: String,
    /// The proxies on the way there.
    pub proxies: Proxies,
}

impl TelegramSettings {
    /// These settings alone. What is wrong with others does not count.
    ///
    /// # Errors
    /// What is wrong with the variables of these settings.
    pub fn of(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, Faults> {
        let mut reader = Reader::new(values, variables);
        let settings = Self::read(&mut reader);
        reader.finish_part(settings)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let token = reader
            .required("TELEGRAM_BOT_TOKEN", "BotFather (https://t.me/BotFather) gives one")
            .unwrap_or_default();
        Self::of_token(token, reader)
    }

    /// [`Self::read`] where there need be no token.
    pub(super) fn read_if_any(reader: &mut Reader<'_>) -> Self {
        let token = reader.get("TELEGRAM_BOT_TOKEN").unwrap_or_default();
        Self::of_token(token, reader)
    }

    fn of_token(token: String, reader: &mut Reader<'_>) -> Self {
        let bot = token.split_once(':').and_then(|(id, rest)| {
            let plain =
                rest.len() >= 3 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            id.parse().ok().filter(|id: &i64| plain && *id > 0)
        });
        if bot.is_none() && !token.is_empty() {
            reader.fault(
                "TELEGRAM_BOT_TOKEN",
                "is not a bot token: it looks like 123456789:AA… as BotFather shows it",
            );
        }
        let (api_url, proxies) = (reader.url("TELEGRAM_API_URL"), reader.proxies("TELEGRAM_PROXY"));
        Self { token: token.into(), bot: BotId(bot.unwrap_or_default()), api_url, proxies }
    }
}
