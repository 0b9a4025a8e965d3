//! Other MCP servers: their state and tools, and a button that restarts one.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use serde::Serialize;

use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::OwnerViewer;
use figaro_mcp_client::servers::{Server, ServerPhase};
use figaro_prompts::texts::{Texts, fill};

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "servers", title: Texts::servers_title, for_owners: true, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/servers", get(show)).route("/servers/{name}", post(restart))
}

#[derive(Debug, Serialize)]
struct ServersPage {
    servers: Vec<ServerItem>,
}

#[derive(Debug, Serialize)]
struct ServerItem {
    name: String,
    place: String,
    state: String,
    is_bad: bool,
    is_off: bool,
    restarts: String,
    tools: Vec<ToolItem>,
    left_out: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ToolItem {
    name: String,
    about: String,
    is_approved: bool,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
) -> Result<Html, DashboardError> {
    let all = dashboard.rulings.servers.all();
    let servers = all.iter().map(|server| shown(&viewer.texts, server)).collect();
    viewer.page(&dashboard, SPEC.shown("servers.html"), ServersPage { servers })
}

fn shown(texts: &Texts, server: &Server) -> ServerItem {
    let status = server.status();
    let state = match &status.phase {
        ServerPhase::Off => texts.servers_off().to_owned(),
        ServerPhase::Starting => texts.servers_starting().to_owned(),
        ServerPhase::Ready => fill(texts.servers_ready(), &[("count", &status.tools.len().to_string())]),
        ServerPhase::Failed(why) => fill(texts.servers_failed(), &[("reason", why)]),
    };
    let tools = status.tools.iter().map(|tool| ToolItem {
        name: tool.remote.clone(),
        about: tool.description.clone(),
        is_approved: tool.is_approved,
    });
    let left_out = status.left_out.iter().map(|left_out| {
        fill(texts.servers_left_out(), &[("tool", &left_out.name), ("reason", &left_out.reason)])
    });
    ServerItem {
        name: server.config.name.clone(),
        place: server.config.place(),
        state,
        is_bad: matches!(status.phase, ServerPhase::Failed(_)),
        is_off: server.config.is_disabled,
        restarts: fill(texts.servers_restarts(), &[("count", &status.restarts.to_string())]),
        tools: tools.collect(),
        left_out: left_out.collect(),
    }
}

async fn restart(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
    Path(name): Path<String>,
) -> Result<Redirect, DashboardError> {
    let server = dashboard.rulings.servers.get(&name).filter(|server| !server.config.is_disabled);
    server.ok_or(DashboardError::NotFound)?.restart();
    tracing::info!(server = name, user = %viewer.user(), "a server is restarted from the dashboard");
    viewer.browser.tell(viewer.texts.servers_restarting().to_owned());
    Ok(Redirect::to("../servers"))
}
