//! Language models behind one trait with one streaming method. Requests, events and errors are the same for all of
//! them. The abilities of a model are data. Used by the ledger, and by the binary, which builds the table of
//! providers.
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
pub mod local_transcribe;
mod loose;
mod media;
pub mod models;
mod offered;
mod ollama;
mod openai_chat;
mod openai_client;
mod openai_embed;
mod openai_paint;
mod openai_responses;
mod openai_speech;
mod openai_transcribe;
pub mod paint;
pub mod parted_transcribe;
pub mod price;
mod request;
pub mod retry;
pub mod speech;
mod thinking;
pub mod transcribe;
pub mod trials;
mod usage;
mod written;

use std::fmt::Debug;

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use figaro_domain::generation::Generation;

pub use builtin::BUILTIN;
pub use capabilities::Capabilities;
pub use descriptor::{Descriptor, Make, Providers};
pub use error::ProviderError;
pub use event::{Event, Finish, HostedSearch};
pub use media::MediaPart;
pub use request::{AnswerOptions, AnswerSchema, Demand, Earlier, Item, Request, ToolChoice, ToolSpec};

/// Stream of one answer. It ends after [`Event::Completed`] or the first error.
pub type EventStream = BoxStream<'static, Result<Event, ProviderError>>;

/// Service that runs models.
pub trait Provider: Debug + Send + Sync {
    /// Returns the provider's name in `provider:model`.
    fn name(&self) -> &'static str;

    /// Returns the abilities of a model of this provider.
    fn capabilities(&self, model: &str) -> Capabilities {
        Capabilities::of(self.name(), model)
    }

    /// Returns the maximum number of tokens of request and answer together, if it is known before the call. A
    /// decorator passes the call on.
    fn window(&self, model: &str) -> Option<usize>;

    /// Returns the names of the settings that this model does not support. They are left out of its requests.
    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str>;

    /// Returns `true` if the provider supports this demand. Whether the model does is in [`Self::capabilities`]. A
    /// decorator passes the call on.
    fn meets(&self, _demand: Demand) -> bool {
        false
    }

    /// Lists the models served now, in the provider's order.
    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>>;

    /// Begins one pass. A failure to begin is the first item of the stream. Dropping the stream cancels the call.
    fn stream(&self, request: Request) -> EventStream;
}
