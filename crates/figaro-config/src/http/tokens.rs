//! JWTs of callers: `JWT_SECRET`, `JWT_PUBLIC_KEY`, `JWT_AUDIENCE`, `JWT_ISSUER`, `JWT_RATE`, `JWT_TOKENS`.

use std::str::FromStr;

use super::super::reader::VariableReader;
use figaro_base::secret::SecretString;

/// Minimum length of a secret in bytes. HS256 needs as many as its hash has.
const MIN_SECRET: usize = 32;

/// Accepted JWTs and limits of their subjects.
#[derive(Debug, Clone)]
pub struct TokenSettings {
    /// Key that verifies the signature.
    pub key: TokenKey,
    /// Required audience (`aud`); `None` for any.
    pub audience: Option<String>,
    /// Required issuer (`iss`); `None` for any.
    pub issuer: Option<String>,
    /// Maximum number of requests per subject and minute; `None` for no limit.
    pub per_minute: Option<u32>,
    /// Maximum number of model tokens per subject and day; `None` for no limit.
    pub per_day: Option<u64>,
}

/// Variables that are valid only if tokens are accepted.
const OF_TOKENS: [&str; 4] = ["JWT_AUDIENCE", "JWT_ISSUER", "JWT_RATE", "JWT_TOKENS"];

/// Key that verifies the signature. It fixes the algorithm: a token that names another one is rejected.
#[derive(Debug, Clone)]
pub enum TokenKey {
    /// Secret for HS256.
    Secret(SecretString),
    /// Public key in PEM for RS256.
    Public(String),
}

impl TokenSettings {
    /// Reads these settings; `None` if no tokens are accepted.
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Option<Self> {
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

/// Reads a whole number above 0; `None` for no limit.
fn read_bound<T: FromStr + PartialOrd + Default>(reader: &mut VariableReader<'_>, name: &str) -> Option<T> {
    let text = reader.get(name)?;
    let number = text.trim().parse().ok().filter(|number| *number > T::default());
    if number.is_none() {
        reader.fault(name, "is not a whole number above 0; leave it out for no bound");
    }
    number
}

fn read_key(reader: &mut VariableReader<'_>) -> Option<TokenKey> {
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
