//! What the bot needs of its machine: the store's folder, an HTTP client, figaro-mcp. Called when the parts are built.

use std::time::Duration;

use figaro_base::system::in_words;
use figaro_mcp::proxy::Proxies;
use reqwest::redirect::Policy;

use super::failure::StartupError;
use super::groups::Groups;
use figaro_config::{Settings, StoreUrl};
use figaro_mcp_client::child::Recipe;
use figaro_mcp_client::locate::candidates;
use figaro_mcp_client::supervisor::Mcp;
use figaro_store::Store;
use figaro_store::engine;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Opens the store of these settings; where another engine has one in their folder, that one, with a hint.
///
/// # Errors
/// Of [`place_fault`], and of [`Store::open`] in its words.
pub(super) async fn open_store(settings: &Settings) -> Result<Store, StartupError> {
    let (asked, found) = (&settings.store.url, engine::found(&settings.store.url));
    if let Some(fault) = place_fault(&found) {
        return Err(StartupError(format!("the store {fault} by STORE_URL")));
    }
    let opened = Store::open(&found, settings.telegram.bot).await;
    let store = opened.map_err(|error| StartupError(error.to_string()))?;
    if found != *asked {
        tracing::info!(
            "there is a store of {} in this folder, which is used: STORE_URL={found}",
            found.engine
        );
    }
    Ok(store)
}

/// Why no store can be made or changed at a place, and what to do, to which the caller adds where a folder is named: the start and
/// `figaro check` try the same. Blocking.
pub(super) fn place_fault(url: &StoreUrl) -> Option<String> {
    let (at, why) = engine::try_place(url).err()?;
    let (folder, why) = (url.folder.display(), in_words(&why));
    let at = if at == url.folder { String::new() } else { format!("{}: ", at.display()) };
    Some(format!("{folder} cannot be used ({at}{why}); mend that, or name another folder"))
}

/// One client for the models and the web: each has its own copy of the root certificates. It bounds the time to
/// connect and no call as a whole, since answers stream. A crate we use brings HTTP/2 and gzip, which cost memory and
/// gain an answer of words nothing.
///
/// # Errors
/// When the system's certificates or a proxy cannot be used.
pub(super) fn http_client(proxies: &Proxies) -> Result<reqwest::Client, StartupError> {
    let builder = reqwest::Client::builder().connect_timeout(CONNECT).http1_only().no_gzip();
    let client = proxies.client(builder).and_then(reqwest::ClientBuilder::build);
    client.map_err(|error| StartupError(format!("the HTTP client cannot be set up: {error}")))
}

/// A client for other MCP servers. It follows no redirect: what the owner puts into headers is for the address alone.
///
/// # Errors
/// When the system's certificates or a proxy cannot be used.
pub(super) fn servers_client(proxies: &Proxies) -> Result<reqwest::Client, StartupError> {
    let builder = reqwest::Client::builder().connect_timeout(CONNECT).redirect(Policy::none()).no_gzip();
    let client = proxies.client(builder.http1_only()).and_then(reqwest::ClientBuilder::build);
    client.map_err(|error| StartupError(format!("the HTTP client cannot be set up: {error}")))
}

/// Starts figaro-mcp and its supervision.
///
/// # Errors
/// When no figaro-mcp is found, or it does not start.
pub(super) async fn start_mcp(settings: &Settings, groups: &Groups) -> Result<Mcp, StartupError> {
    let this = std::env::current_exe()
        .map_err(|error| StartupError(format!("this executable is not found: {}", in_words(&error))))?;
    let candidates = candidates(settings.mcp.binary.as_deref(), &this);
    let recipe = Recipe {
        settings: settings.mcp.clone(),
        telegram: settings.telegram.clone(),
        log: settings.log.clone(),
        redactor: settings.redactor(),
    };
    Mcp::start(candidates, recipe, &groups.back).await.map_err(|error| StartupError(error.to_string()))
}
