//! Conversations: a list of all with the newest first, a search by words and meaning, and one conversation with its calls, costs
//! and memories.

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::exchange::{ShownMessage, shown_messages};
use super::summaries::{self, ShownSummary, shown_summaries};
use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::{ChatId, SessionId};
use figaro_base::tz::Tz;
use figaro_domain::conversation::Session;
use figaro_domain::usage::Payer;
use figaro_memory::{ChatSearch, SearchHit};
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Conversations of a page, and messages of a page of one.
const LISTED: usize = 50;
const MESSAGES: u32 = 50;
/// Last page of the list.
const MAX_PAGE: usize = 1_000;
/// Maximum number of chats that a search looks through at once, and of its results.
const SEARCHED: usize = 30;
const FOUND: usize = 100;
/// Maximum length of a search, in characters.
const MAX_QUERY_CHARS: usize = 500;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "conversations", title: Texts::sessions_title, for_owners: false, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/conversations", get(show))
        .route("/conversations/{session}", get(one))
        .route("/conversations/{session}/summaries/{summary}/remove", post(summaries::remove))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListChoice {
    /// Chat whose conversations are listed; all without one.
    chat: Option<i64>,
    /// Words to search for.
    q: String,
    page: usize,
}

#[derive(Debug, Serialize)]
struct ConversationsPage {
    q: String,
    chat: Option<i64>,
    chat_name: Option<String>,
    rows: Vec<ListRow>,
    found: Vec<FoundRow>,
    /// `true` if more may match than a page shows.
    is_full: bool,
    page: usize,
    has_more: bool,
}

#[derive(Debug, Serialize)]
struct ListRow {
    id: SessionId,
    chat: i64,
    chat_name: String,
    title: String,
    last: String,
    messages: u32,
}

#[derive(Debug, Serialize)]
struct FoundRow {
    id: SessionId,
    index: u32,
    chat_name: String,
    by: String,
    at: String,
    text: String,
}

async fn show(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Query(ListChoice { chat, q, page }): Query<ListChoice>,
) -> Result<Html, DashboardError> {
    let wanted = match (chat.map(ChatId), viewer.is_owner) {
        (Some(chat), _) if !viewer.may_see(chat) => return Err(DashboardError::NotFound),
        (Some(chat), _) => Some(chat),
        (None, true) => None,
        (None, false) => Some(viewer.own_chat().ok_or(DashboardError::NotFound)?),
    };
    let q: String = q.trim().chars().take(MAX_QUERY_CHARS).collect();
    let is_search = !q.is_empty();
    // One chat is searched whole.
    let page = if is_search && wanted.is_some() { 0 } else { page.min(MAX_PAGE) };
    let (listed, mut found, has_more) = match is_search {
        true => {
            let (found, has_more) = search(&dashboard, &viewer, wanted, &q, page).await?;
            (Vec::new(), found, has_more)
        }
        false => {
            let mut listed = dashboard.store.sessions().newest(wanted, page * LISTED, LISTED + 1)?;
            let has_more = listed.len() > LISTED;
            listed.truncate(LISTED);
            (listed, Vec::new(), has_more)
        }
    };
    let chats = listed.iter().map(|one| one.session.conversation.chat).chain(chat.map(ChatId));
    let names = dashboard.find_names(chats, viewer.now).await;
    let rows = listed.into_iter().map(|listed| ListRow {
        id: listed.session.id,
        chat: listed.session.conversation.chat.0,
        chat_name: named(&listed.session).unwrap_or_else(|| names.of(listed.session.conversation.chat)),
        title: viewer.titled(&listed.session),
        last: viewer.time(listed.session.updated_at),
        messages: listed.next_index,
    });
    let rows: Vec<ListRow> = rows.collect();
    let is_full = found.len() > FOUND;
    found.truncate(FOUND);
    let of_chat = rows.first().map(|row| &row.chat_name).or(found.first().map(|row| &row.chat_name));
    let shown = ConversationsPage {
        q,
        chat,
        chat_name: chat.map(|chat| of_chat.cloned().unwrap_or_else(|| names.of(ChatId(chat)))),
        rows,
        is_full,
        found,
        page,
        has_more,
    };
    // A search may cost something.
    viewer.page(&dashboard, SPEC.shown("conversations.html").live_if(!is_search), shown)
}

