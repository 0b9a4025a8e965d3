//! The dashboard as a Mini App: a page that Telegram's clients open, which signs the person in by its script.
//!
//! The script sends the signed `initData` that the client puts behind the `#` of the address: it reaches no log of a proxy.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::browsers::BrowserKind;
use super::enter;
use super::error::DashboardError;
use super::page::{self, Html};
use super::state::Dashboard;
use super::viewer::{signed_in, standing};

/// `Sec-Fetch-Dest`, which no page can set.
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// Path of the page below the dashboard.
pub(crate) const PATH: &str = "/app";

/// Form of the page's script.
#[derive(Debug, Deserialize)]
pub(crate) struct Launch {
    init_data: String,
    /// `true` if the client shows the page in a frame.
    is_framed: bool,
}

/// Shows the page that signs the person in.
pub(crate) async fn open(
    State(dashboard): State<Dashboard>,
    headers: HeaderMap,
) -> Result<Html, DashboardError> {
    if dashboard.init_data().is_none() {
        return Err(DashboardError::NotFound);
    }
    page::launch(&dashboard, &headers)
}

/// Signs the person in who opened the Mini App.
pub(crate) async fn launch(
    State(dashboard): State<Dashboard>,
    headers: HeaderMap,
    Form(form): Form<Launch>,
) -> Result<Response, DashboardError> {
    let check = dashboard.init_data().ok_or(DashboardError::NotFound)?;
    let opener = check.opener(&form.init_data, dashboard.clock.now()).map_err(|error| {
        tracing::debug!(%error, "a Mini App was not signed in");
        DashboardError::InitData
    })?;
    let known = signed_in(&dashboard, &headers);
    let known = known.map(|(_, browser)| (browser.kind, *browser.user() == opener.user));
    // A client that loads its page again sends the same `initData`.
    if known == Some((BrowserKind::MiniApp, true)) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // Somebody could send their own `initData` as a link, to have the browser of another person use the bot under their name.
    // A client changes between accounts.
    if !opener.is_fresh || known == Some((BrowserKind::Plain, false)) {
        let (user, is_fresh) = (&opener.user, opener.is_fresh);
        tracing::info!(%user, is_fresh, "a Mini App was not signed in: its data was used before, or somebody else is");
        return Err(DashboardError::InitData);
    }
    if standing(&dashboard, &opener.user, dashboard.clock.now())?.is_none() {
        return Err(DashboardError::NoDashboard);
    }
    let grant = dashboard.sign_in.grant_of(opener.user, opener.at).ok_or(DashboardError::InitData)?;
    if !dashboard.browsers().may_sign_in(&grant.user) {
        return Err(DashboardError::TooMany);
    }
    let kind = BrowserKind::MiniApp;
    let cookie = enter::sign_in(&dashboard, &headers, grant, kind, form.is_framed).await?;
    Ok((StatusCode::NO_CONTENT, cookie).into_response())
}

/// Returns the policy for an answer that a client may show in a frame; `None` if nobody may.
///
/// `path` is that of the request below the dashboard, `status` that of the answer.
pub(crate) fn policy<'a>(
    dashboard: &'a Dashboard,
    headers: &HeaderMap,
    path: &str,
    status: StatusCode,
) -> Option<&'a HeaderValue> {
    let policy = dashboard.framed_policy()?;
    // The Mini App must show that it is no longer signed in.
    let is_ended =
        status == StatusCode::UNAUTHORIZED && headers.get(DESTINATION).is_some_and(|to| to == "iframe");
    let is_framed = path == PATH
        || is_ended
        || signed_in(dashboard, headers).is_some_and(|(_, browser)| browser.kind == BrowserKind::MiniApp);
    is_framed.then_some(policy)
}
