//! Settings and construction of the provider.

use std::sync::Arc;

use super::Lantern;
use super::name::NAME;
use crate::descriptor::Descriptor;
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};

/// A service that answers with text alone.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    spec: ProviderSpec {
        name: NAME,
        description: "text alone, in the Chat Completions dialect",
        variables: &[
            ProviderVariable::base_url("LANTERN_BASE_URL", "The service's address up to /v1.")
                .required("the address of the service, like http://127.0.0.1:8080/v1")
                .with_path("/v1")
                .sets_up(),
            ProviderVariable::key("LANTERN_API_KEY", "Its key, if it takes one."),
            ProviderVariable::model("LANTERN_MODEL", "The model that answers there.")
                .required("the name of a model that it serves"),
        ],
        services: &[],
    },
    build: |settings, http, idle_limit| {
        Arc::new(Lantern::new(http, &settings.base_url, settings.given_key(), idle_limit))
    },
    embedder: None,
    transcriber: None,
    speech: None,
    painter: None,
};
