//! An offline model on loopback, answered by a [`Brain`] instead of a network, whatever dialect is spoken: OpenAI's
//! Responses API and Chat Completions, Ollama's and Gemini's own. Serves `figaro demo` with a [`Showman`] and the tests
//! with a [`Script`]; checks every request as strictly as the service it stands in for.

mod chat;
mod checks;
mod dialect;
mod gemini;
mod http;
mod ollama;
mod openai;
mod reply;
mod request;
mod responses;
mod script;
mod showman;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use self::http::Complaint;
pub use self::reply::{Brain, Gate, Part, Reply};
pub use self::request::{ModelRequest, Picture};
pub use self::script::Script;
pub use self::showman::Showman;
use crate::Runtime;

/// Older requests are forgotten beyond this.
const MOST_REQUESTS: usize = 2_000;

/// A handle on a running offline model. Cheap to clone; the server ends with its runtime.
#[derive(Clone)]
pub struct OfflineModel(Arc<Shared>);

struct Shared {
    seen: Mutex<Seen>,
    changed: watch::Sender<()>,
    brain: Arc<dyn Brain>,
    /// Without a path.
    origin: String,
    url: String,
    runtime: Runtime,
}

#[derive(Default)]
struct Seen {
    requests: Vec<ModelRequest>,
    violations: Vec<String>,
    last_response: u64,
    retired: BTreeSet<String>,
}

impl OfflineModel {
    /// Serves all dialects on a listener until the runtime stops.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start(listener: TcpListener, brain: Arc<dyn Brain>, runtime: &Runtime) -> std::io::Result<Self> {
        let origin = format!("http://{}", listener.local_addr()?);
        let url = format!("{origin}/v1");
        let (seen, changed) = (Mutex::default(), watch::Sender::new(()));
        let model = Self(Arc::new(Shared { seen, changed, brain, origin, url, runtime: runtime.clone() }));
        runtime.spawn("offline model", http::serve(model.clone(), listener));
        Ok(model)
    }

    /// The base address of OpenAI's dialects, like `http://127.0.0.1:4711/v1`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The base address of Ollama's API, like `http://127.0.0.1:4711`.
    #[must_use]
    pub fn ollama_url(&self) -> &str {
        &self.0.origin
    }

    /// The base address of Gemini's API, like `http://127.0.0.1:4711/v1beta`.
    #[must_use]
    pub fn gemini_url(&self) -> String {
        format!("{}/v1beta", self.0.origin)
    }

    /// From now on there is no model of this name, in no dialect.
    pub fn retire(&self, model: &str) {
        self.with(|seen| seen.retired.insert(model.to_owned()));
    }

    /// The requests for answers so far, bad ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.with(|seen| seen.requests.clone())
    }

    /// What was wrong with requests; a test asserts that there is nothing.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.with(|seen| seen.violations.clone())
    }

    /// Looks at the requests after every new one until something is found; `None` when the time is over.
    pub async fn wait_until<T>(
        &self,
        timeout: Duration,
        mut find: impl FnMut(&[ModelRequest]) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.0.changed.subscribe();
        let found = async {
            loop {
                if let Some(found) = self.with(|seen| find(&seen.requests)) {
                    return Some(found);
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(timeout, found).await.unwrap_or_default()
    }

    /// Notes a request with what is wrong with it, and gives it a number.
    fn note(&self, request: &ModelRequest, complaint: Option<&Complaint>) -> u64 {
        let violation = match complaint {
            Some(Complaint::Violation(refusal)) => Some(refusal.message.clone()),
            Some(Complaint::Gone(_)) | None => None,
        };
        let number = self.with(|seen| {
            if seen.requests.len() >= MOST_REQUESTS {
                seen.requests.drain(..MOST_REQUESTS / 2);
            }
            seen.requests.push(request.clone());
            seen.violations.extend(violation);
            seen.last_response += 1;
            seen.last_response
        });
        self.0.changed.send_replace(());
        number
    }

    fn is_retired(&self, model: &str) -> bool {
        self.with(|seen| seen.retired.contains(model))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        work(&mut self.0.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for OfflineModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfflineModel").field(&self.0.url).finish()
    }
}
