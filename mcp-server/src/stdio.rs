//! MCP on standard input and output, for a client that starts this process and is the only one. Called by `process`.

use std::future::Future;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use crate::server::BotApi;
use crate::settings::Settings;

/// For calls under way when the stop comes.
const CALLS_PATIENCE: Duration = Duration::from_millis(1500);

/// Why serving ended, or never began.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StdioError {
    #[error("the HTTP client for Telegram does not start: install the system's CA certificates")]
    Client(#[from] reqwest::Error),
    #[error(
        "the client did not begin as MCP does: start this from an MCP client, or leave out --stdio for HTTP"
    )]
    NoClient(#[source] Box<ServerInitializeError>),
    #[error("serving broke down: start again")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves until the client closes standard input or `shutdown` resolves.
pub(crate) async fn serve(settings: Settings, shutdown: impl Future<Output = ()>) -> Result<(), StdioError> {
    let bot_api = BotApi::new(&settings)?;
    let stop = CancellationToken::new();
    let starting = bot_api.clone().serve_with_ct(rmcp::transport::stdio(), stop.clone());
    tokio::pin!(shutdown);
    let service = tokio::select! {
        started = starting => match started {
            Ok(service) => service,
            // A client that comes and goes without a word has done nothing wrong.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError::NoClient(Box::new(error))),
        },
        () = &mut shutdown => return Ok(()),
    };
    let ended = service.waiting();
    tokio::pin!(ended);
    tokio::select! {
        reason = &mut ended => tracing::debug!(reason = ?reason?, "the client is gone"),
        () = shutdown => {
            if tokio::time::timeout(CALLS_PATIENCE, bot_api.idle()).await.is_err() {
                tracing::warn!("a call was still under way at the end");
            }
            stop.cancel();
        }
    }
    Ok(())
}
