//! Offline model on loopback. A `Brain` answers in every dialect: OpenAI's Responses API and Chat Completions, Ollama's and
//! Gemini's own. Serves `figaro demo` with a [`DemoModel`] and the tests with a `ReplyScript`. Checks every request as
//! strictly as the real service.
//!
//! Layers, lowest first: `request` and `reply`, the common form; `naming`, `summaries` and `extraction`, the requests for
//! names of conversations, summaries and facts about people, which no script answers unless it is told to; `shared`, the
//! state of all routes; `dialect`, the interfaces, and `respond`, which answers through them; the dialects; `server`, their
//! routes.

mod chat;
mod checks;
mod demo_model;
mod dialect;
mod embeddings;
mod extraction;
#[cfg(feature = "testing")]
mod fault;
mod gemini;
mod naming;
mod ollama;
mod openai;
mod reply;
mod request;
mod respond;
mod responses;
mod server;
mod shared;
mod summaries;
#[cfg(feature = "testing")]
mod testing;
#[cfg(test)]
mod tests;
mod vectors;

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "testing")]
use std::time::Duration;

use tokio::net::TcpListener;

pub use self::demo_model::DemoModel;
#[cfg(feature = "testing")]
pub use self::fault::VectorFault;
pub use self::reply::{Brain, ModelReply, ReplyPart};
pub use self::request::{ModelRequest, VectorRequest};
use self::shared::SharedModel;
#[cfg(feature = "testing")]
pub use self::testing::ReplyScript;
use crate::Runtime;
#[cfg(feature = "testing")]
pub use crate::gate::Gate;

/// Handle of a running offline model. Cheap to clone; the server ends with its runtime.
#[derive(Clone)]
pub struct OfflineModel {
    shared: SharedModel,
    /// Base address of the server, without a path.
    origin: Arc<str>,
    /// Base address of OpenAI's dialects.
    url: Arc<str>,
}

impl OfflineModel {
    /// Serves all dialects on a listener until the runtime stops.
    ///
    /// # Errors
    /// The listener has no address.
    pub fn start(listener: TcpListener, brain: Arc<dyn Brain>, runtime: &Runtime) -> std::io::Result<Self> {
        let origin = format!("http://{}", listener.local_addr()?);
        let shared = SharedModel::new(brain, runtime);
        runtime.spawn("offline model", server::serve(shared.clone(), listener));
        let url = format!("{origin}/v1").into();
        Ok(Self { shared, origin: origin.into(), url })
    }

    /// Returns the base address of OpenAI's dialects, like `http://127.0.0.1:4711/v1`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the base address of Ollama's API, like `http://127.0.0.1:4711`.
    #[must_use]
    pub fn ollama_url(&self) -> &str {
        &self.origin
    }

    /// Returns the base address of Gemini's API, like `http://127.0.0.1:4711/v1beta`.
    #[must_use]
    pub fn gemini_url(&self) -> String {
        format!("{}/v1beta", self.origin)
    }

    /// Removes a model from all dialects.
    pub fn retire(&self, model: &str) {
        self.shared.retire(model);
    }
}

#[cfg(feature = "testing")]
impl OfflineModel {
    /// Returns the requests for answers so far, invalid ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.records().look(<[_]>::to_vec)
    }

    /// Returns the requests for names of conversations so far. [`Self::requests`] does not contain them.
    #[must_use]
    pub fn naming_requests(&self) -> Vec<ModelRequest> {
        self.shared.records().names()
    }

    /// Returns the requests for summaries so far. [`Self::requests`] does not contain them.
    #[must_use]
    pub fn summary_requests(&self) -> Vec<ModelRequest> {
        self.shared.records().summaries()
    }

    /// Returns the requests for facts about people so far. [`Self::requests`] does not contain them.
    #[must_use]
    pub fn extraction_requests(&self) -> Vec<ModelRequest> {
        self.shared.records().extractions()
    }

    /// Returns the valid requests for vectors so far.
    #[must_use]
    pub fn vector_requests(&self) -> Vec<VectorRequest> {
        self.shared.records().vector_requests()
    }

    /// Plans faults for the next requests for vectors, one per request, in order.
    pub fn fail_vectors(&self, faults: impl IntoIterator<Item = VectorFault>) {
        self.shared.records().plan(faults);
    }

    /// Returns the violations found in requests. A test asserts that there are none.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.shared.records().violations()
    }

    /// Calls `find` after every new request until it returns a value; `None` on timeout.
    pub async fn wait_until<T>(
        &self,
        timeout: Duration,
        mut find: impl FnMut(&[ModelRequest]) -> Option<T>,
    ) -> Option<T> {
        self.wait_for(timeout, |model| model.shared.records().look(&mut find)).await
    }

    /// Calls `find` after every new request until it returns a value; `None` on timeout. Unlike that of [`Self::wait_until`],
    /// it may look at the requests for names, summaries and facts.
    pub async fn wait_for<T>(
        &self,
        timeout: Duration,
        mut find: impl FnMut(&Self) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.shared.records().changes();
        let found = async {
            loop {
                if let Some(found) = find(self) {
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
        f.debug_tuple("OfflineModel").field(&self.origin).finish()
    }
}
