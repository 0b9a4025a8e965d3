//! Where callers reach the gateway of a bot: a socket of its own, or a path of the socket of several bots.

use std::io::ErrorKind;
use std::net::SocketAddr;

use super::failure::StartupError;
use figaro_base::system::in_words;
use figaro_config::HttpSettings;
use figaro_gateway::listen::GatewayListener;
use figaro_gateway::routes::BotRoutes;

/// Entrance to the gateway of a bot.
#[derive(Debug)]
pub(super) enum Door {
    /// A socket of its own.
    Own(GatewayListener),
    /// A path of the socket of all bots.
    Shared(BotRoutes),
}

/// Words of the log for the socket of the gateway.
pub(super) const GATEWAY: &str = "the HTTP gateway listens";

/// Opens the socket of a gateway; `None` if it is off.
///
/// # Errors
/// When the socket cannot be opened, with a remedy.
pub(super) async fn door(settings: &HttpSettings) -> Result<Option<GatewayListener>, StartupError> {
    listener("HTTP_ADDR", settings.address).await
}

/// Opens the socket of health and metrics; `None` if they are off.
///
/// # Errors
/// When the socket cannot be opened, with a remedy.
pub(super) async fn metrics_door(settings: &HttpSettings) -> Result<Option<GatewayListener>, StartupError> {
    listener("METRICS_ADDR", settings.metrics_address).await
}

async fn listener(
    variable: &str,
    address: Option<SocketAddr>,
) -> Result<Option<GatewayListener>, StartupError> {
    let Some(address) = address else { return Ok(None) };
    let opened = GatewayListener::open(address).await;
    opened.map(Some).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::PermissionDenied => "this account may not use it: choose a port above 1023".to_owned(),
            _ => in_words(&error),
        };
        StartupError(format!("cannot listen at {variable}={address}: {why}"))
    })
}
