//! Conversations: a list of all with the newest first, a search by words and meaning, and one conversation with its calls, costs
//! and memories.

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::routing::get;
use serde::{Deserialize, Serialize};

use super::exchange::{ShownMessage, shown_messages};
use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::{ChatId, SessionId};
use figaro_domain::conversation::Session;
use figaro_domain::usage::Payer;
use figaro_memory::{RecallQuery, Recalled};
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Conversations of a page, and messages of a page of one.
const LISTED: usize = 50;
const MESSAGES: u32 = 50;
/// Last page of the list.
const MAX_PAGE: usize = 1_000;
/// Maximum number of chats that a search looks through, the newest first, and of its results.
const SEARCHED: usize = 30;
const FOUND: usize = 40;
/// Bound of what a search returns from one chat, in tokens.
const FOUND_TOKENS: usize = 3_000;
/// Maximum length of a search, in characters.
const MAX_QUERY_CHARS: usize = 500;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "conversations", title: Texts::sessions_title, for_owners: false, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/conversations", get(show)).route("/conversations/{session}", get(one))
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
    /// `true` if a search looked through a part of the chats only.
    is_cut: bool,
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
    let (found, is_cut) = match q.is_empty() {
        true => (Vec::new(), false),
        false => search(&dashboard, &viewer, wanted, &q).await?,
    };
    let page = page.min(MAX_PAGE);
    let skipped = page * LISTED;
    let mut listed = match q.is_empty() {
        true => dashboard.store.sessions().newest(wanted, skipped, LISTED + 1)?,
        false => Vec::new(),
    };
    let has_more = listed.len() > LISTED;
    listed.truncate(LISTED);
    let chats = listed.iter().map(|one| one.session.conversation.chat).chain(chat.map(ChatId));
    let names = dashboard.find_names(chats, viewer.now).await;
    let rows = listed.into_iter().map(|listed| ListRow {
        id: listed.session.id,
        chat: listed.session.conversation.chat.0,
        chat_name: named(&listed.session).unwrap_or_else(|| names.of(listed.session.conversation.chat)),
        title: title(&viewer, &listed.session),
        last: viewer.time(listed.session.updated_at),
        messages: listed.next_index,
    });
    let shown = ConversationsPage {
        q,
        chat,
        chat_name: chat.map(|chat| names.of(ChatId(chat))),
        rows: rows.collect(),
        found,
        is_cut,
        page,
        has_more,
    };
    let is_live = shown.q.is_empty();
    // A search may cost something.
    viewer.page(&dashboard, SPEC.shown("conversations.html").live_if(is_live), shown)
}

fn title(viewer: &Viewer, session: &Session) -> String {
    let name = session.name.as_ref().map(|name| name.text.clone());
    name.unwrap_or_else(|| viewer.texts.session_unnamed().to_owned())
}

/// Returns the name that a caller over HTTP gave to a conversation.
fn named(session: &Session) -> Option<String> {
    session.external_name.clone()
}

/// Searches one chat, or the newest ones. Returns what was found, and whether some were left out.
async fn search(
    dashboard: &Dashboard,
    viewer: &Viewer,
    wanted: Option<ChatId>,
    q: &str,
) -> Result<(Vec<FoundRow>, bool), DashboardError> {
    let (chats, is_cut) = match wanted {
        Some(chat) => (vec![chat], false),
        None => newest_chats(dashboard)?,
    };
    // An embedder is asked once for a chat, so all chats are searched by words alone.
    let index = match wanted {
        Some(_) => dashboard.chats.clone(),
        None => dashboard.chats.clone().with_meaning(None),
    };
    let payer = Payer::new(viewer.own_chat().unwrap_or(ChatId(0)), viewer.user().clone());
    let mut all: Vec<(ChatId, Recalled)> = Vec::new();
    for chat in &chats {
        let zone = dashboard.store.settings().chat_config(*chat)?.timezone.unwrap_or(dashboard.default_zone);
        let query = RecallQuery {
            chat: *chat,
            session: None,
            text: q,
            before: None,
            asked_at: viewer.now,
            zone,
            shown: None,
            tokens: FOUND_TOKENS,
            payer: payer.clone(),
        };
        all.extend(index.recall(&query).await?.into_iter().map(|found| (*chat, found)));
    }
    all.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
    all.truncate(FOUND);
    let names = dashboard.find_names(all.iter().map(|(chat, _)| *chat), viewer.now).await;
    let found = all.into_iter().map(|(chat, found)| FoundRow {
        id: found.message.session,
        index: found.message.index,
        chat_name: names.of(chat),
        by: dashboard.writer(found.message.speaker.as_ref()),
        at: viewer.time(found.message.created_at),
        text: found.text,
    });
    Ok((found.collect(), is_cut))
}

fn newest_chats(dashboard: &Dashboard) -> Result<(Vec<ChatId>, bool), StoreError> {
    let mut chats: Vec<ChatId> = Vec::new();
    // A chat may have many conversations.
    for listed in dashboard.store.sessions().newest(None, 0, 20 * SEARCHED)? {
        let chat = listed.session.conversation.chat;
        if !chats.contains(&chat) {
            chats.push(chat);
        }
    }
    let is_cut = chats.len() > SEARCHED;
    chats.truncate(SEARCHED);
    Ok((chats, is_cut))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PartChoice {
    /// First message that is shown; the newest ones without it.
    from: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ConversationPage {
    chat: i64,
    chat_name: String,
    about: String,
    messages: Vec<ShownMessage>,
    /// Where the earlier and the later messages begin; `None` if there are none.
    earlier: Option<u32>,
    later: Option<u32>,
    summaries: Vec<ShownSummary>,
}

#[derive(Debug, Serialize)]
struct ShownSummary {
    from: String,
    until: String,
    text: String,
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
    let summaries = dashboard.store.summaries().of_session(id)?;
    let summaries = summaries.into_iter().filter(|summary| summary.is_shown()).map(|summary| ShownSummary {
        from: viewer.time(summary.from),
        until: viewer.time(summary.until),
        text: summary.summary,
    });
    let shown = ConversationPage {
        chat: chat.0,
        chat_name: named(&session).unwrap_or_else(|| names.of(chat)),
        about: viewer.time(session.created_at),
        messages: shown_messages(&dashboard, &viewer, &messages)?,
        earlier: (from > 0).then(|| from.saturating_sub(MESSAGES)),
        later: (end < next).then_some(end),
        summaries: summaries.collect(),
    };
    let title = title(&viewer, &session);
    viewer.page(&dashboard, SPEC.below("conversation.html", &title), shown)
}
