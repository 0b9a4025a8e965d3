//! Bounds the MCP sessions: clients that vanish without a word leave theirs behind. Used by `http`.
//! Room for a new one is made by the session that was idle the longest; its client, if there is one, gets 404 and starts
//! a new one. A session with a call under way or an open stream is never ended: where all are, a new client gets 503.

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

/// At about 50 kB each. The README names it.
const MAX_SESSIONS: usize = 256;
/// A session that was idle for this long ends when the next one begins, also where there is room for both.
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);
/// So long an answer is kept for a client whose connection broke under it: a list of tools takes half a megabyte.
const RESUMABLE: Duration = Duration::from_secs(10);
/// What a client that found no room is told to wait, in seconds.
const RETRY_AFTER: &str = "10";
/// What it is told.
const FULL: &str = "all MCP sessions are in use: end one, or try again later";

/// The open sessions and who uses them.
#[derive(Debug)]
pub(crate) struct Sessions {
    manager: LocalSessionManager,
    open: Open,
    /// Held while a session is made, so that two never take one place.
    making: tokio::sync::Mutex<()>,
}

type Open = Arc<Mutex<HashMap<SessionId, Usage>>>;

#[derive(Debug)]
struct Usage {
    /// Calls under way and open streams.
    users: usize,
    /// When the last one of them began or ended.
    last: Instant,
}

/// A use of a session. The session is idle once all of its uses are dropped.
#[derive(Debug)]
struct InUse {
    open: Open,
    id: SessionId,
}

/// Why a session is not to be had.
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
        // It would end a session under an open stream on which nothing comes.
        config.keep_alive = None;
        config.completed_cache_ttl = RESUMABLE;
        let mut manager = LocalSessionManager::default();
        manager.session_config = config;
        Self { manager, open: Open::default(), making: tokio::sync::Mutex::default() }
    }

    /// Middleware: the refusal of a session comes as a fault of the server's, and leaves as what it is.
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

    /// Takes out the sessions that have to go for a new one.
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

    /// Keeps a session from being ended. One that is being ended has no uses any more.
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
        self.open.lock().insert(id.clone(), Usage { users: 0, last: Instant::now() });
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
        // Goes with the call, which may outlast its connection.
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

/// The stream, which is a use of its session until it is dropped.
fn held<S: Stream>(stream: S, used: Arc<InUse>) -> impl Stream<Item = S::Item> + use<S> {
    stream.map(move |message| {
        let _used = &used;
        message
    })
}
