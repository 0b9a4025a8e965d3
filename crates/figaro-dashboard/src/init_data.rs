//! `initData`, with which Telegram tells a Mini App who opened it.
//!
//! Format and signatures: <https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app> and, for Ed25519,
//! "Validating data for Third-Party Use" below it.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use ring::hmac;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::Deserialize;

use figaro_base::ids::{BotId, UserId};
use figaro_base::secret::{ExposeSecret, SecretString};
use figaro_domain::code::{CodeHash, unhex};

/// Time after which `initData` is too old. A client asks Telegram for it each time that a person opens the Mini App.
const MAX_AGE: TimeDelta = TimeDelta::minutes(5);
/// Time by which Telegram's clock may be ahead of ours.
const MAX_AHEAD: TimeDelta = TimeDelta::minutes(1);
/// Maximum length, in bytes. Telegram sends less than 1,000.
const MAX_BYTES: usize = 8 << 10;

/// Checks `initData` of one bot, and takes each once.
#[derive(Debug)]
pub(crate) struct InitDataCheck {
    bot: BotId,
    /// HMAC key that the bot's token gives.
    token: hmac::Key,
    /// Ed25519 key of Telegram.
    telegram: UnparsedPublicKey<[u8; 32]>,
    /// Start of the bot. Older `initData` is refused: uses before the start are not recorded.
    since: DateTime<Utc>,
    /// Accepted `initData`, until it is too old.
    used: Mutex<HashMap<CodeHash, DateTime<Utc>>>,
}

/// Reason why `initData` signs nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InitDataError {
    #[error("it is not what Telegram sends")]
    Malformed,
    #[error("its hash does not fit the token of the bot")]
    Hash,
    #[error("its signature is not Telegram's")]
    Signature,
}

/// The person that `initData` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opener {
    pub(crate) user: UserId,
    /// Time at which they opened it, by Telegram's clock, in whole seconds.
    pub(crate) at: DateTime<Utc>,
    /// `false` if the same `initData` was used before, is older than five minutes or the bot, or is dated in the future.
    pub(crate) is_fresh: bool,
}

#[derive(Deserialize)]
struct UserField {
    id: i64,
}

impl InitDataCheck {
    /// Checks what Telegram sends for a bot that started at `since`. `telegram` is the Ed25519 key that Telegram signs with.
    pub(crate) fn new(bot: BotId, token: &SecretString, telegram: [u8; 32], since: DateTime<Utc>) -> Self {
        let of_token = hmac::Key::new(hmac::HMAC_SHA256, b"WebAppData");
        let secret = hmac::sign(&of_token, token.expose_secret().as_bytes());
        Self {
            bot,
            token: hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref()),
            telegram: UnparsedPublicKey::new(&ED25519, telegram),
            since: since - TimeDelta::seconds(1),
            used: Mutex::default(),
        }
    }

    /// Returns the person who opened the Mini App.
    ///
    /// # Errors
    /// If the text is not from Telegram, or not for this bot.
    pub(crate) fn opener(&self, text: &str, now: DateTime<Utc>) -> Result<Opener, InitDataError> {
        let mut fields = fields(text).ok_or(InitDataError::Malformed)?;
        let hash = fields.remove("hash").and_then(|hash| unhex(&hash)).ok_or(InitDataError::Malformed)?;
        hmac::verify(&self.token, lines(&fields).as_bytes(), &hash).map_err(|_fault| InitDataError::Hash)?;
        let signature = fields.remove("signature").ok_or(InitDataError::Malformed)?;
        let signature = URL_SAFE_NO_PAD.decode(signature.trim_end_matches('='));
        let signature = signature.map_err(|_fault| InitDataError::Malformed)?;
        let signed = format!("{}:WebAppData\n{}", self.bot, lines(&fields));
        let verified = self.telegram.verify(signed.as_bytes(), &signature);
        verified.map_err(|_fault| InitDataError::Signature)?;
        let at = fields.get("auth_date").and_then(|at| DateTime::from_timestamp(at.parse().ok()?, 0));
        let at = at.ok_or(InitDataError::Malformed)?;
        let user = fields.get("user").and_then(|user| serde_json::from_str::<UserField>(user).ok());
        let user = UserId::telegram(user.ok_or(InitDataError::Malformed)?.id);
        let age = now - at;
        if at < self.since || age >= MAX_AGE || age < -MAX_AHEAD {
            let seconds = age.num_seconds();
            tracing::warn!(%user, seconds, "a Mini App was opened with old data; is the clock of this machine right?");
            return Ok(Opener { user, at, is_fresh: false });
        }
        let mut used = self.used.lock();
        used.retain(|_, until| now < *until);
        // Keyed by the signed text, so the order of the fields does not matter.
        let is_fresh = used.insert(CodeHash::of(&signed), at + MAX_AGE).is_none();
        Ok(Opener { user, at, is_fresh })
    }
}

/// Reads the fields; `None` if the text is too long, has a field twice, or one that would read as several in [`lines`].
fn fields(text: &str) -> Option<BTreeMap<String, String>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut fields = BTreeMap::new();
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let is_ambiguous = name.contains(['=', '\n']) || value.contains('\n');
        if is_ambiguous || fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return None;
        }
    }
    Some(fields)
}