/// Returns the name that a caller over HTTP gave to a conversation.
fn named(session: &Session) -> Option<String> {
    session.external_name.clone()
}

/// Searches one chat, or a part of all by words and meaning. Returns what was found, and whether there are older chats.
async fn search(
    dashboard: &Dashboard,
    viewer: &Viewer,
    wanted: Option<ChatId>,
    q: &str,
    part: usize,
) -> Result<(Vec<FoundRow>, bool), DashboardError> {
    let (chats, has_more) = match wanted {
        Some(chat) => (vec![chat], false),
        None => chats_of_part(dashboard, part)?,
    };
    let settings = dashboard.store.settings();
    let zoned = chats.into_iter().map(|chat| {
        let zone = settings.chat_config(chat)?.timezone.unwrap_or(dashboard.default_zone);
        Ok((chat, zone))
    });
    let zoned: Vec<(ChatId, Tz)> = zoned.collect::<Result<_, StoreError>>()?;
    let payer = Payer::new(viewer.own_chat().unwrap_or(ChatId(0)), viewer.user().clone());
    let search = ChatSearch { text: q, asked_at: viewer.now, payer, limit: FOUND + 1 };
    let all = dashboard.chats.search(&zoned, &search).await?;
    let names = dashboard.find_names(all.iter().map(|one| one.chat), viewer.now).await;
    let sessions = dashboard.store.sessions();
    let row = |SearchHit { chat, found }: SearchHit| {
        // Chats of Telegram have names of their own.
        let session = chat.is_external().then(|| sessions.find(found.message.session)).transpose()?.flatten();
        Ok(FoundRow {
            id: found.message.session,
            index: found.message.index,
            chat_name: session.as_ref().and_then(named).unwrap_or_else(|| names.of(chat)),
            by: dashboard.writer(found.message.speaker.as_ref()),
            at: viewer.time(found.message.created_at),
            text: found.text,
        })
    };
    let found = all.into_iter().map(row).collect::<Result<_, StoreError>>()?;
    Ok((found, has_more))
}

/// Returns the chats of a part, those with the newest messages first, and whether there are others after them.
fn chats_of_part(dashboard: &Dashboard, part: usize) -> Result<(Vec<ChatId>, bool), StoreError> {
    let chats = dashboard.store.sessions().newest_chats()?;
    let has_more = chats.len() > (part + 1) * SEARCHED;
    Ok((chats.into_iter().skip(part * SEARCHED).take(SEARCHED).collect(), has_more))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PartChoice {
    /// First message that is shown; the newest ones without it.
    from: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ConversationPage {
    id: SessionId,
    chat: i64,
    chat_name: String,
    about: String,
    messages: Vec<ShownMessage>,
    /// Where the earlier and the later messages begin; `None` if there are none.
    earlier: Option<u32>,
    later: Option<u32>,
    summaries: Vec<ShownSummary>,
}

async fn one(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(id): Path<SessionId>,
    Query(PartChoice { from }): Query<PartChoice>,
) -> Result<Html, DashboardError> {
    let session = dashboard.store.sessions().find(id)?;
    let session = session.filter(|session| viewer.may_see(session.conversation.chat));
    let session = session.ok_or(DashboardError::NotFound)?;
    let chat = session.conversation.chat;
    let next = dashboard.store.sessions().next_index(id)?;
    let from = from.unwrap_or_else(|| next.saturating_sub(MESSAGES)).min(next);
    let messages = dashboard.store.messages().messages_from(id, from, MESSAGES as usize)?;
    let end = messages.last().map_or(next, |message| message.index + 1);
    let names = dashboard.find_names([chat], viewer.now).await;
    let shown = ConversationPage {
        id,
        chat: chat.0,
        chat_name: named(&session).unwrap_or_else(|| names.of(chat)),
        about: viewer.time(session.created_at),
        messages: shown_messages(&dashboard, &viewer, &messages)?,
        earlier: (from > 0).then(|| from.saturating_sub(MESSAGES)),
        later: (end < next).then_some(end),
        summaries: shown_summaries(&dashboard, &viewer, id)?,
    };
    let title = viewer.titled(&session);
    viewer.page(&dashboard, SPEC.below("conversation.html", &title), shown)
}
