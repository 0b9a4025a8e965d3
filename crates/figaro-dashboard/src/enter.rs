//! Signing in with a ticket, and signing out.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::browsers::BrowserKind;
use super::error::DashboardError;
use super::page::{self, Html};
use super::state::Dashboard;
use super::viewer::{cookie_name, cookies, program, standing};
use figaro_agent::sign_outs::{SIGNED_IN_HOURS, SignInGrant};
use figaro_base::ids::ChatId;
use figaro_base::secret::ExposeSecret;
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, Audited};

/// Header that sets a cookie.
pub(crate) type Cookie = [(HeaderName, HeaderValue); 1];

/// Shows the button that signs a person in. Programs that only look at a link, such as those that make previews, do not use
/// the ticket up; and people see whose link they have opened.
pub(crate) async fn offer(
    State(dashboard): State<Dashboard>,
    Path(ticket): Path<String>,
    headers: HeaderMap,
) -> Result<Html, DashboardError> {
    let user = dashboard.sign_in.holder(&ticket).ok_or(DashboardError::Ticket)?;
    let chat = user.telegram_id().map(ChatId);
    let name = dashboard.find_names(chat, dashboard.clock.now()).await.of_user(&user);
    page::offer(&dashboard, &headers, &name)
}

/// Uses a ticket up and signs the browser in.
pub(crate) async fn redeem(
    State(dashboard): State<Dashboard>,
    Path(ticket): Path<String>,
    headers: HeaderMap,
) -> Result<Response, DashboardError> {
    let user = dashboard.sign_in.holder(&ticket).ok_or(DashboardError::Ticket)?;
    if standing(&dashboard, &user, dashboard.clock.now())?.is_none() {
        return Err(DashboardError::SignedOut);
    }
    // The ticket stays open for later.
    if !dashboard.browsers().may_sign_in(&user) {
        return Err(DashboardError::TooMany);
    }
    let grant = dashboard.sign_in.redeem(&ticket).ok_or(DashboardError::Ticket)?;
    let cookie = sign_in(&dashboard, &headers, grant, BrowserKind::Plain, false).await?;
    Ok((cookie, Redirect::to("../")).into_response())
}

/// Signs a browser in for a person, and returns its cookie. The audit log has each sign-in: if it cannot be written, nobody is
/// signed in. The pages of some clients of Telegram are framed.
pub(crate) async fn sign_in(
    dashboard: &Dashboard,
    headers: &HeaderMap,
    grant: SignInGrant,
    kind: BrowserKind,
    is_framed: bool,
) -> Result<Cookie, DashboardError> {
    let (now, user) = (dashboard.clock.now(), grant.user.clone());
    let event = AuditEvent::new(AuditKind::SignedIn, AuditActor::Person(user.clone()), now);
    dashboard.store.audit().add(vec![Audited { event, arguments: None }]).await?;
    // Another person may use the same browser next.
    let name = cookie_name(dashboard);
    cookies(headers, &name).for_each(|secret| dashboard.browsers().sign_out(secret));
    let secret = dashboard.browsers().sign_in(grant, kind, program(headers), now);
    let secret = secret.ok_or_else(|| DashboardError::Failed("there are no random numbers".into()))?;
    tracing::info!(%user, ?kind, "a browser was signed in to the dashboard");
    cookie(dashboard, secret.expose_secret(), SIGNED_IN_HOURS * 3_600, is_framed)
}

/// Signs the browser out.
pub(crate) async fn leave(
    State(dashboard): State<Dashboard>,
    headers: HeaderMap,
) -> Result<Response, DashboardError> {
    let name = cookie_name(&dashboard);
    cookies(&headers, &name).for_each(|secret| dashboard.browsers().sign_out(secret));
    let cookie = cookie(&dashboard, "", 0, false)?;
    Ok((cookie, Redirect::to("./")).into_response())
}

/// Writes a cookie that lasts for some seconds.
fn cookie(
    dashboard: &Dashboard,
    value: &str,
    seconds: i64,
    is_framed: bool,
) -> Result<Cookie, DashboardError> {
    let url = dashboard.sign_in.url();
    let sent = match (url.starts_with("https://"), is_framed) {
        (false, _) => "SameSite=Strict",
        (true, false) => "SameSite=Strict; Secure",
        // The frame is of another site. The cookie is kept for frames of that site alone.
        (true, true) => "SameSite=None; Secure; Partitioned",
    };
    // Other programs and bots at the same address do not get it.
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let name = cookie_name(dashboard);
    let cookie = format!("{name}={value}; Path=/{path}; Max-Age={seconds}; HttpOnly; {sent}");
    let cookie =
        HeaderValue::from_str(&cookie).map_err(|error| DashboardError::Failed(error.to_string().into()))?;
    Ok([(header::SET_COOKIE, cookie)])
}
