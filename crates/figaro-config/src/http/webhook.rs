//! Telegram webhook: `WEBHOOK_URL`, `WEBHOOK_SECRET`.

use super::super::reader::VariableReader;
use figaro_base::secret::SecretString;

/// Minimum length of the secret. A shorter one can be guessed.
const MIN_SECRET: usize = 16;
/// Path prefixes of the gateway's own endpoints.
const RESERVED: [&str; 5] = ["/v1", "/healthz", "/readyz", "/metrics", "/openapi.json"];

/// Webhook that receives Telegram's updates.
#[derive(Debug, Clone)]
pub struct WebhookSettings {
    /// Public URL, registered with Telegram.
    pub url: String,
    /// Path of the URL, served by the gateway.
    pub path: String,
    /// Secret that Telegram sends with each update.
    pub secret: SecretString,
}

impl WebhookSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>, has_gateway: bool) -> Option<Self> {
        reader.get("WEBHOOK_URL")?;
        let url = reader.url("WEBHOOK_URL");
        let path = url::Url::parse(&url).map(|url| url.path().to_owned()).unwrap_or_default();
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/_-.~".contains(&b);
        let is_reserved = RESERVED.iter().any(|reserved| path.starts_with(reserved));
        if path.len() < 2 || !path.bytes().all(is_plain) || is_reserved {
            reader.fault(
                "WEBHOOK_URL",
                "has to have a path of its own behind the host, such as https://bot.example.com/telegram",
            );
        }
        if !has_gateway {
            reader.fault(
                "WEBHOOK_URL",
                "needs HTTP_ADDR: the address at which Figaro itself listens, behind your proxy",
            );
        }
        let secret = reader.required(
            "WEBHOOK_SECRET",
            "Telegram shows it with each update; 16 to 256 letters, digits, _ and -",
        );
        let secret = secret.unwrap_or_default();
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let fits = (MIN_SECRET..=256).contains(&secret.len()) && secret.bytes().all(is_letter);
        if !fits && !secret.is_empty() {
            reader.fault("WEBHOOK_SECRET", "is not of 16 to 256 letters, digits, _ and -");
        }
        Some(Self { url, path, secret: secret.into() })
    }
}
