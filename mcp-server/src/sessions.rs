//! Bounds the MCP sessions: clients that vanish without a word leave theirs behind. Used by `http`.
//! The session that was unused the longest makes room; its client, if there is one, gets 404 and starts a new one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};

/// At about 50 kB each, they stay small beside the rest.
const MAX_SESSIONS: usize = 32;
/// A session nobody used for this long is dropped in any case.
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);
/// So long an answer is kept for a client whose connection broke under it: a list of tools takes half a megabyte.
const RESUMABLE: Duration = Duration::from_secs(10);
const SESSION_ID: &str = "mcp-session-id";

/// The open sessions and the order of their last use.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    /// Oldest use first. Holds sessions that ended by themselves until room is needed.
    used: Mutex<VecDeque<SessionId>>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(MAX_IDLE);
        config.completed_cache_ttl = RESUMABLE;
        let mut manager = LocalSessionManager::default();
        manager.session_config = config;
        Self { manager: Arc::new(manager), used: Mutex::default() }
    }

    /// What keeps the sessions themselves.
    pub(crate) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Middleware: notes which session a request used, opened or closed.
    pub(crate) async fn track(State(sessions): State<Arc<Self>>, request: Request, next: Next) -> Response {
        let asked = session_id(request.headers());
        let closes = request.method() == Method::DELETE;
        let response = next.run(request).await;
        match asked.or_else(|| session_id(response.headers())) {
            Some(id) if closes => sessions.forget(&id),
            Some(id) => sessions.touch(id).await,
            None => {}
        }
        response
    }

    fn forget(&self, id: &SessionId) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| known != id);
    }

    async fn touch(&self, id: SessionId) {
        let full = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.retain(|known| *known != id);
            used.push_back(id);
            used.len() > MAX_SESSIONS
        };
        if !full {
            return;
        }
        let oldest = {
            let open = self.manager.sessions.read().await;
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.retain(|known| open.contains_key(known));
            if used.len() > MAX_SESSIONS { used.pop_front() } else { None }
        };
        if let Some(oldest) = oldest
            && let Err(error) = self.manager.close_session(&oldest).await
        {
            tracing::warn!(%error, "an unused session did not close");
        }
    }
}

fn session_id(headers: &HeaderMap) -> Option<SessionId> {
    headers.get(SESSION_ID)?.to_str().ok().map(SessionId::from)
}
