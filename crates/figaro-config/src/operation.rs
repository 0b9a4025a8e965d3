//! Variables for those who run the bot: backups, telemetry, log.

use super::variable::{Variable, secret, variable};

/// Variables listed at the end.
pub(super) const OPERATION: &[Variable] = &[
    variable(
        "BACKUP_FOLDER",
        "",
        "Folder for backups of the whole store, made while the bot runs; best on another disk. The first one is made at once. None if empty.",
    ),
    variable(
        "BACKUP_AT",
        "0 4 * * *",
        "Times of these backups, as a cron expression in DEFAULT_TIMEZONE. A missed backup is made at the next start.",
    ),
    variable("BACKUP_KEEP", "7", "Number of backups to keep (1 to 1000). Older ones are removed."),
    variable(
        "BACKUP_RECIPIENT",
        "",
        "Recipients of age, age1…, separated by commas, that backups are encrypted for. `age-keygen -o key.txt` makes a key and prints its recipient. No encryption if empty.",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "",
        "Address of an OpenTelemetry collector, such as http://127.0.0.1:4318, for traces and metrics of turns, model calls and tool calls (docs/operations.md). They have no words of people. None if empty.",
    ),
    secret(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "",
        "Headers of the requests to the collector, such as `Authorization=Bearer KEY`, with commas between several.",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "http/protobuf",
        "Protocol of the collector; there is only this one.",
    ),
    variable("OTEL_SERVICE_NAME", "figaro", "Name of this service in traces and metrics."),
    variable(
        "RUST_LOG",
        "info,rmcp=warn",
        "Log filter in the syntax of tracing-subscriber, such as info,figaro=debug.",
    ),
    variable("LOG_FORMAT", "text", "Format of a log line: text or json."),
];
