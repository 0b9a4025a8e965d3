//! Proxies for outgoing requests. Settings of both programs read them, and every HTTP client is built with them. This
//! machine's own addresses never use a proxy: calls to them carry keys.

use std::fmt::Write;

use axum::http::Uri;
use reqwest::{ClientBuilder, NoProxy, Proxy, Url};
use secrecy::{ExposeSecret, SecretString};

/// Addresses of this machine. `0.0.0.0` and `::` reach it too, and some owners name their servers so.
const LOOPBACK: &str = "localhost,localhost.,127.0.0.0/8,0.0.0.0,::1,::,::ffff:127.0.0.0/104,::ffff:0.0.0.0";
/// Value for no proxy, whatever the environment names.
const OFF: &str = "off";
/// Protocols of proxies.
const SCHEMES: [&str; 6] = ["http", "https", "socks5", "socks5h", "socks4", "socks4a"];
/// Shared environment variables, upper case first.
const FOR_HTTPS: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const FOR_HTTP: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
const FOR_NONE: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Proxies of a client; none by default. Cheap to clone. The addresses may hold passwords.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    http: Option<SecretString>,
    https: Option<SecretString>,
    /// Hosts reached directly besides [`LOOPBACK`], separated by commas.
    exempt: String,
}

impl Proxies {
    /// Reads the proxies from `variable` (`off` for none), else from the environment: `HTTPS_PROXY`, `HTTP_PROXY`,
    /// `ALL_PROXY`. Hosts of `NO_PROXY` are always reached directly. `look_up` returns the value of a variable, `None` if
    /// it is empty.
    ///
    /// # Errors
    /// The name of a variable without a valid proxy address. The value is left out: it may hold a password.
    pub fn read(
        variable: &'static str,
        look_up: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, &'static str> {
        let first = |names: &[&'static str]| {
            let found = names.iter().find_map(|name| look_up(name).map(|value| (*name, value)));
            found.map(|(name, value)| address(&value).ok_or(name)).transpose()
        };
        let exempt = FOR_NONE.iter().find_map(|name| look_up(name)).unwrap_or_default();
        let (http, https) = match look_up(variable) {
            Some(value) if value.eq_ignore_ascii_case(OFF) => (None, None),
            Some(value) => {
                let proxy = address(&value).ok_or(variable)?;
                (Some(proxy.clone()), Some(proxy))
            }
            None => (first(&FOR_HTTP)?, first(&FOR_HTTPS)?),
        };
        Ok(Self { http, https, exempt })
    }

    /// Returns the value of the proxy variable for a process that only calls this address.
    #[must_use]
    pub fn setting_for(&self, address: &str) -> &str {
        let is_https = address.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        let proxy = if is_https { &self.https } else { &self.http };
        proxy.as_ref().map_or(OFF, |proxy| proxy.expose_secret())
    }

    /// Returns the hosts reached directly, in the form of `NO_PROXY`.
    #[must_use]
    pub fn direct(&self) -> String {
        format!("{LOOPBACK},{}", self.exempt)
    }

    /// Returns the proxies for `http` and `https` addresses.
    #[must_use]
    pub fn addresses<'a>(&'a self) -> (Option<&'a str>, Option<&'a str>) {
        let exposed = |proxy: &'a Option<SecretString>| proxy.as_ref().map(|proxy| proxy.expose_secret());
        (exposed(&self.http), exposed(&self.https))
    }

    /// Configures a client with these proxies, ignoring those of the environment.
    ///
    /// # Errors
    /// If the client rejects an address, which it does not for those from [`Self::read`].
    pub fn client(&self, builder: ClientBuilder) -> reqwest::Result<ClientBuilder> {
        let mut builder = builder.no_proxy();
        let direct = || NoProxy::from_string(&self.direct());
        let (http, https) = self.addresses();
        if let Some(http) = http {
            builder = builder.proxy(Proxy::http(http)?.no_proxy(direct()));
        }
        if let Some(https) = https {
            builder = builder.proxy(Proxy::https(https)?.no_proxy(direct()));
        }
        Ok(builder)
    }

    /// Describes the proxies without user names and passwords; `None` if there are none.
    #[must_use]
    pub fn shown(&self) -> Option<String> {
        let (http, https) = self.addresses();
        let plain = |proxy: &str| {
            let url = Url::parse(proxy).ok()?;
            let mut shown = format!("{}://{}", url.scheme(), url.host_str()?);
            if let Some(port) = url.port() {
                write!(shown, ":{port}").ok()?;
            }
            Some(shown)
        };
        match (http.and_then(plain), https.and_then(plain)) {
            (None, None) => None,
            (Some(http), Some(https)) if http == https => Some(https),
            (http, https) => {
                let of =
                    |what: &str, proxy: Option<String>| proxy.map(|proxy| format!("{proxy} (for {what})"));
                let both: Vec<String> = of("https", https).into_iter().chain(of("http", http)).collect();
                Some(both.join(" and "))
            }
        }
    }

    /// Returns the secrets to keep out of logs: addresses with credentials, and the passwords or tokens in them.
    pub fn secrets(&self) -> impl Iterator<Item = SecretString> {
        [&self.http, &self.https].into_iter().flatten().flat_map(|proxy| {
            let url = Url::parse(proxy.expose_secret()).ok();
            // A user name without a password is a token.
            let proof =
                url.as_ref().map(|url| url.password().unwrap_or(url.username())).filter(|it| !it.is_empty());
            let proof = proof.map(SecretString::from);
            proof.is_some().then(|| proxy.clone()).into_iter().chain(proof)
        })
    }
}

