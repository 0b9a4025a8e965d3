//! Tokens (JWT) of callers. The algorithm is that of the configured key, whatever a token claims. A token without an
//! expiry is refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::Deserialize;
use serde_json::Value;

use super::super::error::GatewayError;
use super::names::person_named;
use figaro_base::secret::ExposeSecret;
use figaro_config::{Rights, TokenKey, TokenSettings, is_tenant};

/// Tolerated clock difference, in seconds.
const LEEWAY: u64 = 30;
/// Prefix of the scopes meant for Figaro. A token may have others.
const SCOPE: &str = "figaro:";

/// Verifies tokens with the configured key.
pub(super) struct Verifier {
    key: DecodingKey,
    validation: Validation,
}

impl std::fmt::Debug for Verifier {
    /// The key may be a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenClaims {
    pub(super) user: String,
    pub(super) tenant: Option<String>,
    pub(super) rights: Rights,
}

#[derive(Debug, Deserialize)]
struct Claims {
    sub: String,
    #[serde(default)]
    tenant_id: Option<String>,
    #[serde(default)]
    scope: Option<String>,
}

impl Verifier {
    /// Creates a verifier. `None` if the public key cannot be read; the settings refuse such a key earlier.
    pub(super) fn new(settings: &TokenSettings) -> Option<Self> {
        let (key, algorithm) = match &settings.key {
            TokenKey::Secret(secret) => {
                (DecodingKey::from_secret(secret.expose_secret().as_bytes()), Algorithm::HS256)
            }
            TokenKey::Public(pem) => (DecodingKey::from_rsa_pem(pem.as_bytes()).ok()?, Algorithm::RS256),
        };
        let mut validation = Validation::new(algorithm);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        let TokenSettings { audience, issuer, .. } = settings;
        // Without a configured audience, the holder of the key is responsible for it.
        validation.validate_aud = audience.is_some();
        audience.iter().for_each(|audience| validation.set_audience(&[audience]));
        issuer.iter().for_each(|issuer| validation.set_issuer(&[issuer]));
        // A claim that must match must be present.
        let required =
            [Some("exp"), Some("sub"), audience.as_ref().map(|_| "aud"), issuer.as_ref().map(|_| "iss")];
        validation.set_required_spec_claims(&required.into_iter().flatten().collect::<Vec<_>>());
        Some(Self { key, validation })
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    /// If the token is not genuine, not valid now, or has no usable claims.
    pub(super) fn verify(&self, token: &str) -> Result<TokenClaims, GatewayError> {
        if has_critical(token) {
            return Err(GatewayError::unauthorized("the token has a `crit` that is not known here"));
        }
        let decoded = decode::<Claims>(token, &self.key, &self.validation).map_err(|error| {
            GatewayError::unauthorized(match error.kind() {
                ErrorKind::ExpiredSignature => "the token has expired",
                ErrorKind::ImmatureSignature => "the token is not valid yet",
                ErrorKind::InvalidAudience => "the token is for somebody else: its `aud` is not JWT_AUDIENCE",
                ErrorKind::InvalidIssuer => "the token is of somebody else: its `iss` is not JWT_ISSUER",
                ErrorKind::MissingRequiredClaim(claim) if claim == "aud" || claim == "iss" => {
                    "the token does not say whom it is for (`aud`), or who has given it (`iss`), as it has to here"
                }
                ErrorKind::MissingRequiredClaim(_) => "the token has to have `sub` and `exp`",
                ErrorKind::InvalidAlgorithm => "the token is signed by another algorithm than is set up here",
                _ => "neither a key nor a token that is known here",
            })
        })?;
        let Claims { sub, tenant_id, scope } = decoded.claims;
        let user = person_named("the `sub` of the token", &sub)?;
        if tenant_id.as_deref().is_some_and(|tenant| !is_tenant(tenant)) {
            return Err(GatewayError::unauthorized("the `tenant_id` of the token is no name of a tenant"));
        }
        Ok(TokenClaims { user, tenant: tenant_id, rights: rights_of(scope.as_deref().unwrap_or_default()) })
    }
}

/// Returns the rights in the scopes meant for Figaro. An unknown scope may stand for fewer rights than the default
/// ones. So it grants nothing and cancels the default.
fn rights_of(scope: &str) -> Rights {
    let named = scope.split_whitespace().filter_map(|scope| scope.strip_prefix(SCOPE));
    let (rights, is_known) = named.fold((Rights::NONE, true), |(rights, is_known), name| {
        rights.and(name).map_or((rights, false), |rights| (rights, is_known))
    });
    if is_known { rights.or_usual() } else { rights }
}

/// Returns `true` if the header of a token has `crit`, which lists extensions that a reader must know. None is known
/// here.
fn has_critical(token: &str) -> bool {
    let head = token.split('.').next().unwrap_or_default().trim_end_matches('=');
    let head = URL_SAFE_NO_PAD.decode(head).ok().and_then(|head| serde_json::from_slice::<Value>(&head).ok());
    head.is_some_and(|head| head.get("crit").is_some())
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    const SECRET: &str = "a secret of more than thirty-two letters";

    fn verifier() -> Verifier {
        of(TokenKey::Secret(SECRET.into()), None, None)
    }

    fn of(key: TokenKey, audience: Option<&str>, issuer: Option<&str>) -> Verifier {
        let (audience, issuer) = (audience.map(str::to_owned), issuer.map(str::to_owned));
        Verifier::new(&TokenSettings { key, audience, issuer, per_minute: None, per_day: None }).unwrap()
    }

    fn token(claims: &Value) -> String {
        encode(&Header::default(), claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
    }

    /// With its signature.
    fn signed(head_and_claims: &str) -> String {
        let key = EncodingKey::from_secret(SECRET.as_bytes());
        let signature =
            jsonwebtoken::crypto::sign(head_and_claims.as_bytes(), &key, Algorithm::HS256).unwrap();
        format!("{head_and_claims}.{signature}")
    }

    fn in_an_hour() -> i64 {
        figaro_base::clock::Clock::system().now().timestamp() + 3600
    }

    #[test]
    fn a_genuine_token_says_who_asks_and_what_they_may() {
        let exp = in_an_hour();
        let said = verifier().verify(&token(&json!({"sub": "ann", "exp": exp}))).unwrap();
        assert_eq!(said, TokenClaims { user: "ann".to_owned(), tenant: None, rights: Rights::USUAL });
        let claims = json!({"sub": "Ann@Example.com", "exp": exp, "tenant_id": "acme", "scope": "openid figaro:chat figaro:owner"});
        let said = verifier().verify(&token(&claims)).unwrap();
        assert_eq!(said.tenant.as_deref(), Some("acme"));
        assert_eq!(said.rights, Rights { chat: true, owner: true, ..Rights::NONE });
        let id = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"ann@example.com").to_string();
        assert_eq!(said.user, id);
    }

    #[test]
    fn a_scope_that_is_not_known_gives_nothing_and_takes_the_usual_rights() {
        let chat = Rights { chat: true, ..Rights::NONE };
        for (scope, rights) in [
            ("", Rights::USUAL),
            ("openid email", Rights::USUAL),
            ("figaro:chat", chat),
            ("figaro:owner", Rights { owner: true, ..Rights::USUAL }),
            ("figaro:read", Rights::NONE),
            ("figaro:", Rights::NONE),
            ("openid figaro:chat figaro:read", chat),
            ("figaro:Chat", Rights::NONE),
        ] {
            assert_eq!(rights_of(scope), rights, "{scope}");
        }
    }

    #[test]
    fn a_token_that_is_not_genuine_or_has_no_end_is_refused() {
        let exp = in_an_hour();
        let good = token(&json!({"sub": "ann", "exp": exp}));
        let other =
            encode(&Header::default(), &json!({"sub": "ann", "exp": exp}), &EncodingKey::from_secret(b"x"));
        let stronger = encode(
            &Header::new(Algorithm::HS512),
            &json!({"sub": "ann", "exp": exp}),
            &EncodingKey::from_secret(SECRET.as_bytes()),
        );
        let mut critical = serde_json::to_value(Header::default()).unwrap();
        critical["crit"] = json!(["exp"]);
        let critical = URL_SAFE_NO_PAD.encode(critical.to_string());
        // {"alg":"none"} with the claims of the good one and no signature.
        let parts: Vec<&str> = good.split('.').collect();
        let none = format!("eyJhbGciOiJub25lIn0.{}.", parts[1]);
        for (token, words) in [
            (other.unwrap(), "neither a key nor a token"),
            (stronger.unwrap(), "another algorithm"),
            (none, "neither a key nor a token"),
            (signed(&format!("{critical}.{}", parts[1])), "`crit`"),
            (format!("{}.{}.", parts[0], parts[1]), "neither a key nor a token"),
            (token(&json!({"sub": "ann"})), "`sub` and `exp`"),
            (token(&json!({"exp": exp})), "neither a key nor a token"),
            (token(&json!({"sub": "ann", "exp": exp - 7200})), "expired"),
            (token(&json!({"sub": "ann", "exp": exp, "nbf": exp - 60})), "not valid yet"),
            (token(&json!({"sub": "ann", "exp": exp, "tenant_id": "a:b"})), "no name of a tenant"),
        ] {
            let refused = verifier().verify(&token).unwrap_err();
            assert!(refused.message.contains(words), "{words}: {refused:?}");
        }
    }

    #[test]
    fn a_token_for_others_or_of_others_is_refused_where_these_are_named() {
        let exp = in_an_hour();
        let key = || TokenKey::Secret(SECRET.into());
        let (us, them) = ("figaro", "https://id.example.com");
        let checks = [
            (None, None, json!({"aud": "x", "iss": "y"}), None),
            (Some(us), None, json!({"aud": us}), None),
            (Some(us), None, json!({"aud": ["x", us]}), None),
            (Some(us), None, json!({"aud": "x"}), Some("`aud` is not")),
            (Some(us), None, json!({"aud": []}), Some("`aud` is not")),
            (Some(us), None, json!({}), Some("does not say")),
            (None, Some(them), json!({"iss": them}), None),
            (None, Some(them), json!({"iss": "https://id.example.com.evil"}), Some("`iss` is not")),
            (None, Some(them), json!({}), Some("does not say")),
            (Some(us), Some(them), json!({"aud": us, "iss": them}), None),
            (Some(us), Some(them), json!({"aud": us}), Some("does not say")),
        ];
        for (audience, issuer, mut claims, refused) in checks {
            let shown = claims.to_string();
            claims["sub"] = "ann".into();
            claims["exp"] = exp.into();
            let said = of(key(), audience, issuer).verify(&token(&claims)).map_err(|error| error.message);
            match refused {
                None => assert!(said.is_ok(), "{audience:?} {issuer:?} {shown}: {said:?}"),
                Some(words) => assert!(said.unwrap_err().contains(words), "{audience:?} {issuer:?} {shown}"),
            }
        }
    }

    #[test]
    fn a_public_key_is_no_secret_of_another_algorithm() {
        let pem = include_str!("test_key.pem");
        let verifier = of(TokenKey::Public(pem.to_owned()), None, None);
        let claims = json!({"sub": "ann", "exp": in_an_hour()});
        let forged = encode(&Header::default(), &claims, &EncodingKey::from_secret(pem.as_bytes())).unwrap();
        let refused = verifier.verify(&forged).unwrap_err();
        assert!(refused.message.contains("another algorithm"), "{refused:?}");
    }
}
