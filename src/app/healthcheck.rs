//! `figaro healthcheck`: the exit code that supervisors of containers want. Asks neither Telegram nor a model.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use figaro_config::{Settings, Values};
use figaro_store::StoreError;
use figaro_store::engine::found;
use figaro_store::whole::look;

use super::additions::Additions;
use super::environment::no_client;
use super::failure::AppFailure;
use super::providers::settings_and_hints;
use super::terminal::{all_said, say};

/// Timeout of the gateway's answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Asks `/healthz` of the gateway if the settings have one; otherwise checks that a bot holds the store.
///
/// # Errors
/// [`AppFailure::Unsound`] if no bot runs with these settings, or its gateway does not answer. [`AppFailure::Refused`] if the
/// settings are wrong.
pub async fn healthcheck(values: &Values, additions: &Additions) -> Result<(), AppFailure> {
    let (settings, _hints) = settings_and_hints(values, additions)?;
    match settings.http.address {
        Some(address) => gateway(address).await?,
        None => store(&settings)?,
    }
    say("ok");
    Ok(all_said()?)
}

async fn gateway(address: SocketAddr) -> Result<(), AppFailure> {
    let url = format!("http://{}/healthz", SocketAddr::new(reachable(address.ip()), address.port()));
    let http =
        reqwest::Client::builder().no_proxy().timeout(ANSWER).build().map_err(|error| no_client(&error))?;
    let answered = http.get(&url).send().await.and_then(reqwest::Response::error_for_status);
    answered
        .map(drop)
        .map_err(|error| AppFailure::Unsound(format!("{url} does not answer: {}", error.without_url())))
}

/// Returns the address at which this machine reaches a listener of that address.
const fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    }
}

fn store(settings: &Settings) -> Result<(), AppFailure> {
    let url = found(&settings.store.url);
    match look(&url, settings.telegram.bot) {
        Err(StoreError::InUse(_)) => Ok(()),
        _ => Err(AppFailure::Unsound(format!("no bot runs with the store in {}", url.folder.display()))),
    }
}
