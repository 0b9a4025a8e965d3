//! An offline model on loopback, answered by a [`Brain`] instead of a network, whatever dialect is spoken: OpenAI's
//! Responses API and Chat Completions, Ollama's and Gemini's own. Serves `figaro demo` with a [`DemoModel`] and the tests
//! with a `Script`; checks every request as strictly as the service it stands in for.

mod chat;
mod checks;
mod demo_model;
mod dialect;
mod gemini;
mod http;
mod ollama;
mod openai;
mod reply;
mod request;
mod responses;
#[cfg(feature = "testing")]
mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "testing")]
use std::time::Duration;

use tokio::net::TcpListener;

pub use self::demo_model::DemoModel;
pub use self::reply::{Brain, Part, Reply};
pub use self::request::{ModelRequest, Picture};
#[cfg(feature = "testing")]
use self::testing::Records;
#[cfg(feature = "testing")]
pub use self::testing::Script;
use crate::Runtime;
#[cfg(feature = "testing")]
pub use crate::gate::Gate;

/// A handle on a running offline model. Cheap to clone; the server ends with its runtime.
#[derive(Clone)]
pub struct OfflineModel(Arc<Shared>);

struct Shared {
    seen: Mutex<Seen>,
    #[cfg(feature = "testing")]
    records: Records,
    brain: Arc<dyn Brain>,
    /// Without a path.
    origin: String,
    url: String,
    runtime: Runtime,
}

#[derive(Default)]
struct Seen {
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
        let model = Self(Arc::new(Shared {
            seen: Mutex::default(),
            #[cfg(feature = "testing")]
            records: Records::default(),
            brain,
            origin,
            url,
            runtime: runtime.clone(),
        }));
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

    /// Gives an answer its number.
    fn next_answer(&self) -> u64 {
        self.with(|seen| {
            seen.last_response += 1;
            seen.last_response
        })
    }

    fn is_retired(&self, model: &str) -> bool {
        self.with(|seen| seen.retired.contains(model))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        work(&mut self.0.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(feature = "testing")]
impl OfflineModel {
    /// The requests for answers so far, bad ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.records.look(<[_]>::to_vec)
    }

    /// What was wrong with requests; a test asserts that there is nothing.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.0.records.violations()
    }

    /// Looks at the requests after every new one until something is found; `None` when the time is over.
    pub async fn wait_until<T>(
        &self,
        timeout: Duration,
        mut find: impl FnMut(&[ModelRequest]) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.0.records.changes();
        let found = async {
            loop {
                if let Some(found) = self.0.records.look(&mut find) {
                    return Some(found);
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(timeout, found).await.unwrap_or_default()
    }
}

impl fmt::Debug for OfflineModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfflineModel").field(&self.0.url).finish()
    }
}
