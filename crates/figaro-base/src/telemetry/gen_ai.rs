//! Spans of turns, model calls and tool calls, by the names of OpenTelemetry's semantic conventions for generative AI, 1.37.0:
//! <https://github.com/open-telemetry/semantic-conventions/tree/v1.37.0/docs/gen-ai>. They have no words of people. The log leaves
//! them out; without an exporter nobody listens, and they cost next to nothing.

use std::fmt::Display;

use tracing::Span;
use tracing::field::Empty;

/// Target of these spans.
pub(super) const TARGET: &str = "gen_ai";
/// Version of the conventions.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.37.0";
/// Name of a call of a model, as metadata.
pub const CALL: &str = "chat";
/// Names of the fields that metrics are made of.
pub const PROVIDER: &str = "gen_ai.provider.name";
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub const INPUT: &str = "gen_ai.usage.input_tokens";
pub const OUTPUT: &str = "gen_ai.usage.output_tokens";
pub const ERROR: &str = "error.type";

/// Returns the span of a turn, or of an agent that helps with one. `run` is its id in the log, `session` that of the
/// conversation.
#[must_use]
pub fn agent(name: &str, run: impl Display, session: impl Display) -> Span {
    tracing::info_span!(
        target: TARGET,
        "invoke_agent",
        otel.name = format!("invoke_agent {name}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = name,
        gen_ai.conversation.id = %session,
        figaro.run = %run,
        error.type = Empty,
        otel.status_code = Empty,
    )
}

/// Returns the span of a tool call.
#[must_use]
pub fn tool(name: &str, call: &str) -> Span {
    tracing::info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {name}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.call.id = call,
        error.type = Empty,
        otel.status_code = Empty,
    )
}

/// Marks a span as failed for this reason, a label such as `rate_limited`.
pub fn fail(span: &Span, label: &str) {
    span.record(ERROR, label);
    span.record("otel.status_code", "ERROR");
}

/// Span of a model call, from the request to the end of the answer. Ends when it is dropped.
#[derive(Debug)]
pub struct ModelCallSpan {
    span: Span,
    /// Provider that is asked first, until it is known which one answers. Empty if nobody listens.
    first: String,
}

impl ModelCallSpan {
    /// Begins the span of a call to a model of a provider, both by our names. Others may be asked if that fails.
    #[must_use]
    pub fn begin(provider: &str, model: &str) -> Self {
        let span = tracing::info_span!(
            target: TARGET,
            "chat",
            otel.name = format!("chat {model}"),
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = Empty,
            gen_ai.request.model = model,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            error.type = Empty,
            otel.status_code = Empty,
        );
        let first = if span.is_disabled() { String::new() } else { provider.to_owned() };
        Self { span, first }
    }

    /// Notes the model that answers. Only the first such note counts.
    pub fn answered_by(&mut self, provider: &str, model: &str) {
        if !std::mem::take(&mut self.first).is_empty() {
            self.span.record(PROVIDER, provider);
            self.span.record(RESPONSE_MODEL, model);
        }
    }

    /// Notes the tokens of the call.
    pub fn used(&self, input: u64, output: u64) {
        self.span.record(INPUT, input);
        self.span.record(OUTPUT, output);
    }

    /// Marks the call as failed, as [`fail`] does.
    pub fn fail(&self, label: &str) {
        fail(&self.span, label);
    }
}

impl Drop for ModelCallSpan {
    fn drop(&mut self) {
        if !self.first.is_empty() {
            self.span.record(PROVIDER, self.first.as_str());
        }
    }
}
