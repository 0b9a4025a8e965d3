//! Signing in with a ticket, and signing out.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::browsers::SIGNED_IN_HOURS;
use super::error::DashboardError;
use super::page::{self, Html};
use super::state::Dashboard;
use super::viewer::{cookie_name, cookies, program, standing};
use figaro_base::ids::ChatId;
use figaro_base::secret::ExposeSecret;

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
    let (user, now) =
        (dashboard.sign_in.redeem(&ticket).ok_or(DashboardError::Ticket)?, dashboard.clock.now());
    if standing(&dashboard, &user, now)?.is_none() {
        return Err(DashboardError::SignedOut);
    }
    // Another person may use the same browser next.
    let name = cookie_name(&dashboard);
    cookies(&headers, &name).for_each(|secret| dashboard.browsers().sign_out(secret));
    let secret = dashboard.browsers().sign_in(user.clone(), program(&headers), now);
    let secret = secret.ok_or(DashboardError::TooMany)?;
    tracing::info!(%user, "a browser was signed in to the dashboard");
    with_cookie(&dashboard, secret.expose_secret(), SIGNED_IN_HOURS * 3_600)
}

/// Signs the browser out.
pub(crate) async fn leave(
    State(dashboard): State<Dashboard>,
    headers: HeaderMap,
) -> Result<Response, DashboardError> {
    let name = cookie_name(&dashboard);
    cookies(&headers, &name).for_each(|secret| dashboard.browsers().sign_out(secret));
    with_cookie(&dashboard, "", 0)
}

/// Returns to the first page with a cookie that lasts for some seconds.
fn with_cookie(dashboard: &Dashboard, value: &str, seconds: i64) -> Result<Response, DashboardError> {
    let url = dashboard.sign_in.url();
    let secure = if url.starts_with("https://") { "; Secure" } else { "" };
    // Other programs and bots at the same address do not get it.
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let cookie = format!(
        "{}={value}; Path=/{path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}",
        cookie_name(dashboard)
    );
    let cookie =
        HeaderValue::from_str(&cookie).map_err(|error| DashboardError::Failed(error.to_string().into()))?;
    let back = if seconds > 0 { "../" } else { "./" };
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response())
}
