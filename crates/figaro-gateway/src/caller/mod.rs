//! Who calls: by a key, by a token, or nobody known.

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

pub(crate) use self::account::{Account, Bytes, Room};
pub(crate) use self::headers::QuestionHeaders;
use self::known::Keyed;
pub use self::known::Known;
pub(super) use self::names::header;
use self::names::{named, person_named};
use super::error::ApiError;
use figaro_base::ids::{RequestId, UserId};
use figaro_config::{Rights, is_tenant};
use figaro_domain::agent::DEFAULT_TENANT;
use figaro_domain::chat::Place;
use figaro_domain::conversation::Conversation;
use figaro_domain::external::ExternalName;

/// Whoever calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// What they may use, and have used.
    pub account: Arc<Account>,
    /// What they may do.
    pub rights: Rights,
    /// The tenant that they belong to.
    pub tenant: String,
    /// Who they are within it; `None` for somebody unknown.
    pub user: Option<String>,
}

/// Where somebody talks.
#[derive(Debug, Clone)]
pub(crate) struct CallerPlace {
    /// The conversation.
    pub(crate) place: Place,
    /// The person, as turns know them.
    pub(crate) user: UserId,
}

impl Caller {
    /// The name in the log.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        self.account.name()
    }

    /// Refuses what this caller may not do.
    ///
    /// # Errors
    /// If they may not.
    pub(crate) fn require(&self, may: impl Fn(&Rights) -> bool, what: &str) -> Result<(), ApiError> {
        match may(&self.rights) {
            true => Ok(()),
            false => Err(ApiError::forbidden(format!("this key or token is not good for {what}"))),
        }
    }

    /// The person, as turns know them; `None` for somebody unknown.
    #[must_use]
    pub fn person(&self) -> Option<UserId> {
        self.user.as_deref().map(|user| UserId::external(&self.tenant, user))
    }

    /// The name of all that is one person's: their sessions are parts of it. `None` for somebody unknown.
    #[must_use]
    pub(crate) fn home(&self) -> Option<ExternalName> {
        self.user.as_deref().map(|user| ExternalName::person(&self.tenant, user))
    }

    /// The name of the conversation of a session: a part of what is the person's; of somebody unknown one of its own, which
    /// whoever shows the same key and names the same session sees.
    ///
    /// # Errors
    /// If that is no name of a session.
    pub fn session(&self, session: &str) -> Result<ExternalName, ApiError> {
        let session = named("X-Session-Id", session)?;
        Ok(match self.home() {
            Some(home) => home.session(session),
            None => ExternalName::anonymous(&self.tenant, self.name(), session),
        })
    }

    /// This caller in a conversation. Somebody unknown is another person in each.
    #[must_use]
    pub(crate) fn in_conversation(&self, conversation: Conversation) -> CallerPlace {
        CallerPlace {
            place: Place::external(conversation),
            user: self.person().unwrap_or_else(|| self.unknown(conversation.chat)),
        }
    }

    /// Somebody unknown, told from others by this. No person has a name that begins with a blank.
    #[must_use]
    pub(crate) fn unknown(&self, by: impl std::fmt::Display) -> UserId {
        UserId::external(&self.tenant, &format!(" {by}"))
    }

    /// The conversation of a question that stands alone: nobody else has it. All such questions are of one chat, so that the books of
    /// what was spent have one place for them; those of somebody unknown are booked to one such person of the tenant.
    #[must_use]
    pub(crate) fn alone(&self) -> CallerPlace {
        let user = self.person().unwrap_or_else(|| self.unknown("anonymous"));
        CallerPlace { place: Place::external(Conversation::unnamed(RequestId::new())), user }
    }

    /// In words that no other has: who sees what this one began.
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
    Arc<Known>: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = identify(&Arc::from_ref(state), &parts.headers)?;
        if is_counted(parts) {
            caller.account.count()?;
        }
        Ok(caller)
    }
}

/// Whether a request counts in the rate of its caller: all of them but to read figures, and to stop a turn, which saves work.
fn is_counted(parts: &Parts) -> bool {
    let path = parts.uri.path();
    path.starts_with("/v1/") && !(parts.method == Method::DELETE && path.starts_with("/v1/turns/"))
}

/// Finds out who calls.
fn identify(known: &Known, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let shown = header(headers, header::AUTHORIZATION.as_str())?;
    let Some(shown) = shown.filter(|_| !known.is_open()) else {
        return match known.is_open() {
            true => opened(known, headers),
            false => Err(ApiError::unauthorized(
                "a key is needed: send the header `Authorization: Bearer KEY` with one of API_KEYS, or a token",
            )),
        };
    };
    let (scheme, key) = shown.split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(ApiError::unauthorized("the header Authorization is not of the form `Bearer KEY`"));
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
    // By its own tenant: whoever may name others has the same bounds in all of them.
    let account = known.subject(token.tenant.as_deref().unwrap_or(DEFAULT_TENANT), &token.user);
    let tenant = tenant(headers, token.tenant, token.rights.tenants)?;
    Ok(Caller { account, rights: token.rights, tenant, user: Some(token.user) })
}

/// Headers by which a proxy tells of whom it asks for: they are not of this machine.
const PASSED_ON: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Where there are no keys, whoever reaches this machine's own address is trusted in who they say that they are, but for a page
/// in a browser: the pages of others reach it, too.
fn opened(known: &Known, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let host = header(headers, header::HOST.as_str())?.unwrap_or_default();
    // What somebody has typed into a browser has no page behind it: the browser says so.
    let is_typed = headers.get("sec-fetch-site").is_some_and(|site| site.as_bytes() == b"none");
    let is_of_browser = headers.keys().any(|name| name.as_str().starts_with("sec-fetch-"));
    let is_of_page = headers.contains_key(header::ORIGIN)
        || headers.contains_key(header::REFERER)
        || (is_of_browser && !is_typed);
    let is_passed_on = PASSED_ON.iter().any(|name| headers.contains_key(*name));
    if !is_here(host) || is_of_page || is_passed_on {
        return Err(ApiError::forbidden(
            "without keys only programs of this machine are answered, by its own address: set API_KEYS for others",
        ));
    }
    let rights = Rights { metrics: true, tenants: true, ..Rights::USUAL };
    let tenant = tenant(headers, None, true)?;
    Ok(Caller { account: known.keyless(), rights, tenant, user: user_header(headers)? })
}

/// Whether a host is this machine by its own name or number; a name that only begins as a number does is somebody else's.
fn is_here(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(number, _)| number),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|number| number.is_loopback())
}

fn user_header(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let user = header(headers, "x-user-id")?;
    user.map(|user| person_named("X-User-Id", user)).transpose()
}

/// The tenant: the one of the key or the token, or the one that is asked for where these let the caller choose.
fn tenant(headers: &HeaderMap, own: Option<String>, may_choose: bool) -> Result<String, ApiError> {
    let asked = header(headers, "x-tenant-id")?;
    let is_own = |asked: &str| asked == own.as_deref().unwrap_or(DEFAULT_TENANT);
    let Some(asked) = asked.filter(|asked| !is_own(asked)) else {
        return Ok(own.unwrap_or_else(|| DEFAULT_TENANT.to_owned()));
    };
    if !is_tenant(asked) {
        return Err(ApiError::invalid(
            "X-Tenant-Id is no name of a tenant: 64 letters, digits and _ - . at most",
        ));
    }
    match may_choose && own.is_none() {
        true => Ok(asked.to_owned()),
        false => Err(ApiError::forbidden("this key or token is not good for another tenant")),
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
