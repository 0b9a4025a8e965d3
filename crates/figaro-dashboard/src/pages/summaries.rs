//! Summaries of a conversation: what they say, of which messages, and a button that erases one. It is made anew then, because
//! the bot needs one for messages that no longer fit into a prompt.

use axum::Form;
use axum::extract::{Path, State};
use axum::response::Redirect;
use serde::{Deserialize, Serialize};

use crate::error::DashboardError;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::{SessionId, SummaryId};

#[derive(Debug, Serialize)]
pub(super) struct ShownSummary {
    id: SummaryId,
    session: SessionId,
    /// Index of its first message.
    start: u32,
    from: String,
    until: String,
    text: String,
}

/// Returns the summaries of a conversation as they are shown, those of the oldest messages first.
pub(super) fn shown_summaries(
    dashboard: &Dashboard,
    viewer: &Viewer,
    session: SessionId,
) -> Result<Vec<ShownSummary>, DashboardError> {
    let all = dashboard.store.summaries().of_session(session)?;
    let shown = all.into_iter().filter(|summary| summary.is_shown()).map(|summary| ShownSummary {
        id: summary.id,
        session,
        start: summary.start,
        from: viewer.time(summary.from),
        until: viewer.time(summary.until),
        text: summary.summary,
    });
    Ok(shown.collect())
}

#[derive(Debug, Deserialize)]
pub(super) struct EraseForm {
    at: EraseOrigin,
}

/// Page of the button.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EraseOrigin {
    Conversation,
    Memory,
}

pub(super) async fn remove(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path((id, summary)): Path<(SessionId, SummaryId)>,
    Form(EraseForm { at }): Form<EraseForm>,
) -> Result<Redirect, DashboardError> {
    let session = dashboard.store.sessions().find(id)?;
    let session = session.filter(|session| viewer.may_see(session.conversation.chat));
    session.ok_or(DashboardError::NotFound)?;
    viewer.browser.tell(match dashboard.store.summaries().erase(id, summary).await? {
        true => viewer.texts.dashboard_summary_erased().to_owned(),
        false => viewer.texts.gone().to_owned(),
    });
    Ok(match at {
        EraseOrigin::Conversation => Redirect::to(&format!("../../../{id}")),
        EraseOrigin::Memory => Redirect::to("../../../../memory"),
    })
}
