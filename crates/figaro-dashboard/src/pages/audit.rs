//! The audit log: decisions about calls and access, and sign-ins; and whether its chain is whole.

use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::OwnerViewer;
use figaro_base::ids::ChatId;
use figaro_domain::audit::{AuditActor, AuditEntry, AuditVerdict};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::AuditStore;

/// Entries of a page, and entries that are looked through for refusals.
const ENTRIES: usize = 100;
const LOOKED_THROUGH: usize = 5_000;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "audit", title: Texts::audit_title, for_owners: true, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/audit", get(show))
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct AuditChoice {
    before: Option<u64>,
    refused: bool,
    verify: bool,
}

#[derive(Debug, Serialize)]
struct AuditPage {
    entries: Vec<AuditRow>,
    refused: bool,
    /// Number before which the next page ends; `None` on the last page.
    next: Option<u64>,
    verdict: Option<String>,
}

#[derive(Debug, Serialize)]
struct AuditRow {
    number: u64,
    at: String,
    actor: String,
    what: &'static str,
    call: String,
    target: String,
    place: String,
    rule: String,
    is_refusal: bool,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
    Query(choice): Query<AuditChoice>,
) -> Result<Html, DashboardError> {
    let texts = &viewer.texts;
    let log = dashboard.store.audit();
    let looked = if choice.refused { LOOKED_THROUGH } else { ENTRIES };
    let found = log.newest(choice.before, looked)?;
    let last = found.last().map(|entry| entry.seq).filter(|_| found.len() == looked);
    let fits = |entry: &AuditEntry| !choice.refused || entry.event.what.is_refusal();
    let all: Vec<AuditEntry> = found.into_iter().filter(fits).take(ENTRIES).collect();
    let shown = all.last().map(|entry| entry.seq).filter(|_| all.len() == ENTRIES);
    let names = dashboard.find_names(all.iter().flat_map(chats_of), viewer.now).await;
    let entries = all.iter().map(|entry| {
        let event = &entry.event;
        AuditRow {
            number: entry.seq,
            at: viewer.time(event.at),
            actor: match &event.actor {
                AuditActor::Person(user) => names.of_user(user),
                AuditActor::Bot => texts.audit_bot().to_owned(),
                AuditActor::Model => texts.audit_model().to_owned(),
            },
            what: texts.audited(event.what),
            call: event.method.as_ref().map(|method| texts.method(method.as_str())).unwrap_or_default(),
            target: event
                .target_user
                .as_ref()
                .map(|user| names.of_user(user))
                .or_else(|| event.target_chat.map(|chat| names.of(chat)))
                .unwrap_or_default(),
            place: event.chat.map(|chat| names.of(chat)).unwrap_or_default(),
            rule: event.rule.as_ref().map(|rule| rule.as_str().to_owned()).unwrap_or_default(),
            is_refusal: event.what.is_refusal(),
        }
    });
    let entries = entries.collect();
    let verdict = match choice.verify {
        true => Some(verdict(texts, &verified(log).await?)),
        false => None,
    };
    let audit = AuditPage { entries, refused: choice.refused, next: shown.or(last), verdict };
    let is_live = choice == AuditChoice::default();
    viewer.page(&dashboard, SPEC.shown("audit.html").live_if(is_live), audit)
}

/// Checks the whole log, beside the requests of others.
async fn verified(log: AuditStore) -> Result<AuditVerdict, DashboardError> {
    let checked = spawn_blocking(move || log.verify()).await;
    Ok(checked.map_err(|error| DashboardError::Failed(error.to_string().into()))??)
}

fn chats_of(entry: &AuditEntry) -> Vec<ChatId> {
    let event = &entry.event;
    let actor = match &event.actor {
        AuditActor::Person(user) => user.telegram_id(),
        AuditActor::Bot | AuditActor::Model => None,
    };
    let people = actor.into_iter().chain(event.target_user.as_ref().and_then(|user| user.telegram_id()));
    people.map(ChatId).chain(event.chat).chain(event.target_chat).collect()
}

fn verdict(texts: &Texts, verdict: &AuditVerdict) -> String {
    let count = verdict.entries.to_string();
    match verdict.broken {
        None => fill(texts.audit_whole(), &[("count", &count)]),
        Some(place) => fill(texts.audit_broken(), &[("count", &count), ("place", &place.to_string())]),
    }
}
