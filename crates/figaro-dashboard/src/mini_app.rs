//! The dashboard as a Mini App: a page that Telegram's clients open, and the sign-in with what Telegram says of the person.
//!
//! The page's script sends `initData`, which the client hands over behind the `#` of the address: it reaches no log of a proxy.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::browsers::{Browser, BrowserKind};
use super::enter;
use super::error::DashboardError;
use super::page::{self, Html};
use super::state::Dashboard;
use super::viewer::{signed_in, standing};

/// Place for which a browser asks for a page. No page can set it.
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Web clients of Telegram, which show Mini Apps in a frame.
const WEB_CLIENTS: &str = "https://*.telegram.org";

/// Path of the page below the dashboard.
pub(crate) const PATH: &str = "/app";

/// Form of the page's script.
#[derive(Debug, Deserialize)]
pub(crate) struct Launch {
    init_data: String,
}

/// Shows the page that signs the person in by its script.
pub(crate) async fn open(
    State(dashboard): State<Dashboard>,
    headers: HeaderMap,
) -> Result<Html, DashboardError> {
    if dashboard.init_data().is_none() {
        return Err(DashboardError::NotFound);
    }
    page::launch(&dashboard, &headers)
}

/// Signs the Mini App in.
pub(crate) async fn launch(
    State(dashboard): State<Dashboard>,
    headers: HeaderMap,
    Form(form): Form<Launch>,
) -> Result<Response, DashboardError> {
    let check = dashboard.init_data().ok_or(DashboardError::NotFound)?;
    let now = dashboard.clock.now();
    let opener = check.opener(&form.init_data, now).map_err(|error| {
        tracing::debug!(%error, "a Mini App was not signed in");
        DashboardError::InitData
    })?;
    if !opener.is_first {
        // The client has loaded the page anew.
        let is_same = |browser: &Browser| browser.kind == BrowserKind::MiniApp && browser.user == opener.user;
        let known = signed_in(&dashboard, &headers).is_some_and(|(_, browser)| is_same(&browser));
        return if known {
            Ok(StatusCode::NO_CONTENT.into_response())
        } else {
            Err(DashboardError::InitData)
        };
    }
    if standing(&dashboard, &opener.user, now)?.is_none() {
        return Err(DashboardError::NoDashboard);
    }
    let cookie = enter::signed_in_as(&dashboard, &headers, opener.user, BrowserKind::MiniApp)?;
    Ok((StatusCode::NO_CONTENT, cookie).into_response())
}

/// Returns the sources of CSP that may show the answer to a request in a frame; `None` if nobody may.
///
/// `path` is that of the request below the dashboard, `status` that of the answer.
pub(crate) fn frames(
    dashboard: &Dashboard,
    headers: &HeaderMap,
    path: &str,
    status: StatusCode,
) -> Option<String> {
    let mini_app = dashboard.mini_app.as_ref()?;
    let is_of_it =
        || signed_in(dashboard, headers).is_some_and(|(_, browser)| browser.kind == BrowserKind::MiniApp);
    // One that is no longer signed in is told so where it stands.
    let is_told =
        || status == StatusCode::UNAUTHORIZED && headers.get(DESTINATION).is_some_and(|to| to == "iframe");
    let is_framed = path == PATH || is_of_it() || is_told();
    let local = mini_app.local_client.as_deref().unwrap_or_default();
    is_framed.then(|| format!("{WEB_CLIENTS} {local}").trim_end().to_owned())
}
