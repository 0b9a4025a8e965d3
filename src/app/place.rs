//! Description of an address for the owner.

use std::net::IpAddr;

use reqwest::Url;

/// Returns host and port of an address, marked if it is this machine. Leaves out user name and password.
pub(super) fn place(address: &str) -> String {
    let Some((host, port)) = host(address) else { return "an unknown address".to_owned() };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    format!("{host}{port}{}", if is_here(address) { " (on this machine)" } else { "" })
}

/// Returns `true` if the host is `localhost`, a loopback or an unspecified address.
pub(super) fn is_here(address: &str) -> bool {
    host(address).is_some_and(|(host, _)| {
        let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        host == "localhost" || ip.is_some_and(|ip| ip.is_loopback() || ip.is_unspecified())
    })
}

fn host(address: &str) -> Option<(String, Option<u16>)> {
    let url = Url::parse(address).ok()?;
    Some((url.host_str()?.to_owned(), url.port()))
}