/// Parses the address of a proxy; the default scheme is HTTP. Desktops set `socks://` for SOCKS5.
fn address(value: &str) -> Option<SecretString> {
    let whole = match value.split_once("://") {
        Some(("socks", rest)) => format!("socks5://{rest}"),
        Some(_) => value.to_owned(),
        None => format!("http://{value}"),
    };
    let url = Url::parse(&whole).ok()?;
    // The client would ignore an unreadable address and connect directly.
    let is_readable = url.as_str().parse::<Uri>().is_ok_and(|uri| uri.authority().is_some());
    let is_proxy = SCHEMES.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty());
    (is_proxy && is_readable).then(|| whole.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Proxies, &'static str> {
        Proxies::read("TELEGRAM_PROXY", |name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_own_variable_counts_before_the_environment() {
        type Case = (&'static [(&'static str, &'static str)], (Option<&'static str>, Option<&'static str>));
        let cases: [Case; 9] = [
            (&[], (None, None)),
            (&[("TELEGRAM_PROXY", "socks5://p:1")], (Some("socks5://p:1"), Some("socks5://p:1"))),
            (&[("TELEGRAM_PROXY", "off"), ("ALL_PROXY", "http://p:1")], (None, None)),
            (
                &[("TELEGRAM_PROXY", "http://a:1"), ("HTTPS_PROXY", "http://b:2")],
                (Some("http://a:1"), Some("http://a:1")),
            ),
            (&[("https_proxy", "http://b:2")], (None, Some("http://b:2"))),
            (&[("ALL_PROXY", "socks://c:3/")], (Some("socks5://c:3/"), Some("socks5://c:3/"))),
            (&[("HTTP_PROXY", "b:2")], (Some("http://b:2"), None)),
            (
                &[("ALL_PROXY", "http://c:3"), ("HTTPS_PROXY", "http://b:2")],
                (Some("http://c:3"), Some("http://b:2")),
            ),
            (&[("LLM_PROXY", "http://d:4")], (None, None)),
        ];
        for (pairs, wanted) in cases {
            assert_eq!(read(pairs).unwrap().addresses(), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_told_by_its_name() {
        for value in
            ["socks5://pröxy:1", "ftp://p:1", "http://", "a b", "http://p:port", "tg://proxy?server=x"]
        {
            assert_eq!(read(&[("TELEGRAM_PROXY", value)]).err(), Some("TELEGRAM_PROXY"), "{value}");
            assert_eq!(read(&[("all_proxy", value)]).err(), Some("all_proxy"), "{value}");
        }
    }

    #[test]
    fn a_process_of_its_own_gets_the_same_way() {
        let proxies = read(&[("HTTPS_PROXY", "http://b:2"), ("NO_PROXY", "10.0.0.0/8")]).unwrap();
        assert_eq!(proxies.setting_for("https://api.telegram.org"), "http://b:2");
        assert_eq!(proxies.setting_for("http://10.1.1.1:8081"), "off");
        assert!(proxies.direct().ends_with(",10.0.0.0/8") && proxies.direct().starts_with("localhost,"));
    }

    #[test]
    fn passwords_are_not_shown() {
        let proxies = read(&[("TELEGRAM_PROXY", "socks5://ann:p%40ssword@proxy.example:1080")]).unwrap();
        assert_eq!(proxies.shown().as_deref(), Some("socks5://proxy.example:1080"));
        let secrets: Vec<_> = proxies.secrets().map(|secret| secret.expose_secret().to_owned()).collect();
        assert_eq!(secrets[..2], ["socks5://ann:p%40ssword@proxy.example:1080", "p%40ssword"]);
        assert!(!format!("{proxies:?}").contains("ssword"));
        let two = read(&[("HTTPS_PROXY", "http://b:2"), ("HTTP_PROXY", "http://u@c:3")]).unwrap();
        assert_eq!(two.secrets().last().unwrap().expose_secret(), "u");
        assert_eq!(two.shown().as_deref(), Some("http://b:2 (for https) and http://c:3 (for http)"));
        assert_eq!(read(&[]).unwrap().shown(), None);
    }
}
