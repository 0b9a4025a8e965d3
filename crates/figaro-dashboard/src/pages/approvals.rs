//! Calls that wait for an approval: the whole call, and the buttons of the chat.

use axum::Form;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_agent::rulings::RulingPress;
use figaro_agent::turn::approval_details;
use figaro_base::ids::{RequestId, RunId};
use figaro_domain::approval::Ruled;
use figaro_domain::origin::Origin;
use figaro_domain::turn::ParkedTurn;
use figaro_markup::render;
use figaro_prompts::texts::{Texts, fill};

pub(crate) const SPEC: PageSpec = PageSpec {
    path: "approvals",
    title: Texts::dashboard_approvals,
    for_owners: false,
    is_of_several: false,
};

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/approvals", get(show)).route("/approvals/{run}", post(rule))
}

#[derive(Debug, Serialize)]
struct ApprovalsPage {
    waiting: Vec<WaitingCall>,
    grants: Vec<String>,
}

#[derive(Debug, Serialize)]
struct WaitingCall {
    run: RunId,
    /// First line of the question, which names its buttons.
    gist: String,
    question: String,
    details: String,
    asked_by: String,
    place: String,
    since: String,
    until: String,
    may_last: bool,
}

/// Returns `true` if a person may see a call that waits: an owner, or the person in whose private chat it was asked for.
fn may_see(viewer: &Viewer, parked: &ParkedTurn) -> bool {
    viewer.may_see(parked.place.chat)
}

async fn show(State(dashboard): State<Dashboard>, viewer: Viewer) -> Result<Html, DashboardError> {
    let mut all = dashboard.rulings.parked.with_approvals();
    all.retain(|parked| may_see(&viewer, parked));
    let names = dashboard.find_names(all.iter().map(|parked| parked.place.chat), viewer.now).await;
    let waiting = all.iter().filter_map(|parked| {
        let approval = parked.question.approval.as_deref()?;
        let question = render(&parked.question.text).text;
        Some(WaitingCall {
            run: parked.turn.id,
            gist: question.lines().next().unwrap_or_default().to_owned(),
            question,
            details: render(&approval_details(&viewer.texts, approval)).text,
            asked_by: approval.requester.name.clone(),
            place: parked.place.title.clone().unwrap_or_else(|| names.of(parked.place.chat)),
            since: viewer.time(parked.parked_at),
            until: viewer.time(parked.expires_at),
            may_last: approval.may_last,
        })
    });
    let waiting: Vec<WaitingCall> = waiting.collect();
    let open = if viewer.is_owner { dashboard.rulings.approvers.grants.open(viewer.now) } else { Vec::new() };
    let grants = open.iter().map(|grant| {
        let (name, method) = (&grant.requester.name, viewer.texts.method(&grant.method));
        format!("{name}: {method} ({})", viewer.time(grant.until))
    });
    let grants = grants.collect();
    viewer.page(&dashboard, SPEC.shown("approvals.html"), ApprovalsPage { waiting, grants })
}

#[derive(Debug, Deserialize)]
struct RulingForm {
    ruled: Ruled,
}

async fn rule(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(run): Path<RunId>,
    Form(RulingForm { ruled }): Form<RulingForm>,
) -> Result<Redirect, DashboardError> {
    let waiting = dashboard.rulings.parked.with_approval(run);
    let texts = &viewer.texts;
    let words = match waiting.filter(|parked| may_see(&viewer, parked)) {
        None => texts.gone().to_owned(),
        Some(_) => {
            let press = RulingPress { origin: Origin::Http { request: RequestId::new() }, shows: false };
            match dashboard.rulings.rule(run, ruled, &viewer.speaker, press).await? {
                Err(refusal) => refusal.words(texts).to_owned(),
                Ok(_) => fill(texts.ruled(ruled), &[("name", &viewer.speaker.name)]),
            }
        }
    };
    viewer.browser.tell(words);
    Ok(Redirect::to("../approvals"))
}
