//! Agents and context packs: what they are for, their model and tools, and faults of the owner's files.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::OwnerViewer;
use figaro_domain::agent::Agent;
use figaro_prompts::texts::{Texts, fill};

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "agents", title: Texts::dashboard_agents, for_owners: true, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/agents", get(show))
}

#[derive(Debug, Serialize)]
struct AgentsPage {
    agents: Vec<AgentItem>,
    packs: Vec<PackItem>,
    broken: Vec<String>,
    /// Times of the last reload of files of agents and of packs.
    agents_read: Option<String>,
    packs_read: Option<String>,
}

#[derive(Debug, Serialize)]
struct AgentItem {
    name: String,
    version: String,
    is_own: bool,
    summary: String,
    model: String,
    tools: String,
    /// Parts of its file that have no effect, and why.
    advice: Vec<&'static str>,
    instructions: String,
}

#[derive(Debug, Serialize)]
struct PackItem {
    name: String,
    is_own: bool,
    summary: String,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
) -> Result<Html, DashboardError> {
    let (agents, packs) = (dashboard.prompts.agents(), dashboard.prompts.packs());
    let mut advice = agents.files().advice();
    let read = |at: Option<DateTime<Utc>>| {
        at.map(|at| fill(viewer.texts.dashboard_reloaded(), &[("time", &viewer.time(at))]))
    };
    let agents_read = read(dashboard.prompts.agents_reloaded_at());
    let packs_read = read(dashboard.prompts.packs_reloaded_at());
    let shown = AgentsPage {
        agents: agents
            .all()
            .map(|agent| AgentItem {
                name: agent.name.clone(),
                version: agent.version.clone(),
                is_own: !agents.is_built_in(&agent.name),
                summary: agent.summary(),
                model: agent.model.as_ref().map(ToString::to_string).unwrap_or_default(),
                tools: tools(agent),
                advice: advice.remove(&agent.name).unwrap_or_default(),
                instructions: agents.instructions(agent),
            })
            .collect(),
        packs: packs
            .all()
            .map(|pack| PackItem {
                name: pack.name.clone(),
                is_own: !packs.is_built_in(&pack.name),
                summary: pack.description.of(Some(viewer.tag)).to_owned(),
            })
            .collect(),
        broken: dashboard.vitals.broken(),
        agents_read,
        packs_read,
    };
    viewer.page(&dashboard, SPEC.shown("agents.html"), shown)
}

fn tools(agent: &Agent) -> String {
    let of_servers = agent.server_tools.iter().map(|of| format!("{}: {}", of.server, of.tool));
    agent.tools.iter().cloned().chain(of_servers).collect::<Vec<_>>().join(", ")
}
