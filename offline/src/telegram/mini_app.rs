//! Opening of Mini Apps: the address that a client loads, with the signed data of the person in its fragment. Used by the
//! page and by tests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use url::{Host, Url};

use super::possible::{Possible, chat_mut, known, no};
use super::state::TelegramState;
use super::world::{ChatType, Person, inline_buttons};

/// Public key of the offline Telegram as hexadecimal digits, for the setting `TELEGRAM_PUBLIC_KEY` of a bot. Its private key
/// is public too: only a bot of the demo or of a test may trust it.
pub const MINI_APP_KEY: &str = "1714db9376c45d373818da41034262a16b4498e756d96d06e49cc59d94e6b997";

/// Private key of [`MINI_APP_KEY`].
const SEED: &[u8; 32] = b"figaro-offline, not of Telegram.";
/// Version of the Mini App API that the page claims to speak.
const VERSION: &str = "9.1";

/// Button of the bot that opens a Mini App, in the private chat of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MiniAppButton<'a> {
    /// Menu button of the chat.
    Menu,
    /// Inline button of a message.
    Inline {
        /// `message_id` of the message.
        message_id: i64,
        /// `web_app.url` of the button.
        url: &'a str,
    },
}

/// Press of a person on a button that opens a Mini App.
pub(super) struct MiniAppPress<'a> {
    /// User id of the person, also the id of the private chat.
    pub(super) user: i64,
    pub(super) button: MiniAppButton<'a>,
    /// Colors of the client, as the `ThemeParams` object.
    pub(super) theme: &'a Value,
}

/// Opens a Mini App at `now`, in Unix time. Returns the address that the client loads. Errors if the person is unknown, or has
/// no such button.
pub(super) fn open(
    state: &mut TelegramState,
    token: &str,
    press: &MiniAppPress<'_>,
    now: i64,
) -> Possible<String> {
    let user = user_json(known(state, press.user)?).to_string();
    let app = pressed(state, press)?;
    let auth_date = now.to_string();
    let query_id = match press.button {
        MiniAppButton::Menu => None,
        MiniAppButton::Inline { .. } => Some(state.fresh("app-")),
    };
    let query_id = query_id.as_deref().map(|id| ("query_id", id));
    let fields: Vec<_> = query_id.into_iter().chain([("user", &*user), ("auth_date", &*auth_date)]).collect();
    let mark = if app.contains('#') { '&' } else { '#' };
    let (data, theme) = (init_data(token, &fields), press.theme.to_string());
    let launch = [
        ("tgWebAppData", &*data),
        ("tgWebAppVersion", VERSION),
        ("tgWebAppPlatform", "web"),
        ("tgWebAppThemeParams", &*theme),
    ];
    Ok(format!("{app}{mark}{}", query(&launch)))
}

/// Signs the data that a Mini App gets, as Telegram does for the bot with this token. Returns the fields as a query string,
/// with `signature` and `hash` added.
///
/// The usual fields are `user` (JSON), `auth_date` (Unix time) and `query_id`, but any are signed: so a test can age data, or
/// make that of a foreign bot.
#[must_use]
pub fn init_data(token: &str, fields: &[(&str, &str)]) -> String {
    let bot = token.split(':').next().unwrap_or_default();
    let for_others = format!("{bot}:WebAppData\n{}", check_string(fields));
    let signature = URL_SAFE_NO_PAD.encode(key_pair().sign(for_others.as_bytes()));
    let mut signed = fields.to_vec();
    signed.push(("signature", &signature));
    let secret = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, b"WebAppData"), token.as_bytes());
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref());
    let tag = hmac::sign(&key, check_string(&signed).as_bytes());
    let hash: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    signed.push(("hash", &hash));
    query(&signed)
}

/// Returns the reason why Telegram's test environment refuses the address of a Mini App, if it does. It takes HTTPS, and
/// HTTP. Here HTTP leads to this machine alone.
pub(super) fn fault_of_url(url: &str) -> Option<&'static str> {
    if url.is_empty() {
        return Some("URL host is empty");
    }
    let parsed = Url::parse(url).ok();
    let is_taken = parsed.is_some_and(|url| match (url.scheme(), url.host()) {
        ("https", Some(_)) => true,
        ("http", Some(Host::Domain(name))) => name == "localhost",
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        _ => false,
    });
    (!is_taken).then_some("Only HTTPS links are allowed")
}

/// Returns the address of the pressed button.
fn pressed(state: &mut TelegramState, press: &MiniAppPress<'_>) -> Possible<String> {
    if chat_mut(state, press.user)?.kind != ChatType::Private {
        return no("Mini Apps open in private chats alone");
    }
    let url = match press.button {
        MiniAppButton::Menu => state.menu.shown(press.user)["web_app"]["url"].as_str().map(ToOwned::to_owned),
        MiniAppButton::Inline { message_id, url } => {
            let message = chat_mut(state, press.user)?.messages.get(&message_id);
            let markup = message.and_then(|message| message.get("reply_markup"));
            inline_buttons(markup).any(|button| button["web_app"]["url"] == url).then(|| url.to_owned())
        }
    };
    url.map_or_else(|| no("this button is not there any more"), Ok)
}

/// Returns the `WebAppUser` object of a person, in Telegram's order.
fn user_json(person: &Person) -> Value {
    let mut user = json!({"id": person.id, "first_name": person.first_name});
    if let Some(username) = &person.username {
        user["username"] = json!(username);
    }
    if let Some(code) = &person.language_code {
        user["language_code"] = json!(code);
    }
    user["allows_write_to_pm"] = json!(true);
    user
}

/// Returns the text that is signed: a line for each field, sorted by name.
fn check_string(fields: &[(&str, &str)]) -> String {
    let mut sorted = fields.to_vec();
    sorted.sort_unstable();
    sorted.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n")
}

fn query(fields: &[(&str, &str)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

/// Percent-encodes all but letters, digits and `-_.~`. A space becomes `%20`, as in the addresses of Telegram's clients.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let written = |byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(written).collect()
}

#[expect(
    clippy::expect_used,
    reason = "the seed is part of the build, and has the right length; tests sign with it"
)]
fn key_pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(SEED).expect("a seed has 32 bytes")
}
