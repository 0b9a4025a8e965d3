//! HTTP gateway: addresses, access and model names. `HTTP_ADDR`, `METRICS_ADDR`, `API_KEYS`, `HTTP_MODELS`, and the variables of JWT and
//! the webhook.

mod keys;
mod models;
mod tokens;
mod webhook;

use std::net::{SocketAddr, ToSocketAddrs};

pub use self::keys::{ApiKey, KeyHash, Rights, is_tenant};
pub use self::models::ModelAliases;
pub use self::tokens::{TokenKey, TokenSettings};
pub use self::webhook::WebhookSettings;
use super::reader::VariableReader;
use figaro_base::secret::SecretString;

/// Settings of the HTTP gateway.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Address to listen on; `None` disables the gateway.
    pub address: Option<SocketAddr>,
    /// Address of health and metrics; `None` for none.
    pub metrics_address: Option<SocketAddr>,
    /// Base URL at which other processes reach the gateway, without a trailing slash; empty for none.
    pub peer_url: String,
    /// Base URL at which browsers reach the gateway, without a trailing slash; empty for its address on this machine.
    pub public_url: String,
    /// People who have a dashboard.
    pub dashboard: DashboardUsers,
    /// API keys of callers.
    pub keys: Vec<ApiKey>,
    /// Accepted JWTs; `None` accepts none.
    pub tokens: Option<TokenSettings>,
    /// Agents behind model names that clients have built in.
    pub models: ModelAliases,
    /// Webhook for Telegram's updates; `None` to poll for them.
    pub webhook: Option<WebhookSettings>,
}

/// People who have a dashboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DashboardUsers {
    /// Nobody: its pages are not served, and `/dashboard` gives no link.
    Off,
    /// Owners of the bot.
    #[default]
    Owners,
    /// Everybody who may talk to the bot; those who are no owners see only what is theirs.
    Everybody,
}

impl DashboardUsers {
    const CHOICES: [(&str, Self); 3] =
        [("owners", Self::Owners), ("everybody", Self::Everybody), ("off", Self::Off)];
}

impl HttpSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        let (address, metrics_address) =
            (read_address(reader, "HTTP_ADDR"), read_address(reader, "METRICS_ADDR"));
        let (keys, tokens) = (keys::read(reader), TokenSettings::read(reader));
        let webhook = WebhookSettings::read(reader, address.is_some());
        let models = ModelAliases::read(reader);
        let peer_url = read_peer_url(reader, address);
        let is_public = reader.get("HTTP_PUBLIC_URL").is_some();
        let public_url = if is_public { reader.url("HTTP_PUBLIC_URL") } else { String::new() };
        let settings = Self {
            address,
            metrics_address,
            peer_url,
            public_url,
            dashboard: reader.choice("DASHBOARD", &DashboardUsers::CHOICES),
            keys,
            tokens,
            models,
            webhook,
        };
        let has_webhook = settings.webhook.is_some();
        let is_open = settings.keys.is_empty() && settings.tokens.is_none();
        let is_reached =
            |address: Option<SocketAddr>| address.is_some_and(|address| !address.ip().is_loopback());
        for (name, address) in [("HTTP_ADDR", address), ("METRICS_ADDR", metrics_address)] {
            if is_open && is_reached(address) {
                reader.fault(
                    name,
                    "can be reached from other machines, so callers need a key: set API_KEYS, JWT_SECRET or JWT_PUBLIC_KEY, or listen on 127.0.0.1",
                );
            }
        }
        if address == metrics_address && address.is_some_and(|address| address.port() != 0) {
            reader.fault("METRICS_ADDR", "is the address of HTTP_ADDR: give it another port");
        }
        if is_open && has_webhook && !is_reached(address) {
            // A proxy that forwards Telegram's updates would forward requests of others too.
            reader.fault(
                "WEBHOOK_URL",
                "has others reach HTTP_ADDR, so callers need a key: set API_KEYS, JWT_SECRET or JWT_PUBLIC_KEY",
            );
        }
        settings
    }

    /// Returns the secrets of the JWTs and of the webhook.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        let of_tokens = match self.tokens.as_ref().map(|tokens| &tokens.key) {
            Some(TokenKey::Secret(secret)) => Some(secret),
            Some(TokenKey::Public(_)) | None => None,
        };
        of_tokens.into_iter().chain(self.webhook.as_ref().map(|webhook| &webhook.secret))
    }
}

/// Reads the URL for other processes. Without one it is that of the address, if that names one of this machine.
fn read_peer_url(reader: &mut VariableReader<'_>, address: Option<SocketAddr>) -> String {
    if reader.get("HTTP_PEER_URL").is_some() {
        return reader.url("HTTP_PEER_URL");
    }
    let address = address.filter(|address| !address.ip().is_unspecified() && address.port() != 0);
    address.map_or_else(String::new, |address| format!("http://{address}"))
}

