//! Identification of callers: by key, by token, or anonymous.

mod account;
mod headers;
mod known;
mod names;
mod subjects;
mod token;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

pub(crate) use self::account::{Account, BodyPermit, QuestionPermit};
pub(crate) use self::headers::QuestionHeaders;
use self::known::Keyed;
pub use self::known::KnownCallers;
pub(super) use self::names::header;
use self::names::{named, person_named};
use super::error::GatewayError;
use figaro_base::ids::{RequestId, UserId};
use figaro_config::{Rights, is_tenant};
use figaro_domain::agent::DEFAULT_TENANT;
use figaro_domain::chat::Place;
use figaro_domain::conversation::ConversationId;
use figaro_domain::external::ExternalName;

/// Caller of a request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Limits and usage.
    pub account: Arc<Account>,
    /// Rights of the key or token.
    pub rights: Rights,
    /// Tenant of the caller.
    pub tenant: String,
    /// Name of the person within the tenant; `None` if anonymous.
    pub user: Option<String>,
}

/// Conversation and person of a question.
#[derive(Debug, Clone)]
pub(crate) struct CallerPlace {
    /// Conversation in the store.
    pub(crate) place: Place,
    /// Id of the person in turns.
    pub(crate) user: UserId,
}

impl Caller {
    /// Returns the name for the log.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        self.account.name()
    }

    /// Checks a right of this caller.
    ///
    /// # Errors
    /// If the caller does not have it.
    pub(crate) fn require(&self, may: impl Fn(&Rights) -> bool, what: &str) -> Result<(), GatewayError> {
        match may(&self.rights) {
            true => Ok(()),
            false => Err(GatewayError::forbidden(format!("this key or token is not good for {what}"))),
        }
    }

    /// Returns the person's id in turns; `None` if anonymous.
    #[must_use]
    pub fn person(&self) -> Option<UserId> {
        self.user.as_deref().map(|user| UserId::external(&self.tenant, user))
    }

    /// Returns the name of the person's chat, which all their sessions are part of. `None` if anonymous.
    #[must_use]
    pub(crate) fn home(&self) -> Option<ExternalName> {
        self.user.as_deref().map(|user| ExternalName::person(&self.tenant, user))
    }

    /// Returns the name of a session's conversation. It is part of the person's chat. For an anonymous caller it is a
    /// chat of its own, shared by everyone who uses the same key and session name.
    ///
    /// # Errors
    /// If the name is not valid for a session.
    pub fn session(&self, session: &str) -> Result<ExternalName, GatewayError> {
        let session = named("X-Session-Id", session)?;
        Ok(match self.home() {
            Some(home) => home.session(session),
            None => ExternalName::anonymous(&self.tenant, self.name(), session),
        })
    }

    /// Returns this caller in a conversation. An anonymous caller is a different person in each.
    #[must_use]
    pub(crate) fn in_conversation(&self, conversation: ConversationId) -> CallerPlace {
        CallerPlace {
            place: Place::external(conversation),
            user: self.person().unwrap_or_else(|| self.unknown(conversation.chat)),
        }
    }

    /// Returns the id of an anonymous person, distinguished by `by`. The leading blank prevents clashes: no person's
    /// name begins with one.
    #[must_use]
    pub(crate) fn unknown(&self, by: impl std::fmt::Display) -> UserId {
        UserId::external(&self.tenant, &format!(" {by}"))
    }

    /// Returns a conversation for a stateless question, which no other question shares. All such questions are in one
    /// chat, so that usage is booked in one place. Usage of anonymous callers is booked to one anonymous person of
    /// the tenant.
    #[must_use]
    pub(crate) fn alone(&self) -> CallerPlace {
        let user = self.person().unwrap_or_else(|| self.unknown("anonymous"));
        CallerPlace { place: Place::external(ConversationId::unnamed(RequestId::new())), user }
    }

    /// Returns a unique text for the caller. Only the same caller sees the turns it began.
    #[must_use]
    pub(crate) fn identity(&self) -> String {
        match &self.user {
            Some(user) => format!("user {}/{user}", self.tenant),
            None => format!("anonymous {}/{}", self.tenant, self.name()),
        }
    }
}

impl<S> FromRequestParts<S> for Caller
where
    S: Send + Sync,
    Arc<KnownCallers>: FromRef<S>,
{
    type Rejection = GatewayError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, GatewayError> {
        let caller = identify(&Arc::from_ref(state), &parts.headers)?;
        if is_counted(parts) {
            caller.account.count()?;
        }
        Ok(caller)
    }
}

/// Returns `true` if a request counts towards the caller's rate. Metrics and health do not count, nor does stopping a
/// turn, which saves work.
fn is_counted(parts: &Parts) -> bool {
    let path = parts.uri.path();
    path.starts_with("/v1/") && !(parts.method == Method::DELETE && path.starts_with("/v1/turns/"))
}

