//! MCP on standard input and output, for the one client that started this process. Called by `process`.

use std::future::Future;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use crate::http::ServeError;
use crate::pipe::LinePipe;
use crate::server::BotApi;
use crate::settings::Settings;

/// Time for the last answers to be written.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(450);

/// Serves until the client closes standard input or `shutdown` resolves.
pub(crate) async fn serve(settings: Settings, shutdown: impl Future<Output = ()>) -> Result<(), ServeError> {
    let bot_api = BotApi::new(&settings)?;
    let stop = CancellationToken::new();
    let starting = bot_api.clone().serve_with_ct(LinePipe::new(settings.max_message_bytes()), stop.clone());
    tokio::pin!(shutdown);
    let service = tokio::select! {
        started = starting => match started {
            Ok(service) => service,
            // A client that disconnects before it says anything is no error.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::NoClient(Box::new(error))),
        },
        () = &mut shutdown => return Ok(()),
    };
    let ended = service.waiting();
    tokio::pin!(ended);
    tokio::select! {
        reason = &mut ended => tracing::debug!(reason = ?reason?, "the client is gone"),
        never = bot_api.poll_updates() => match never {},
        () = shutdown => {
            bot_api.settle().await;
            stop.cancel();
            if tokio::time::timeout(CLOSE_TIMEOUT, ended).await.is_err() {
                tracing::debug!("the client does not read its last answers");
            }
        }
    }
    Ok(())
}
