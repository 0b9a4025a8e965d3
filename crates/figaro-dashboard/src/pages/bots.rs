//! The bots of the process that a person owns, with what each is doing, and the way to the dashboards of the others.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use serde::Serialize;

use crate::browsers::BrowserKind;
use crate::error::DashboardError;
use crate::page::Html;
use crate::process::{BotActivity, OwnedBot};
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::{OwnerViewer, Viewer};
use figaro_prompts::texts::Texts;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "bots", title: Texts::dashboard_bots, for_owners: true, is_of_several: true };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/bots", get(show)).route("/bots/{name}", post(open))
}

#[derive(Debug, Serialize)]
struct BotsPage {
    bots: Vec<BotItem>,
}

#[derive(Debug, Serialize)]
struct BotItem {
    name: String,
    username: Option<String>,
    state: &'static str,
    /// Reason of a fault, with a remedy.
    reason: Option<String>,
    since: String,
    /// `true` if its dashboard can be opened from here.
    is_open: bool,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
) -> Result<Html, DashboardError> {
    let others = dashboard.process.as_ref().ok_or(DashboardError::NotFound)?;
    let owned = others.owned_by(viewer.user());
    let bots = owned.into_iter().map(|bot| shown(&dashboard, &viewer, bot)).collect();
    viewer.page(&dashboard, SPEC.shown("bots.html"), BotsPage { bots })
}

fn shown(dashboard: &Dashboard, viewer: &Viewer, bot: OwnedBot) -> BotItem {
    let texts = &viewer.texts;
    let is_here = bot.username.as_deref() == Some(&*dashboard.username);
    let (state, reason) = match bot.activity {
        BotActivity::Starts => (texts.dashboard_bot_starts(), None),
        BotActivity::Runs => (texts.dashboard_bot_runs(), None),
        BotActivity::Paused(reason) => (texts.dashboard_bot_paused(), Some(reason)),
        BotActivity::Stops => (texts.dashboard_bot_stops(), None),
    };
    BotItem {
        state,
        reason,
        since: viewer.time(bot.since),
        // A frame of Telegram does not show what a link opens.
        is_open: bot.has_dashboard && !is_here && viewer.browser.kind == BrowserKind::Plain,
        name: bot.name,
        username: bot.username,
    }
}

/// Opens the page of another bot that signs the person in there.
async fn open(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
    Path(name): Path<String>,
) -> Result<Redirect, DashboardError> {
    let link = dashboard.process.as_ref().and_then(|others| others.link(&name, viewer.browser.grant.clone()));
    link.map(|link| Redirect::to(&link)).ok_or(DashboardError::NotFound)
}
