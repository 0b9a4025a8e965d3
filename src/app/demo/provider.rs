//! Provider of the demo's offline model: the default provider's client under a name that belongs to no company, because
//! nothing leaves this machine.

use std::sync::Arc;

use figaro_domain::generation::Generation;
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};
use figaro_provider::{
    BUILTIN, Capabilities, Demand, Descriptor, EventStream, Provider, ProviderError, Request,
};
use futures::FutureExt;
use futures::future::{self, BoxFuture};

/// Name of the provider, and of its only model.
pub(super) const NAME: &str = "demo";
pub(super) const MODEL: &str = "on-this-machine";
/// Variables that the demo itself sets.
pub(super) const BASE_URL_VARIABLE: &str = "DEMO_BASE_URL";
pub(super) const MODEL_VARIABLE: &str = "DEMO_MODEL";
pub(super) const KEY_VARIABLE: &str = "DEMO_API_KEY";

/// Default provider, whose dialect the offline model speaks.
const CLIENT: Descriptor = BUILTIN[0];

/// The offline model of `figaro demo`.
pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    spec: ProviderSpec {
        name: NAME,
        description: "the offline model of the demo",
        variables: &[
            ProviderVariable::base_url(BASE_URL_VARIABLE, "Where the offline model answers.")
                .required("`figaro demo` sets it"),
            ProviderVariable::key(KEY_VARIABLE, "Any key: the offline model checks only that there is one."),
            ProviderVariable::model(MODEL_VARIABLE, "The offline model.")
                .required("`figaro demo` sets it")
                .sets_up(),
        ],
        services: &[],
    },
    build: |settings, http, idle_limit| Arc::new(DemoProvider((CLIENT.build)(settings, http, idle_limit))),
    embedder: None,
    transcriber: None,
    speech: None,
    painter: None,
};

/// Default provider's client, under the demo's name.
#[derive(Debug)]
struct DemoProvider(Arc<dyn Provider>);

impl Provider for DemoProvider {
    fn name(&self) -> &'static str {
        NAME
    }

    // A picture reaches the model, which says itself that it has no eyes.
    fn capabilities(&self, model: &str) -> Capabilities {
        Capabilities { vision: true, ..self.0.capabilities(model) }
    }

    fn window(&self, model: &str) -> Option<usize> {
        self.0.window(model)
    }

    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str> {
        self.0.ignored(model, settings)
    }

    fn meets(&self, demand: Demand) -> bool {
        self.0.meets(demand)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        future::ready(Ok(vec![MODEL.to_owned()])).boxed()
    }

    fn stream(&self, request: Request) -> EventStream {
        self.0.stream(request)
    }
}
