//! The tokens (JWT) of callers: `JWT_SECRET`, `JWT_PUBLIC_KEY`, `HTTP_JWT_AUDIENCE`, `HTTP_JWT_ISSUER`.

use super::super::reader::Reader;
use crate::secret::SecretString;

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
}

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
        let (audience, issuer) = (reader.get("HTTP_JWT_AUDIENCE"), reader.get("HTTP_JWT_ISSUER"));
        let Some(key) = key else {
            let set = [("HTTP_JWT_AUDIENCE", audience.is_some()), ("HTTP_JWT_ISSUER", issuer.is_some())];
            for (name, _) in set.iter().filter(|(_, is_set)| *is_set) {
                reader.fault(name, "holds for tokens, and none are taken: set JWT_SECRET or JWT_PUBLIC_KEY");
            }
            return None;
        };
        Some(Self { key, audience, issuer })
    }
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
