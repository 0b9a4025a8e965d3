//! The person who looks: who they are, what they may see, their language and their time zone.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use chrono::{DateTime, Datelike, Utc};

use super::browsers::Browser;
use super::error::DashboardError;
use super::state::Dashboard;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::Session;
use figaro_domain::language::primary;
use figaro_domain::message::Speaker;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_prompts::texts::{Locales, Texts};

/// Person who is signed in. Their rights are read anew for each request.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    pub(crate) browser: Arc<Browser>,
    pub(crate) speaker: Speaker,
    pub(crate) is_owner: bool,
    pub(crate) texts: Texts,
    /// IETF tag of the texts.
    pub(crate) tag: &'static str,
    pub(crate) zone: Tz,
    pub(crate) now: DateTime<Utc>,
}

/// Owner who is signed in. A page that takes one is not there for others.
#[derive(Debug)]
pub(crate) struct OwnerViewer(pub(crate) Viewer);

impl Viewer {
    pub(crate) const fn user(&self) -> &UserId {
        &self.speaker.user
    }

    /// Returns the private chat of the person; `None` if they are not of Telegram.
    pub(crate) fn own_chat(&self) -> Option<ChatId> {
        self.user().telegram_id().map(ChatId)
    }

    /// Returns `true` if the person may see what is in a chat: everything as an owner, else their own private chat.
    pub(crate) fn may_see(&self, chat: ChatId) -> bool {
        self.is_owner || self.own_chat() == Some(chat)
    }

    /// Returns `true` if the person may see what belongs to somebody: everything as an owner, else what is theirs.
    pub(crate) fn may_see_of(&self, user: &UserId) -> bool {
        self.is_owner || self.user() == user
    }

    /// Returns the name of a conversation.
    pub(crate) fn titled(&self, session: &Session) -> String {
        let name = session.name.as_ref().map(|name| name.text.clone());
        name.unwrap_or_else(|| self.texts.session_unnamed().to_owned())
    }

    /// Formats a time in the zone and language of the person.
    pub(crate) fn time(&self, at: DateTime<Utc>) -> String {
        let this_year = self.now.with_timezone(&self.zone).year();
        self.texts.dated(&at.with_timezone(&self.zone), this_year)
    }
}

impl FromRequestParts<Dashboard> for Viewer {
    type Rejection = DashboardError;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Dashboard) -> Result<Self, DashboardError> {
        let now = dashboard.clock.now();
        let (secret, browser) = signed_in(dashboard, &parts.headers).ok_or(DashboardError::SignedOut)?;
        if !browser.may_ask() {
            return Err(DashboardError::TooMany);
        }
        let user = browser.user().clone();
        let Some(standing) = standing(dashboard, &user, now)? else {
            dashboard.browsers().sign_out(&secret);
            return Err(DashboardError::SignedOut);
        };
        let profile = dashboard.store.profiles().find(&user)?;
        let chat = user.telegram_id().map(ChatId);
        let client = profile.as_ref().and_then(|profile| profile.language.clone());
        let language = chat.and_then(|chat| dashboard.languages.of(chat, client.as_deref())).or(client);
        let (tag, texts) = language_of(&dashboard.languages.locales, language.as_deref());
        let config = chat.map(|chat| dashboard.store.settings().chat_config(chat)).transpose()?;
        let zone = config.and_then(|config| config.timezone).unwrap_or(dashboard.default_zone);
        let names = profile.map(|profile| profile.names).unwrap_or_default();
        let name = match names.shown.as_str() {
            // Those who have sent commands alone have no profile yet.
            "" => dashboard.find_names(chat, now).await.of_user(&user),
            name => name.to_owned(),
        };
        let speaker = Speaker { user, name, username: names.username };
        Ok(Self { browser, speaker, is_owner: standing == Standing::Owner, texts, tag, zone, now })
    }
}

impl FromRequestParts<Dashboard> for OwnerViewer {
    type Rejection = DashboardError;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Dashboard) -> Result<Self, DashboardError> {
        let viewer = Viewer::from_request_parts(parts, dashboard).await?;
        if viewer.is_owner { Ok(Self(viewer)) } else { Err(DashboardError::NotFound) }
    }
}

/// Returns the browser of a request with the secret of its cookie; `None` if it is not signed in.
pub(crate) fn signed_in(dashboard: &Dashboard, headers: &HeaderMap) -> Option<(String, Arc<Browser>)> {
    let (now, name, program) = (dashboard.clock.now(), cookie_name(dashboard), program(headers));
    // Another site of the same domain could set one of the same name.
    let mut known = cookies(headers, &name)
        .filter_map(|secret| Some((secret.to_owned(), dashboard.browsers().find(secret, program, now)?)));
    known.next()
}

/// Returns the standing of a person in their private chat; `None` if they may not talk to the bot, or have no dashboard.
pub(crate) fn standing(
    dashboard: &Dashboard,
    user: &UserId,
    now: DateTime<Utc>,
) -> Result<Option<Standing>, DashboardError> {
    let Some(id) = user.telegram_id() else { return Ok(None) };
    let place = Place { chat: ChatId(id), kind: ChatKind::Private, title: None, topic: None };
    let list = dashboard.store.settings().access()?;
    Ok(match judge(&dashboard.access, &list, &place, user, now) {
        Verdict::Allow(Standing::Owner) => Some(Standing::Owner),
        Verdict::Allow(standing) => dashboard.for_everybody.then_some(standing),
        Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_) => None,
    })
}

/// Returns the name of the cookie. Bots behind one address have different ones.
pub(crate) fn cookie_name(dashboard: &Dashboard) -> String {
    let secure = if dashboard.sign_in.url().starts_with("https://") { "__Secure-" } else { "" };
    format!("{secure}figaro_dashboard_{}", dashboard.bot)
}

/// Returns the values of the cookies of this name.
pub(crate) fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(one, _)| *one == name).map(|(_, value)| value)
}

/// Returns how the program of a browser names itself.
pub(crate) fn program(headers: &HeaderMap) -> &str {
    headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the texts of a language with their tag; those of the first language for an unknown one.
pub(crate) fn language_of(locales: &Locales, language: Option<&str>) -> (&'static str, Texts) {
    let wanted = language.map(primary);
    let mut all = locales.all();
    let first = all.next();
    let found = all.find(|(tag, _)| Some(*tag) == wanted).or(first);
    found.map_or(("en", *locales.of(None)), |(tag, texts)| (tag, *texts))
}
