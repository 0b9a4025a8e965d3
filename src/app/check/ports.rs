//! Check of the ports that the bot listens at, by listening at each for a moment.

use super::finding::Finding;
use crate::app::door::{door, metrics_door};
use figaro_config::{McpSettings, Settings};
use figaro_mcp::open_port;

/// Returns a finding for each port that is unavailable. Only for a bot that does not run: a running one holds its ports.
pub(super) async fn probe(settings: &Settings) -> Vec<Finding> {
    let gateway = door(&settings.http).await.err().map(|fault| Finding::new("http", Err(fault.0)));
    let metrics = metrics_door(&settings.http).await.err();
    let metrics = metrics.map(|fault| Finding::new("metrics", Err(fault.0)));
    let outside = outside(&settings.mcp).await.err().map(|fault| Finding::new("mcp port", Err(fault)));
    gateway.into_iter().chain(metrics).chain(outside).collect()
}

/// Opens the port for other MCP clients, which is served only with a key.
async fn outside(settings: &McpSettings) -> Result<(), String> {
    match &settings.api_key {
        Some(_) => open_port(settings.port).await.map(drop),
        None => Ok(()),
    }
}
