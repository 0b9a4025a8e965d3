//! Language models behind one trait with one streaming method. Requests, events and errors are the same for all of
//! them; the capabilities of a model are data. Used by the ledger, and by the binary, which builds the table of providers.
//!
//! Public types to start from: [`Provider`], [`embed::Embedder`], [`BUILTIN`].

pub mod address;
mod beside;
mod boxed;
mod builtin;
mod capabilities;
mod descriptor;
pub mod embed;
mod error;
mod event;
pub mod fit;
pub mod fold;
mod gemini;
mod http;
pub mod learning;
mod loose;
pub mod models;
mod offered;
mod ollama;
mod openai_chat;
mod openai_client;
mod openai_embed;
mod openai_responses;
pub mod price;
mod request;
pub mod retry;
mod thinking;
mod usage;
mod written;

use std::fmt::Debug;

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use figaro_domain::generation::Generation;

pub use builtin::BUILTIN;
pub use capabilities::Capabilities;
pub use descriptor::{Descriptor, Providers};
pub use error::ProviderError;
pub use event::{Event, Finish, Search};
pub use request::{AnswerSchema, Demand, Earlier, Image, Item, Options, Request, ToolChoice, ToolSpec};

/// A stream of one answer; it ends after [`Event::Completed`] or the first error.
pub type EventStream = BoxStream<'static, Result<Event, ProviderError>>;

/// A service that runs models.
pub trait Provider: Debug + Send + Sync {
    /// Its name in `provider:model`.
    fn name(&self) -> &'static str;

    /// What a model of this provider can do.
    fn capabilities(&self, model: &str) -> Capabilities {
        Capabilities::of(self.name(), model)
    }

    /// The tokens that request and answer of this model may take together, where that is known before it is asked. A
    /// decorator passes the question on.
    fn window(&self, model: &str) -> Option<usize>;

    /// Those of the settings that it has nothing like for this model, by name; they are left out of its requests.
    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str>;

    /// Whether it can do this for a request. What a model can do of it, [`Self::capabilities`] tell. A decorator passes the question on.
    fn meets(&self, _demand: Demand) -> bool {
        false
    }

    /// The names of the models it serves now, in its own order.
    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>>;

    /// Begins one pass. A failure to begin is the stream's first item. Dropping the stream cancels the call.
    fn stream(&self, request: Request) -> EventStream;
}
