//! How one answer came about, as `/why` tells it in the chat: the decision, calls, rules, memories, pins, model and cost.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use serde::Serialize;

use super::conversations::SPEC;
use super::exchange::place;
use crate::error::DashboardError;
use crate::page::Html;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_agent::explain::{ExplainedSection, ExplanationReader};
use figaro_base::ids::SessionId;
use figaro_domain::conversation::EntryKey;
use figaro_prompts::texts::fill;

/// Parts of the path after the conversations.
const DEPTH: usize = 3;
/// Maximum length of a memory or pin, in characters.
const WORDS_CHARS: usize = 500;

#[derive(Debug, Serialize)]
struct WhyPage {
    /// Where the message stands, below the conversations.
    place: String,
    place_name: String,
    question: Option<String>,
    reason: String,
    sections: Vec<ExplainedSection>,
}

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/conversations/{session}/why/{index}", get(show))
}

async fn show(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path((id, index)): Path<(SessionId, u32)>,
) -> Result<Html, DashboardError> {
    let session = dashboard.store.sessions().find(id)?;
    let session = session.filter(|session| viewer.may_see(session.conversation.chat));
    let session = session.ok_or(DashboardError::NotFound)?;
    let reader = ExplanationReader {
        user: viewer.user(),
        is_owner: viewer.is_owner,
        is_alone: true,
        chat: session.conversation.chat,
        texts: &viewer.texts,
        chars: WORDS_CHARS,
    };
    let entry = EntryKey { session: id, index };
    let subject = dashboard.explainer.entry(session.conversation, entry)?;
    let subject = subject.ok_or(DashboardError::NotFound)?;
    let explained = dashboard.explainer.explain(&reader, &subject)?.ok_or(DashboardError::NotFound)?;
    let title = fill(viewer.texts.why_title(), &[("time", &viewer.time(explained.began))]);
    let shown = WhyPage {
        place: place(entry),
        place_name: viewer.titled(&session),
        question: explained.question.filter(|question| !question.trim().is_empty()),
        reason: explained.reason,
        sections: explained.sections,
    };
    // To read the audit log again and again would be dear.
    let is_live = !explained.is_answered;
    viewer.page(&dashboard, SPEC.below("why.html", &title).at(DEPTH).live_if(is_live), shown)
}
