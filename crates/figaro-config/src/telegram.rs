//! Bot token and connection to Telegram.

use std::collections::HashMap;

use figaro_mcp::proxy::Proxies;

use super::faults::SettingsFaults;
use super::reader::VariableReader;
use super::variables::{TELEGRAM_KEY, Variables};
use figaro_base::ids::BotId;
use figaro_base::secret::SecretString;
use figaro_domain::code::{hex, unhex};

/// Bot token and Bot API server.
#[derive(Debug, Clone)]
pub struct TelegramSettings {
    /// Token from BotFather; empty if missing.
    pub token: SecretString,
    /// User id of the bot, taken from the token.
    pub bot: BotId,
    /// Base URL of the Bot API server, without a trailing slash.
    pub api_url: String,
    /// Proxies to the Bot API server.
    pub proxies: Proxies,
    /// Ed25519 key with which Telegram signs who opens a Mini App.
    pub public_key: [u8; 32],
}

impl TelegramSettings {
    /// Reads these settings alone. Faults in other settings are ignored.
    ///
    /// # Errors
    /// Faults in the variables of these settings.
    pub fn of(values: &HashMap<String, String>, variables: &Variables) -> Result<Self, SettingsFaults> {
        let mut reader = VariableReader::new(values, variables);
        let settings = Self::read(&mut reader);
        reader.finish_part(settings)
    }

    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let token = reader
            .required("TELEGRAM_BOT_TOKEN", "BotFather (https://t.me/BotFather) gives one")
            .unwrap_or_default();
        Self::of_token(token, reader)
    }

    /// Like [`Self::read`], but the token is optional.
    pub(super) fn read_if_any(reader: &mut VariableReader<'_>) -> Self {
        let token = reader.get("TELEGRAM_BOT_TOKEN").unwrap_or_default();
        Self::of_token(token, reader)
    }

    fn of_token(token: String, reader: &mut VariableReader<'_>) -> Self {
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
        let public_key = public_key(reader);
        Self { token: token.into(), bot: BotId(bot.unwrap_or_default()), api_url, proxies, public_key }
    }
}

impl TelegramSettings {
    /// Returns `true` if the server signs with another key than Telegram: it is one for tests, or an offline one.
    #[must_use]
    pub fn has_other_key(&self) -> bool {
        hex(&self.public_key) != TELEGRAM_KEY
    }
}

fn public_key(reader: &mut VariableReader<'_>) -> [u8; 32] {
    const NAME: &str = "TELEGRAM_PUBLIC_KEY";
    let key = unhex(&reader.text(NAME)).and_then(|bytes| bytes.try_into().ok());
    key.unwrap_or_else(|| {
        reader.fault(NAME, "is not a key of 64 hexadecimal digits: leave it out for that of Telegram");
        Default::default()
    })
}