/// Writes the fields as Telegram signs them: in the order of their names, one a line.
fn lines(fields: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use figaro_domain::code::hex;
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    const NOW: i64 = 1_800_000_000;
    const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

    fn telegram() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
    }

    fn check() -> InitDataCheck {
        let key = telegram().public_key().as_ref().try_into().unwrap();
        let since = DateTime::from_timestamp(NOW - 100_000, 0).unwrap();
        InitDataCheck::new(BotId(110_201_543), &TOKEN.to_owned().into(), key, since)
    }

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(NOW, 0).unwrap()
    }

    fn user(id: i64) -> String {
        format!(r#"{{"id":{id},"first_name":"Ann & \u041f","allows_write_to_pm":true}}"#)
    }

    /// Writes fields as a query, signed by Telegram for the bot of a token.
    fn signed(pairs: &[(&str, &str)], token: &str, telegram: &Ed25519KeyPair) -> String {
        let mut all: BTreeMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let bot = token.split(':').next().unwrap();
        let signature = telegram.sign(format!("{bot}:WebAppData\n{}", lines(&all)).as_bytes());
        all.insert("signature".to_owned(), URL_SAFE_NO_PAD.encode(signature));
        let secret = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, b"WebAppData"), token.as_bytes());
        let hash = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref()), lines(&all).as_bytes());
        all.insert("hash".to_owned(), hex(hash.as_ref()));
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish()
    }

    fn opened(at: i64, id: i64) -> String {
        let (at, user) = (at.to_string(), user(id));
        signed(&[("auth_date", &at), ("user", &user), ("query_id", "AAH")], TOKEN, &telegram())
    }

    fn is_fresh(check: &InitDataCheck, text: &str) -> bool {
        let opener = check.opener(text, now()).unwrap();
        assert_eq!(opener.user, UserId::telegram(7));
        opener.is_fresh
    }

    #[test]
    fn init_data_names_the_person_and_counts_once() {
        let (check, text) = (check(), opened(NOW - 10, 7));
        assert!(is_fresh(&check, &text) && !is_fresh(&check, &text));
        let mut pairs: Vec<&str> = text.split('&').collect();
        pairs.reverse();
        assert!(!is_fresh(&check, &pairs.join("&")), "another order is the same");
        assert!(is_fresh(&check, &opened(NOW - 9, 7)));
    }

    #[test]
    fn old_init_data_and_that_of_the_future_is_not_fresh() {
        let times = [
            (NOW - 299, true),
            (NOW - 300, false),
            (NOW + 60, true),
            (NOW + 61, false),
            (0, false),
            (-1, false),
        ];
        for (at, expected) in times {
            assert_eq!(is_fresh(&check(), &opened(at, 7)), expected, "{at}");
        }
        assert_eq!(check().opener(&opened(i64::MAX, 7), now()), Err(InitDataError::Malformed));
        let key = telegram().public_key().as_ref().try_into().unwrap();
        let started = InitDataCheck::new(BotId(110_201_543), &TOKEN.to_owned().into(), key, now());
        assert!(!is_fresh(&started, &opened(NOW - 2, 7)) && is_fresh(&started, &opened(NOW, 7)));
    }

    #[test]
    fn foreign_hashes_and_signatures_are_refused() {
        let (at, user) = (NOW.to_string(), user(7));
        let pairs = [("auth_date", at.as_str()), ("user", user.as_str())];
        let other = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
        for (text, fault) in [
            (signed(&pairs, "110201543:BBB", &telegram()), InitDataError::Hash),
            (signed(&pairs, "5:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", &telegram()), InitDataError::Hash),
            (signed(&pairs, TOKEN, &other), InitDataError::Signature),
            (signed(&pairs[..1], TOKEN, &telegram()), InitDataError::Malformed),
            (signed(&pairs[1..], TOKEN, &telegram()), InitDataError::Malformed),
            (signed(&[pairs[0], ("user", "{}")], TOKEN, &telegram()), InitDataError::Malformed),
            (signed(&[pairs[0], ("user", "x\nuser=y")], TOKEN, &telegram()), InitDataError::Malformed),
            (format!("{}&user={{\"id\":8}}", opened(NOW, 7)), InitDataError::Malformed),
            (opened(NOW, 7).replace("%22id%22%3A7", "%22id%22%3A8"), InitDataError::Hash),
            (opened(NOW, 7).replace("hash=", "hash=00"), InitDataError::Hash),
            (opened(NOW, 7).replace("hash=", "hash=x"), InitDataError::Malformed),
            (opened(NOW, 7).replace("signature=", "sign="), InitDataError::Hash),
            (format!("{}&x={}", opened(NOW, 7), "x".repeat(MAX_BYTES)), InitDataError::Malformed),
            (String::new(), InitDataError::Malformed),
        ] {
            assert_eq!(check().opener(&text, now()), Err(fault), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_changed_byte_is_refused(at in 0_usize..200, byte in proptest::char::range('!', '~')) {
            let text = opened(NOW, 7);
            let at = at % text.len();
            let mut changed = text.clone();
            changed.replace_range(at..=at, &byte.to_string());
            let taken = check().opener(&changed, now());
            // Letters of an escape and of the hash may be of either case.
            proptest::prop_assert!(taken.is_err() || changed.eq_ignore_ascii_case(&text), "{changed}");
        }

        #[test]
        fn arbitrary_text_is_refused(text in ".{0,200}") {
            proptest::prop_assert!(check().opener(&text, now()).is_err());
        }
    }
}
