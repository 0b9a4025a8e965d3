//! Resources of the machine: the store's folder, an HTTP client, figaro-mcp. Used when the parts are built.

use std::time::Duration;

use figaro_base::secret::Redactor;
use figaro_base::system::in_words;
use figaro_mcp::proxy::Proxies;
use reqwest::redirect::Policy;

use super::failure::StartupError;
use super::groups::Groups;
use figaro_config::{Settings, StoreUrl};
use figaro_mcp_client::child::Recipe;
use figaro_mcp_client::locate::candidates;
use figaro_mcp_client::supervisor::McpServer;
use figaro_store::Store;
use figaro_store::engine;

/// Timeout to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// Opens the store of these settings. If the folder holds a store of another engine, opens that one and logs a hint.
///
/// # Errors
/// Errors of [`place_fault`] and [`Store::open`].
pub(super) async fn open_store(settings: &Settings) -> Result<Store, StartupError> {
    let (asked, found) = (&settings.store.url, engine::found(&settings.store.url));
    if let Some(fault) = place_fault(&found) {
        return Err(StartupError(format!("the store {fault} by STORE_URL")));
    }
    let opened = Store::open(&found, settings.telegram.bot).await;
    let store = opened.map_err(|error| StartupError(error.to_string()))?;
    store.warn_of_others().await;
    if found != *asked {
        tracing::info!(
            "there is a store of {} in this folder, which is used: STORE_URL={found}",
            found.engine_name()
        );
    }
    Ok(store)
}

/// Returns the reason why no store can be created or changed at a place, with a remedy; the caller adds the setting that
/// names a folder. Start and `figaro check` share this test. Blocking.
pub(super) fn place_fault(url: &StoreUrl) -> Option<String> {
    // Opening a database says why it cannot be used.
    let StoreUrl::Folder(place) = url else { return None };
    let (at, why) = engine::try_place(place).err()?;
    let (folder, why) = (place.folder.display(), in_words(&why));
    let at = if at == place.folder { String::new() } else { format!("{}: ", at.display()) };
    Some(format!("{folder} cannot be used ({at}{why}); mend that, or name another folder"))
}

/// Builds the one client for models and the web; each client holds its own copy of the root certificates. Limits the time to
/// connect, not the whole call, since answers stream. HTTP/2 and gzip, enabled by a dependency, are off: they cost memory
/// and do not help with streamed text.
///
/// # Errors
/// When the system's certificates or a proxy cannot be used.
pub(super) fn http_client(proxies: &Proxies) -> Result<reqwest::Client, StartupError> {
    let builder = reqwest::Client::builder().connect_timeout(CONNECT).http1_only().no_gzip();
    let client = proxies.client(builder).and_then(reqwest::ClientBuilder::build);
    client.map_err(|error| no_client(&error))
}

/// Tells why there is no client. The usual reason is a machine without certificates of authorities.
pub(super) fn no_client(error: &reqwest::Error) -> StartupError {
    let reason = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    StartupError(format!(
        "the HTTP client cannot be set up: {reason}. Are the certificates of the system installed (Debian: ca-certificates)?"
    ))
}

/// Builds a client for other MCP servers. Follows no redirects: the owner's headers are for the configured address only.
///
/// # Errors
/// When the system's certificates or a proxy cannot be used.
pub(super) fn servers_client(proxies: &Proxies) -> Result<reqwest::Client, StartupError> {
    let builder = reqwest::Client::builder().connect_timeout(CONNECT).redirect(Policy::none()).no_gzip();
    let client = proxies.client(builder.http1_only()).and_then(reqwest::ClientBuilder::build);
    client.map_err(|error| no_client(&error))
}

/// Starts figaro-mcp and its supervision.
///
/// # Errors
/// When figaro-mcp is missing or does not start.
pub(super) async fn start_mcp(
    settings: &Settings,
    redactor: Redactor,
    groups: &Groups,
) -> Result<McpServer, StartupError> {
    let this = std::env::current_exe()
        .map_err(|error| StartupError(format!("this executable is not found: {}", in_words(&error))))?;
    let candidates = candidates(settings.mcp.binary.as_deref(), &this);
    let recipe = Recipe {
        settings: settings.mcp.clone(),
        telegram: settings.telegram.clone(),
        log: settings.log.clone(),
        redactor,
    };
    McpServer::start(candidates, recipe, &groups.back).await.map_err(|error| StartupError(error.to_string()))
}
