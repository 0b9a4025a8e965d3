//! Export of traces and metrics by OpenTelemetry's protocol over HTTP. The spans are those of `gen_ai`; the metrics are made
//! of them.

mod client;
mod meter;

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::task::spawn_blocking;
use tracing_subscriber::Layer;

use self::client::CollectorClient;
use self::meter::CallMeter;
use super::environment::http_client;
use super::failure::StartupError;
use figaro_base::secret::ExposeSecret;
use figaro_base::telemetry::ExporterLayer;
use figaro_base::telemetry::gen_ai::SCHEMA_URL;
use figaro_config::{OtlpSettings, Settings};

/// Maximum time that the end of the process waits for the collector.
const LAST: Duration = Duration::from_secs(3);

/// An export that runs until it is ended.
#[derive(Debug)]
pub(super) struct TelemetryExport {
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
}

impl TelemetryExport {
    /// Begins the export, if the settings name a collector. Returns the layer that gets the spans, too.
    ///
    /// # Errors
    /// When the collector's address or the certificates of the system cannot be used.
    pub(super) fn begin(settings: &Settings) -> Result<Option<(Self, ExporterLayer)>, StartupError> {
        let Some(otlp) = &settings.log.otlp else { return Ok(None) };
        let client = CollectorClient::new(http_client(&settings.model.proxies)?);
        let begun = Self::to(otlp, client);
        begun.map(Some).map_err(|error| StartupError(format!("OTEL_EXPORTER_OTLP_ENDPOINT: {error}")))
    }

    fn to(
        settings: &OtlpSettings,
        client: CollectorClient,
    ) -> Result<(Self, ExporterLayer), ExporterBuildError> {
        let headers = || -> HashMap<String, String> {
            let all = settings.headers.iter();
            all.map(|(name, value)| (name.clone(), value.expose_secret().to_owned())).collect()
        };
        let resource = Resource::builder_empty()
            .with_schema_url(
                [
                    KeyValue::new("service.name", settings.service.clone()),
                    KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                ],
                SCHEMA_URL,
            )
            .build();
        let spans = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", settings.endpoint))
            .with_headers(headers())
            .with_http_client(client.clone())
            .build()?;
        let values = MetricExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/metrics", settings.endpoint))
            .with_headers(headers())
            .with_http_client(client)
            .build()?;
        let traces =
            SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone()).build();
        let metrics =
            SdkMeterProvider::builder().with_periodic_exporter(values).with_resource(resource).build();
        let spans = tracing_opentelemetry::layer()
            .with_tracer(traces.tracer("figaro"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false);
        let layer = spans.and_then(CallMeter::new(&metrics)).boxed();
        Ok((Self { traces, metrics }, layer))
    }

    /// Exports spans and metrics that were not sent yet, and ends.
    pub(super) async fn end(self) {
        let Self { traces, metrics } = self;
        // The log has told already that the collector fails.
        let traces = spawn_blocking(move || traces.shutdown_with_timeout(LAST));
        let metrics = spawn_blocking(move || metrics.shutdown());
        let _late = tokio::time::timeout(LAST, async { tokio::join!(traces, metrics) }).await;
    }
}
