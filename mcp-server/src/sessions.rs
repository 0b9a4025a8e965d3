//! Limits the MCP sessions, since clients that vanish leave theirs behind. Used by `http`. A new session replaces the one
//! idle the longest, whose client gets 404 and starts anew. A session with a running call or an open stream is never ended;
//! if all are in use, a new client gets 503.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};

/// Maximum number of sessions, at about 50 kB each. Documented in the README.
const MAX_SESSIONS: usize = 256;
/// Idle time after which a session ends when the next one begins, even if there is room.
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);
/// Time for which an answer is kept for a client whose connection broke. Short, since a list of tools takes half a
/// megabyte.
const RESUMABLE: Duration = Duration::from_secs(10);
/// `Retry-After` in seconds for a client that found no room.
const RETRY_AFTER: &str = "10";
/// Error message for that client.
const FULL: &str = "all MCP sessions are in use: end one, or try again later";

/// Open sessions and their uses.
#[derive(Debug)]
pub(crate) struct Sessions {
    manager: LocalSessionManager,
    open: OpenSessions,
    /// Held while a session is created, so that two never take the same place.
    making: tokio::sync::Mutex<()>,
}

type OpenSessions = Arc<Mutex<HashMap<SessionId, SessionUsage>>>;

#[derive(Debug)]
struct SessionUsage {
    /// Number of running calls and open streams.
    users: usize,
    /// Time at which the last of them began or ended.
    last: Instant,
}

/// A use of a session. The session is idle once all its uses are dropped.
#[derive(Debug)]
struct InUse {
    open: OpenSessions,
    id: SessionId,
}

/// Reason why a session is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoSession {
    #[error("{FULL}")]
    Full,
    #[error("there is no such session any more")]
    Ended,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let mut config = SessionConfig::default();
        // A keep-alive would end a session with an open but silent stream.
        config.keep_alive = None;
        config.completed_cache_ttl = RESUMABLE;
        let mut manager = LocalSessionManager::default();
        manager.session_config = config;
        Self { manager, open: OpenSessions::default(), making: tokio::sync::Mutex::default() }
    }

    /// Middleware: turns the library's internal error for a full server into 503.
    pub(crate) async fn unavailable_when_full(request: Request, next: Next) -> Response {
        let response = next.run(request).await;
        if response.status() != StatusCode::INTERNAL_SERVER_ERROR {
            return response;
        }
        let (parts, body) = response.into_parts();
        let text = axum::body::to_bytes(body, 4096).await.unwrap_or_default();
        if text.ends_with(FULL.as_bytes()) {
            let headers = [(header::RETRY_AFTER, RETRY_AFTER)];
            return (StatusCode::SERVICE_UNAVAILABLE, headers, format!("{FULL}\n")).into_response();
        }
        Response::from_parts(parts, Body::from(text))
    }

    /// Removes the sessions that must end for a new one, and returns them.
    fn make_room(&self) -> Result<Vec<SessionId>, NoSession> {
        let mut open = self.open.lock();
        let idle = open.iter().filter(|(_, usage)| usage.users == 0);
        let mut idle: Vec<_> = idle.map(|(id, usage)| (usage.last, id.clone())).collect();
        idle.sort();
        let needed = (open.len() + 1).saturating_sub(MAX_SESSIONS);
        if needed > idle.len() {
            return Err(NoSession::Full);
        }
        let goes = |(at, (last, _)): &(usize, (Instant, _))| *at < needed || last.elapsed() > MAX_IDLE;
        let ended: Vec<_> = idle.into_iter().enumerate().filter(goes).map(|(_, (_, id))| id).collect();
        open.retain(|id, _| !ended.contains(id));
        Ok(ended)
    }

    /// Marks a session as in use, which keeps it open. Fails if it has ended.
    fn in_use(&self, id: &SessionId) -> Result<Arc<InUse>, NoSession> {
        let mut open = self.open.lock();
        let usage = open.get_mut(id).ok_or(NoSession::Ended)?;
        usage.users += 1;
        usage.last = Instant::now();
        Ok(Arc::new(InUse { open: Arc::clone(&self.open), id: id.clone() }))
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(usage) = self.open.lock().get_mut(&self.id) {
            usage.users -= 1;
            usage.last = Instant::now();
        }
    }
}

impl SessionManager for Sessions {
    type Error = NoSession;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), NoSession> {
        let _alone = self.making.lock().await;
        for ended in self.make_room()? {
            self.manager.close_session(&ended).await?;
        }
        let (id, transport) = self.manager.create_session().await?;
        self.open.lock().insert(id.clone(), SessionUsage { users: 0, last: Instant::now() });
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, NoSession> {
        let _used = self.in_use(id)?;
        Ok(self.manager.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, NoSession> {
        Ok(self.open.lock().contains_key(id) && self.manager.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), NoSession> {
        self.open.lock().remove(id);
        Ok(self.manager.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, NoSession> {
        let used = self.in_use(id)?;
        // Kept with the call, which may outlast its connection.
        message.insert_extension(Arc::clone(&used));
        Ok(held(self.manager.create_stream(id, message).await?, used))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), NoSession> {
        let _used = self.in_use(id)?;
        Ok(self.manager.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, NoSession> {
        let used = self.in_use(id)?;
        Ok(held(self.manager.create_standalone_stream(id).await?, used))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, NoSession> {
        let used = self.in_use(id)?;
        Ok(held(self.manager.resume(id, last_event_id).await?, used))
    }
}

/// Keeps the session in use until the stream is dropped.
fn held<S: Stream>(stream: S, used: Arc<InUse>) -> impl Stream<Item = S::Item> + use<S> {
    stream.map(move |message| {
        let _used = &used;
        message
    })
}
