//! The tokens (JWT) of callers: `JWT_SECRET`, `JWT_PUBLIC_KEY`, `JWT_AUDIENCE`, `JWT_ISSUER`, `JWT_RATE`, `JWT_TOKENS`.

use std::str::FromStr;

use super::super::reader::Reader;
use figaro_base::secret::SecretString;

/// A secret of fewer bytes can be guessed: HS256 asks for as many as its hash has.
const MIN_SECRET: usize = 32;

/// The tokens that callers may show.
#[derive(Debug, Clone)]
pub struct TokenSettings {
    /// What they are signed with.
    pub key: TokenKey,
    /// Whom they have to be for (`aud`); `None` for anybody.
    pub audience: Option<String>,
    /// Who has to have given them (`iss`); `None` for anybody.
    pub issuer: Option<String>,
    /// The most requests of each subject in a minute.
    pub per_minute: Option<u32>,
    /// The most tokens of models that each subject has in a day.
    pub per_day: Option<u64>,
}

/// What holds for tokens alone.
const OF_TOKENS: [&str; 4] = ["JWT_AUDIENCE", "JWT_ISSUER", "JWT_RATE", "JWT_TOKENS"];

/// What proves that a token is genuine. It fixes the algorithm: a token that names another is refused.
#[derive(Debug, Clone)]
pub enum TokenKey {
    /// HS256, by this secret.
    Secret(SecretString),
    /// RS256, by this public key in PEM.
    Public(String),
}

impl TokenSettings {
    /// `None` where no tokens are taken.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let key = read_key(reader);
        let Some(key) = key else {
            for name in OF_TOKENS {
                if reader.get(name).is_some() {
                    reader.fault(
                        name,
                        "holds for tokens, and none are taken: set JWT_SECRET or JWT_PUBLIC_KEY",
                    );
                }
            }
            return None;
        };
        Some(Self {
            key,
            audience: reader.get("JWT_AUDIENCE"),
            issuer: reader.get("JWT_ISSUER"),
            per_minute: read_bound(reader, "JWT_RATE"),
            per_day: read_bound(reader, "JWT_TOKENS"),
        })
    }
}

/// A whole number above 0; `None` for no bound.
fn read_bound<T: FromStr + PartialOrd + Default>(reader: &mut Reader<'_>, name: &str) -> Option<T> {
    let text = reader.get(name)?;
    let number = text.trim().parse().ok().filter(|number| *number > T::default());
    if number.is_none() {
        reader.fault(name, "is not a whole number above 0; leave it out for no bound");
    }
    number
}

fn read_key(reader: &mut Reader<'_>) -> Option<TokenKey> {
    let (secret, public) = (reader.get("JWT_SECRET"), reader.get("JWT_PUBLIC_KEY"));
    match (secret, public) {
        (Some(_), Some(_)) => {
            reader.fault(
                "JWT_PUBLIC_KEY",
                "is set beside JWT_SECRET: tokens are signed by one of them; leave the other out",
            );
            None
        }
        (Some(secret), None) => {
            if secret.len() < MIN_SECRET {
                reader.fault("JWT_SECRET", "is too short to be safe: it takes 32 characters or more");
            }
            Some(TokenKey::Secret(secret.into()))
        }
        // In a file of variables a line break is written as \n.
        (None, Some(pem)) => {
            let pem = pem.replace("\\n", "\n");
            if !is_public_key(&pem) {
                reader.fault(
                    "JWT_PUBLIC_KEY",
                    "is not a public RSA key in PEM: it begins with -----BEGIN PUBLIC KEY-----",
                );
            }
            Some(TokenKey::Public(pem))
        }
        (None, None) => None,
    }
}

fn is_public_key(pem: &str) -> bool {
    let is_begun = |kind: &str| pem.trim_start().starts_with(&format!("-----BEGIN {kind}-----"));
    (is_begun("PUBLIC KEY") || is_begun("RSA PUBLIC KEY"))
        && jsonwebtoken::DecodingKey::from_rsa_pem(pem.as_bytes()).is_ok()
}
