//! Memory of the person: facts about them with their sources, pins of their private chat, and summaries of its conversations.
//! Facts can be reworded, and all can be erased.
//!
//! Nobody sees what is remembered about others, as in the chat: owners neither.

use axum::Form;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::exchange::place;
use super::summaries::{ShownSummary, shown_summaries};
use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::{MemoryId, PinId};
use figaro_domain::facts::OwnChange;
use figaro_domain::memory::{MAX_CONTENT_CHARS, Memory};
use figaro_domain::pin::{Pin, PinType};
use figaro_memory::facts::has_secret;
use figaro_prompts::texts::{Texts, fill};

/// Conversations whose summaries are shown.
const SESSIONS: usize = 20;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "memory", title: Texts::dashboard_memory, for_owners: false, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/memory", get(show))
        .route("/memory/facts/{fact}", post(reword))
        .route("/memory/facts/{fact}/remove", post(remove_fact))
        .route("/memory/pins/{pin}/remove", post(remove_pin))
        .route("/memory/pins/{pin}/importance", post(weigh_pin))
}

#[derive(Debug, Serialize)]
struct MemoryPage {
    facts: Vec<FactItem>,
    pins: Vec<PinItem>,
    summaries: Vec<ShownSummary>,
    most_chars: usize,
}

#[derive(Debug, Serialize)]
struct FactItem {
    id: MemoryId,
    content: String,
    place: String,
    since: String,
    used: u32,
    /// Where the message is that it is from; `None` if the person does not see that conversation.
    source: Option<String>,
}

#[derive(Debug, Serialize)]
struct PinItem {
    id: PinId,
    content: String,
    importance: String,
    since: String,
    /// Where the message is that it is from; `None` if it is not of a stored one.
    source: Option<String>,
}

async fn show(State(dashboard): State<Dashboard>, viewer: Viewer) -> Result<Html, DashboardError> {
    let mut all = dashboard.store.facts().of_person(viewer.user())?;
    all.retain(Memory::is_active);
    all.sort_by(|one, other| {
        other.worth(viewer.now).total_cmp(&one.worth(viewer.now)).then(other.created_at.cmp(&one.created_at))
    });
    let names = dashboard.find_names(all.iter().map(|memory| memory.chat), viewer.now).await;
    let facts = all.into_iter().map(|memory| FactItem {
        id: memory.id,
        place: if memory.chat.is_group() { names.of(memory.chat) } else { String::new() },
        since: viewer.time(memory.created_at),
        used: memory.access_count,
        source: viewer.may_see(memory.chat).then(|| place(memory.source)),
        content: memory.content,
    });
    let facts = facts.collect();
    let pins = match viewer.own_chat() {
        Some(chat) => dashboard.store.pins().of_chat(chat)?,
        None => Vec::new(),
    };
    let pins = pins.into_iter().filter(|pin| pin.pin_type != PinType::System).map(|pin| PinItem {
        id: pin.id,
        importance: importance(&viewer.texts, &pin),
        since: viewer.time(pin.created_at),
        source: pin.source.map(place),
        content: pin.content,
    });
    let mut summaries = Vec::new();
    if let Some(chat) = viewer.own_chat() {
        for listed in dashboard.store.sessions().newest(Some(chat), 0, SESSIONS)? {
            summaries.extend(shown_summaries(&dashboard, &viewer, listed.session.id)?);
        }
    }
    let page = MemoryPage { facts, pins: pins.collect(), summaries, most_chars: MAX_CONTENT_CHARS };
    viewer.page(&dashboard, SPEC.shown("memory.html"), page)
}

#[derive(Debug, Deserialize)]
struct RewordForm {
    words: String,
}

async fn reword(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(fact): Path<MemoryId>,
    Form(RewordForm { words }): Form<RewordForm>,
) -> Result<Redirect, DashboardError> {
    let texts = &viewer.texts;
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = if words.is_empty() {
        return Err(DashboardError::Unfit);
    } else if words.chars().count() > MAX_CONTENT_CHARS {
        fill(texts.memory_too_long(), &[("count", &MAX_CONTENT_CHARS.to_string())])
    } else if has_secret(&words) {
        texts.memory_secret().to_owned()
    } else {
        match dashboard
            .store
            .facts()
            .change(viewer.user(), fact, OwnChange::Reword(words), viewer.now)
            .await?
        {
            Some(memory) => fill(texts.memory_edited(), &[("text", &memory.content)]),
            None => texts.gone().to_owned(),
        }
    };
    viewer.browser.tell(told);
    Ok(Redirect::to("../../memory"))
}

async fn remove_fact(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(fact): Path<MemoryId>,
) -> Result<Redirect, DashboardError> {
    let removed = dashboard.store.facts().change(viewer.user(), fact, OwnChange::Remove, viewer.now).await?;
    viewer.browser.tell(match removed {
        Some(memory) => fill(viewer.texts.memory_removed(), &[("text", &memory.content)]),
        None => viewer.texts.gone().to_owned(),
    });
    Ok(Redirect::to("../../../memory"))
}

async fn remove_pin(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(pin): Path<PinId>,
) -> Result<Redirect, DashboardError> {
    let chat = viewer.own_chat().ok_or(DashboardError::NotFound)?;
    viewer.browser.tell(match dashboard.store.pins().remove(chat, pin).await? {
        Some(pin) => fill(viewer.texts.pins_removed(), &[("text", &pin.content)]),
        None => viewer.texts.gone().to_owned(),
    });
    Ok(Redirect::to("../../../memory"))
}

#[derive(Debug, Deserialize)]
struct WeighForm {
    change: PinChange,
}

/// Change of the importance of a pin, by one of ten.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PinChange {
    More,
    Less,
}

async fn weigh_pin(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(pin): Path<PinId>,
    Form(WeighForm { change }): Form<WeighForm>,
) -> Result<Redirect, DashboardError> {
    let chat = viewer.own_chat().ok_or(DashboardError::NotFound)?;
    let pins = dashboard.store.pins();
    let by = match change {
        PinChange::More => 1.0,
        PinChange::Less => -1.0,
    };
    let weighed = match pins.of_chat(chat)?.into_iter().find(|one| one.id == pin) {
        Some(known) => pins.weigh(chat, pin, known.importance + by).await?,
        None => None,
    };
    viewer.browser.tell(match weighed {
        Some(pin) => importance(&viewer.texts, &pin),
        None => viewer.texts.gone().to_owned(),
    });
    Ok(Redirect::to("../../../memory"))
}

fn importance(texts: &Texts, pin: &Pin) -> String {
    fill(texts.pins_importance(), &[("importance", &format!("{:.0}", pin.importance))])
}