/// Reads an address with port, or a port alone on this machine.
fn read_address(reader: &mut VariableReader<'_>, name: &'static str) -> Option<SocketAddr> {
    let text = reader.get(name)?;
    let address = match text.trim_start_matches(':').parse::<u16>() {
        Ok(port) => Some(SocketAddr::from(([127, 0, 0, 1], port))),
        // `localhost` resolves on this machine; other names would be looked up in the network.
        Err(_) if text.starts_with("localhost:") => {
            text.to_socket_addrs().ok().and_then(|mut all| all.next())
        }
        Err(_) => text.parse().ok(),
    };
    if address.is_none() {
        reader.fault(name, "is not an address with a port, such as 127.0.0.1:8080, or a port alone");
    }
    address
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::variables::Variables;
    use super::*;

    const SECRET: &str = "a secret of more than thirty-two letters";

    fn read(pairs: &[(&str, &str)]) -> (HttpSettings, Vec<String>) {
        let values: HashMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let variables = Variables::builtin();
        let mut reader = VariableReader::new(&values, &variables);
        let settings = HttpSettings::read(&mut reader);
        let faults = reader.finish_part(()).err().map(|faults| faults.0).unwrap_or_default();
        (settings, faults)
    }

    #[test]
    fn an_address_is_read_as_people_write_it() {
        let cases = [
            ("127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("8080", Some("127.0.0.1:8080")),
            (":8080", Some("127.0.0.1:8080")),
            ("[::1]:8080", Some("[::1]:8080")),
            ("8.8.8.8", None),
            ("example.com:80", None),
            ("70000", None),
            ("http://127.0.0.1:8080", None),
        ];
        for (text, wanted) in cases {
            let (settings, faults) = read(&[("HTTP_ADDR", text)]);
            assert_eq!(settings.address.map(|address| address.to_string()).as_deref(), wanted, "{text}");
            assert_eq!(faults.len(), usize::from(wanted.is_none()), "{text}: {faults:?}");
        }
    }

    #[test]
    fn nobody_listens_for_other_machines_without_a_key() {
        let (_, faults) = read(&[("HTTP_ADDR", "0.0.0.0:8080")]);
        assert!(faults.len() == 1 && faults[0].contains("set API_KEYS"), "{faults:?}");
        for key in [("API_KEYS", "app:0123456789abcdefXYZ"), ("JWT_SECRET", SECRET)] {
            assert_eq!(read(&[("HTTP_ADDR", "0.0.0.0:8080"), key]).1, Vec::<String>::new(), "{}", key.0);
        }
        assert_eq!(read(&[("HTTP_ADDR", "127.0.0.1:8080")]).1, Vec::<String>::new());
        assert!(read(&[("METRICS_ADDR", "[::]:9464")]).1[0].contains("need a key"));
        let (_, faults) = read(&[("HTTP_ADDR", "8080"), ("METRICS_ADDR", "127.0.0.1:8080")]);
        assert!(faults[0].contains("give it another port"), "{faults:?}");
    }

    #[test]
    fn names_of_clients_stand_for_models_each_once() {
        let (settings, faults) = read(&[("HTTP_MODELS", "gpt-4o=figaro, gpt-4o-mini = researcher,*=figaro")]);
        assert_eq!(faults, Vec::<String>::new());
        let meant = ["gpt-4o", "gpt-4o-mini", "o9"].map(|name| settings.models.meant(name));
        assert_eq!(meant, [Some("figaro"), Some("researcher"), Some("figaro")]);
        assert_eq!(settings.models.names().collect::<Vec<_>>(), ["gpt-4o", "gpt-4o-mini"]);
        assert_eq!(read(&[]).0.models.meant("gpt-4o"), None);
        for wrong in ["gpt-4o", "=figaro", "gpt-4o=", "a=b=c", "a=figaro,a=researcher"] {
            let (_, faults) = read(&[("HTTP_MODELS", wrong)]);
            assert!(faults.len() == 1 && faults[0].contains("NAME=MODEL"), "{wrong}: {faults:?}");
        }
    }

    #[test]
    fn a_key_of_tokens_is_safe_and_there_is_one() {
        for (pairs, words) in [
            (&[("JWT_SECRET", "short")][..], "too short"),
            (&[("JWT_PUBLIC_KEY", "nonsense")], "not a public RSA key"),
            (&[("JWT_SECRET", "x"), ("JWT_PUBLIC_KEY", "y")], "beside JWT_SECRET"),
            (&[("JWT_AUDIENCE", "figaro")], "none are taken"),
            (&[("JWT_RATE", "60")], "none are taken"),
            (&[("JWT_SECRET", SECRET), ("JWT_RATE", "0")], "whole number above 0"),
            (&[("JWT_SECRET", SECRET), ("JWT_TOKENS", "many")], "whole number above 0"),
            (&[("JWT_ISSUER", "https://id.example.com")], "none are taken"),
        ] {
            let (_, faults) = read(pairs);
            assert!(faults.len() == 1 && faults[0].contains(words), "{words}: {faults:?}");
            assert!(!faults[0].contains("nonsense") && !faults[0].contains("short)"), "{faults:?}");
        }
    }
}
