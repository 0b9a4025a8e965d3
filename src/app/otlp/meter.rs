//! Metrics of model calls, made of their spans: duration and tokens, with the buckets of the conventions.

use std::fmt::Debug;
use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, MeterProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use figaro_base::telemetry::gen_ai::{CALL, ERROR, INPUT, OUTPUT, PROVIDER, REQUEST_MODEL, RESPONSE_MODEL};

/// Upper bounds of buckets, in seconds.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// The same for numbers of tokens.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Measures the spans of model calls.
#[derive(Debug)]
pub(super) struct CallMeter {
    duration: Histogram<f64>,
    tokens: Histogram<u64>,
}

impl CallMeter {
    pub(super) fn new(provider: &SdkMeterProvider) -> Self {
        let meter = provider.meter("figaro");
        let duration = meter.f64_histogram("gen_ai.client.operation.duration").with_unit("s");
        let tokens = meter.u64_histogram("gen_ai.client.token.usage").with_unit("{token}");
        Self {
            duration: duration.with_boundaries(SECONDS.into()).build(),
            tokens: tokens.with_boundaries(TOKENS.into()).build(),
        }
    }
}

/// Fields of a call.
#[derive(Debug)]
struct MeasuredCall {
    began: Instant,
    attributes: Vec<KeyValue>,
    input: Option<u64>,
    output: Option<u64>,
}

impl Visit for MeasuredCall {
    fn record_debug(&mut self, _field: &Field, _value: &dyn Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        let name =
            [PROVIDER, REQUEST_MODEL, RESPONSE_MODEL, ERROR].into_iter().find(|name| *name == field.name());
        self.attributes.extend(name.map(|name| KeyValue::new(name, value.to_owned())));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            INPUT => self.input = Some(value),
            OUTPUT => self.output = Some(value),
            _ => {}
        }
    }
}

fn is_call(metadata: &Metadata<'_>) -> bool {
    metadata.name() == CALL
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for CallMeter {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if !is_call(attributes.metadata()) {
            return;
        }
        let operation = KeyValue::new("gen_ai.operation.name", CALL);
        let mut call =
            MeasuredCall { began: Instant::now(), attributes: vec![operation], input: None, output: None };
        attributes.record(&mut call);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(call);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(call) = span.extensions_mut().get_mut::<MeasuredCall>()
        {
            values.record(call);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(MeasuredCall { began, attributes, input, output }) = span.extensions_mut().remove() else {
            return;
        };
        self.duration.record(began.elapsed().as_secs_f64(), &attributes);
        for (kind, tokens) in [("input", input), ("output", output)] {
            if let Some(tokens) = tokens {
                let of_kind = [attributes.as_slice(), &[KeyValue::new("gen_ai.token.type", kind)]].concat();
                self.tokens.record(tokens, &of_kind);
            }
        }
    }
}
