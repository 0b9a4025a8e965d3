//! `figaro healthcheck`: the exit code that supervisors of containers want. Asks neither Telegram nor a model.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use figaro_config::{Settings, Values};
use figaro_store::StoreError;
use figaro_store::engine::found;
use figaro_store::whole::look;

use super::additions::Additions;
use super::bots::bots_to_run;
use super::environment::no_client;
use super::failure::{AppFailure, StartupError};
use super::terminal::{all_said, say};

/// Timeout of the gateway's answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Asks `/healthz` at `METRICS_ADDR` or of the gateway if the settings have one; otherwise checks that a bot holds the store.
///
/// # Errors
/// [`AppFailure::Unsound`] if no bot runs with these settings, its gateway does not answer, or the settings are wrong.
pub async fn healthcheck(values: &Values, additions: &Additions) -> Result<(), AppFailure> {
    // Docker reserves the exit code of refused settings.
    let read = bots_to_run(values, additions);
    let (bots, _hints) = read.map_err(|StartupError(words)| AppFailure::Unsound(words))?;
    let settings = bots.shared();
    let addresses = [settings.http.metrics_address, settings.http.address];
    match addresses.into_iter().flatten().find(|address| address.port() != 0) {
        Some(address) => gateway(address).await?,
        None => store(settings)?,
    }
    say("ok");
    Ok(all_said()?)
}

async fn gateway(address: SocketAddr) -> Result<(), AppFailure> {
    let url = format!("http://{}/healthz", SocketAddr::new(reachable(address.ip()), address.port()));
    let http =
        reqwest::Client::builder().no_proxy().timeout(ANSWER).build().map_err(|error| no_client(&error))?;
    let answer = async { http.get(&url).send().await?.error_for_status()?.text().await };
    match answer.await {
        Ok(text) if text.trim() == "ok" => Ok(()),
        Ok(_) => Err(AppFailure::Unsound(format!("{url} is not answered by a bot"))),
        Err(error) => Err(AppFailure::Unsound(format!("{url} does not answer: {}", error.without_url()))),
    }
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
        _ => Err(AppFailure::Unsound(format!("no bot runs with the store in {}", url.place()))),
    }
}