fn identify(known: &KnownCallers, headers: &HeaderMap) -> Result<Caller, GatewayError> {
    let shown = header(headers, header::AUTHORIZATION.as_str())?;
    let Some(shown) = shown.filter(|_| !known.is_open()) else {
        return match known.is_open() {
            true => opened(known, headers),
            false => Err(GatewayError::unauthorized(
                "a key is needed: send the header `Authorization: Bearer KEY` with one of API_KEYS, or a token",
            )),
        };
    };
    let (scheme, key) = shown.split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(GatewayError::unauthorized("the header Authorization is not of the form `Bearer KEY`"));
    }
    let key = key.trim();
    if let Some(Keyed { key, account }) = known.key(key) {
        let user = match &key.user {
            Some(user) => Some(person_named("the `user=` of the key", user)?),
            None => user_header(headers)?,
        };
        let (rights, own) = (key.rights, key.tenant.clone());
        let tenant = tenant(headers, own, rights.tenants)?;
        return Ok(Caller { account: account.clone(), rights, tenant, user });
    }
    let token = known.token(key)?;
    // Accounts go by the caller's own tenant. A caller who may name others has the same limits in all of them.
    let account = known.subject(token.tenant.as_deref().unwrap_or(DEFAULT_TENANT), &token.user);
    let tenant = tenant(headers, token.tenant, token.rights.tenants)?;
    Ok(Caller { account, rights: token.rights, tenant, user: Some(token.user) })
}

/// Headers that a proxy adds. A request with one does not come from this machine.
const PASSED_ON: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Trusts local callers in their name if there are no keys. Pages in a browser are refused, because pages of other
/// sites can reach the local address too.
fn opened(known: &KnownCallers, headers: &HeaderMap) -> Result<Caller, GatewayError> {
    let host = header(headers, header::HOST.as_str())?.unwrap_or_default();
    // A URL typed into a browser has no page behind it; the browser sends `none`.
    let is_typed = headers.get("sec-fetch-site").is_some_and(|site| site.as_bytes() == b"none");
    let is_of_browser = headers.keys().any(|name| name.as_str().starts_with("sec-fetch-"));
    let is_of_page = headers.contains_key(header::ORIGIN)
        || headers.contains_key(header::REFERER)
        || (is_of_browser && !is_typed);
    let is_passed_on = PASSED_ON.iter().any(|name| headers.contains_key(*name));
    if !is_here(host) || is_of_page || is_passed_on {
        return Err(GatewayError::forbidden(
            "without keys only programs of this machine are answered, by its own address: set API_KEYS for others",
        ));
    }
    let rights = Rights { metrics: true, tenants: true, ..Rights::USUAL };
    let tenant = tenant(headers, None, true)?;
    Ok(Caller { account: known.keyless(), rights, tenant, user: user_header(headers)? })
}

/// Returns `true` if a host is this machine by loopback name or address. A name that merely starts like an address
/// belongs to someone else.
fn is_here(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(number, _)| number),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|number| number.is_loopback())
}

fn user_header(headers: &HeaderMap) -> Result<Option<String>, GatewayError> {
    let user = header(headers, "x-user-id")?;
    user.map(|user| person_named("X-User-Id", user)).transpose()
}

/// Returns the tenant: that of the key or token, or the requested one if these let the caller choose.
fn tenant(headers: &HeaderMap, own: Option<String>, may_choose: bool) -> Result<String, GatewayError> {
    let asked = header(headers, "x-tenant-id")?;
    let is_own = |asked: &str| asked == own.as_deref().unwrap_or(DEFAULT_TENANT);
    let Some(asked) = asked.filter(|asked| !is_own(asked)) else {
        return Ok(own.unwrap_or_else(|| DEFAULT_TENANT.to_owned()));
    };
    if !is_tenant(asked) {
        return Err(GatewayError::invalid(
            "X-Tenant-Id is no name of a tenant: 64 letters, digits and _ - . at most",
        ));
    }
    match may_choose && own.is_none() {
        true => Ok(asked.to_owned()),
        false => Err(GatewayError::forbidden("this key or token is not good for another tenant")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Two who ask have one conversation only if they are the same.
        #[test]
        fn no_two_callers_share_a_place(
            names in prop::collection::vec(("[a-c.]{1,3}", prop::option::of("[a-c/ :]{1,4}"), "[a-c/ :]{1,4}"), 2),
        ) {
            let named = |(tenant, user, session): &(String, Option<String>, String)| {
                let user = user.as_deref().map(str::trim).filter(|user| !user.is_empty()).map(str::to_owned);
                let caller = Caller { account: Arc::default(), rights: Rights::USUAL, tenant: tenant.clone(), user: user.clone() };
                let session = session.trim().to_owned();
                let name = caller.session(&session).ok()?;
                Some(((tenant.clone(), user, session), caller.person(), name))
            };
            if let (Some((one, ann, here)), Some((other, bob, there))) = (named(&names[0]), named(&names[1])) {
                let is_same_person = one.0 == other.0 && one.1 == other.1;
                prop_assert_eq!(here.to_string() == there.to_string(), one == other);
                prop_assert_eq!(here.whole() == there.whole(), is_same_person || (one.1.is_none() && other.1.is_none()));
                prop_assert_eq!(ann == bob, is_same_person || (one.1.is_none() && other.1.is_none()));
            }
        }
    }
}
