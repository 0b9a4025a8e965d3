//! Memory of a person: facts with their sources, and pins of their private chat. They can be reworded and erased.

use axum::Form;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use crate::error::PageError;
use crate::page::{Html, PageSpec};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::{ChatId, MemoryId, PinId, SessionId, UserId};
use figaro_domain::facts::OwnChange;
use figaro_domain::memory::MAX_CONTENT_CHARS;
use figaro_domain::pin::PinType;
use figaro_memory::facts::has_secret;
use figaro_prompts::texts::{Texts, fill};

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "memory", title: Texts::dashboard_memory, for_owners: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/memory", get(show))
        .route("/memory/{person}/facts/{fact}", post(change_fact))
        .route("/memory/{person}/pins/{pin}", post(remove_pin))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    /// Number of the person; the viewer without one.
    of: Option<i64>,
}

#[derive(Debug, Serialize)]
struct Remembered {
    /// Number of the person.
    of: i64,
    /// Name of the person; `None` for the viewer, who may also reword.
    name: Option<String>,
    facts: Vec<Fact>,
    pins: Vec<ShownPin>,
    most_chars: usize,
}

#[derive(Debug, Serialize)]
struct Fact {
    id: MemoryId,
    content: String,
    place: String,
    since: String,
    used: u32,
    /// Place of the message that it is from.
    session: SessionId,
    index: u32,
}

#[derive(Debug, Serialize)]
struct ShownPin {
    id: PinId,
    content: String,
    importance: f32,
    since: String,
}

/// Returns the person with this number, if the viewer may see their memory.
fn person(viewer: &Viewer, number: i64) -> Result<UserId, PageError> {
    let user = UserId::telegram(number);
    if number > 0 && viewer.may_see_of(&user) { Ok(user) } else { Err(PageError::NotFound) }
}

async fn show(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Query(Choice { of }): Query<Choice>,
) -> Result<Html, PageError> {
    let own = viewer.user().telegram_id().unwrap_or_default();
    let of = of.unwrap_or(own);
    let user = person(&viewer, of)?;
    let mut all = dashboard.store.facts().of_person(&user)?;
    all.retain(figaro_domain::memory::Memory::is_active);
    all.sort_by(|one, other| {
        other.worth(viewer.now).total_cmp(&one.worth(viewer.now)).then(other.created_at.cmp(&one.created_at))
    });
    let chats = all.iter().map(|memory| memory.chat).chain([ChatId(of)]);
    let names = dashboard.names().find(chats, viewer.now).await;
    let facts = all.into_iter().map(|memory| Fact {
        id: memory.id,
        place: if memory.chat.is_group() { names.of(memory.chat) } else { String::new() },
        since: viewer.time(memory.created_at),
        used: memory.access_count,
        session: memory.source.session,
        index: memory.source.index,
        content: memory.content,
    });
    let pins = dashboard.store.pins().of_chat(ChatId(of))?;
    let pins = pins.into_iter().filter(|pin| pin.pin_type != PinType::System).map(|pin| ShownPin {
        id: pin.id,
        importance: pin.importance,
        since: viewer.time(pin.created_at),
        content: pin.content,
    });
    let shown = Remembered {
        of,
        name: (of != own).then(|| names.of(ChatId(of))),
        facts: facts.collect(),
        pins: pins.collect(),
        most_chars: MAX_CONTENT_CHARS,
    };
    viewer.page(&dashboard, SPEC.shown("memory.html"), shown)
}

/// Form that changes a fact: with words it is reworded, without any it is removed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FactForm {
    words: Option<String>,
}

async fn change_fact(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path((number, fact)): Path<(i64, MemoryId)>,
    Form(FactForm { words }): Form<FactForm>,
) -> Result<Redirect, PageError> {
    let (user, texts) = (person(&viewer, number)?, &viewer.texts);
    if words.is_some() && user != *viewer.user() {
        // An owner may erase what is remembered of others, and puts no words into their mouth.
        return Err(PageError::NotFound);
    }
    let words = words.map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    let is_long = words.as_ref().is_some_and(|words| words.chars().count() > MAX_CONTENT_CHARS);
    let told = if is_long {
        fill(texts.memory_too_long(), &[("count", &MAX_CONTENT_CHARS.to_string())])
    } else if words.as_deref().is_some_and(has_secret) {
        texts.memory_secret().to_owned()
    } else {
        let change = match words.filter(|words| !words.is_empty()) {
            Some(words) => OwnChange::Reword(words),
            None => OwnChange::Remove,
        };
        let is_removal = change == OwnChange::Remove;
        match dashboard.store.facts().change(&user, fact, change, viewer.now).await? {
            None => texts.gone().to_owned(),
            Some(memory) if is_removal => fill(texts.memory_removed(), &[("text", &memory.content)]),
            Some(memory) => fill(texts.memory_edited(), &[("text", &memory.content)]),
        }
    };
    viewer.browser.tell(told);
    Ok(back(&viewer, number, "../../../memory"))
}

async fn remove_pin(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path((number, pin)): Path<(i64, PinId)>,
) -> Result<Redirect, PageError> {
    person(&viewer, number)?;
    let removed = dashboard.store.pins().remove(ChatId(number), pin).await?;
    viewer.browser.tell(match removed {
        Some(pin) => fill(viewer.texts.pins_removed(), &[("text", &pin.content)]),
        None => viewer.texts.gone().to_owned(),
    });
    Ok(back(&viewer, number, "../../../memory"))
}

fn back(viewer: &Viewer, number: i64, page: &str) -> Redirect {
    match viewer.user().telegram_id() == Some(number) {
        true => Redirect::to(page),
        false => Redirect::to(&format!("{page}?of={number}")),
    }
}
