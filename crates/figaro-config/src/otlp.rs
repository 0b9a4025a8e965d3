//! Export of traces and metrics by OpenTelemetry's protocol: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`,
//! `OTEL_SERVICE_NAME`. The names and their formats are those of its specification:
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.

use super::reader::VariableReader;
use figaro_base::secret::{ExposeSecret, SecretString};

/// Collector that gets traces and metrics.
#[derive(Debug, Clone)]
pub struct OtlpSettings {
    /// Base URL, without a slash at its end.
    pub endpoint: String,
    /// Headers of each request, such as a key; their values are secret, and bytes in them may be written as `%20`.
    pub headers: Vec<(String, SecretString)>,
    /// Name of this service there.
    pub service: String,
}

impl OtlpSettings {
    /// Reads them; `None` if nothing is exported.
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Option<Self> {
        let protocol = reader.get("OTEL_EXPORTER_OTLP_PROTOCOL");
        let headers = headers(reader);
        reader.get("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        if protocol.is_some_and(|protocol| protocol != "http/protobuf") {
            reader.fault(
                "OTEL_EXPORTER_OTLP_PROTOCOL",
                "is not http/protobuf, the one protocol that Figaro speaks; collectors take it at port 4318",
            );
        }
        let endpoint = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT");
        Some(Self { endpoint, headers, service: reader.text("OTEL_SERVICE_NAME") })
    }

    /// Returns the values of its headers, and the keys in them, behind a word such as `Bearer`.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let values = self.headers.iter().map(|(_, value)| value.expose_secret());
        let keys = values.clone().map(|value| value.rsplit([' ', '+']).next().unwrap_or(value));
        let keys = keys.map(|value| value.rsplit("%20").next().unwrap_or(value));
        values.chain(keys).map(|value| SecretString::from(value.to_owned())).collect()
    }
}

/// Reads headers, `NAME=VALUE` with commas between them.
fn headers(reader: &mut VariableReader<'_>) -> Vec<(String, SecretString)> {
    let text = reader.get("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    let mut headers = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some((name, value)) if is_header(name) && value.chars().all(|c| (' '..='~').contains(&c)) => {
                headers.push((name.to_owned(), SecretString::from(value.to_owned())));
            }
            _ => reader.fault(
                "OTEL_EXPORTER_OTLP_HEADERS",
                "has something that is no header: write NAME=VALUE, with commas between several",
            ),
        }
    }
    headers
}

/// Returns `true` for the name of a header: RFC 9110, section 5.1.
fn is_header(name: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_token)
}
