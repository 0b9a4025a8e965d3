//! The gateways of several bots behind one socket: `/bots/NAME/…` is the gateway of a bot, and every other path that of the
//! first. A request for a bot that another process has is passed on to that process. Called by the binary.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use parking_lot::RwLock;
use reqwest::redirect::Policy;
use tower::ServiceExt;

use super::error::GatewayError;

/// Beginning of the paths of bots.
const BOTS: &str = "/bots/";
/// Header of a request that was passed on, which is not passed on again.
const PASSED_ON: HeaderName = HeaderName::from_static("x-figaro-passed-on");
/// Header with the host that a browser asked, which proxies set too. No page of another site can set it.
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// Headers that concern one connection: RFC 9110, section 7.6.1.
const OF_CONNECTION: [HeaderName; 9] = [
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHORIZATION,
    header::CONNECTION,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];
/// Timeout to reach another process, and idle time after which its connection is probed.
const CONNECT: Duration = Duration::from_secs(3);
const PROBE: Duration = Duration::from_secs(10);
/// Pause between two looks if another process still has a bot.
const LOOK: Duration = Duration::from_secs(1);

/// Gateways of running bots, by name. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BotRoutes {
    running: Arc<RwLock<HashMap<String, Router>>>,
    /// Name of the bot that serves paths without a name.
    first: Arc<RwLock<String>>,
    /// Base URL of the process that has a bot, by the bot's name.
    elsewhere: Arc<RwLock<HashMap<String, String>>>,
    /// Address of the socket; `None` before it is open.
    address: Arc<RwLock<Option<SocketAddr>>>,
    http: reqwest::Client,
}

/// Gateway of a bot among the others, until this is dropped.
#[derive(Debug)]
pub struct BotRoute {
    routes: BotRoutes,
    name: String,
}

impl Drop for BotRoute {
    fn drop(&mut self) {
        self.routes.running.write().remove(&self.name);
    }
}

impl BotRoutes {
    /// Makes routes without a bot. `first` is the name of the bot that serves paths without one.
    ///
    /// # Errors
    /// If no HTTP client can be made.
    pub fn new(first: String) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .tcp_keepalive(PROBE);
        let (running, elsewhere, address) = Default::default();
        let first = Arc::new(RwLock::new(first));
        Ok(Self { running, first, elsewhere, address, http: http.build()? })
    }

    /// Sets the address of the socket.
    pub fn set_address(&self, address: SocketAddr) {
        *self.address.write() = Some(address);
    }

    /// Returns the address of the socket; `None` before it is open.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        *self.address.read()
    }

    /// Sets where the bots are that other processes have: the base URL of the process by the bot's name.
    pub fn set_elsewhere(&self, bots: HashMap<String, String>) {
        *self.elsewhere.write() = bots;
    }

    /// Makes another bot serve paths without a name.
    pub fn set_first(&self, name: String) {
        *self.first.write() = name;
    }

    /// Adds the gateway of a bot.
    #[must_use]
    pub fn add(&self, name: &str, router: Router) -> BotRoute {
        self.running.write().insert(name.to_owned(), router);
        BotRoute { routes: self.clone(), name: name.to_owned() }
    }

    /// Returns the router of all bots.
    pub fn router(&self) -> Router {
        let routes = self.clone();
        Router::new().fallback(move |request: Request| {
            let routes = routes.clone();
            async move { routes.answer(request).await }
        })
    }

    async fn answer(&self, mut request: Request) -> Response {
        let named = split(request.uri());
        // A supervisor of the process asks for the process, not for a bot.
        if named.is_none() && request.uri().path() == "/healthz" {
            return "ok".into_response();
        }
        let name = named.as_ref().map_or_else(|| self.first.read().clone(), |(name, _)| name.clone());
        let running = self.running.read().get(&name).cloned();
        let elsewhere = self.elsewhere.read().get(&name).cloned();
        let elsewhere = elsewhere.filter(|_| !request.headers().contains_key(PASSED_ON));
        match running {
            Some(router) => {
                if let Some((_, rest)) = named {
                    *request.uri_mut() = rest;
                }
                router.oneshot(request).await.into_response()
            }
            None if let Some(url) = elsewhere => {
                let path = named.map_or_else(|| request.uri().clone(), |(_, rest)| rest);
                let (left, target) = (self.left(&name, &url), format!("{url}{BOTS}{name}{path}"));
                tokio::select! {
                    answer = self.passed_on(&target, request) => answer,
                    () = left => not_reached().into_response(),
                }
            }
            None => not_running(&name).into_response(),
        }
    }
}

/// Returns the headers that `Connection` names.
fn named_in_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let all = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}

impl BotRoutes {
    /// Passes a request on to another process, whose answer may be a stream.
    async fn passed_on(&self, url: &str, request: Request) -> Response {
        let (mut head, body) = request.into_parts();
        let of_connection = named_in_connection(&head.headers);
        // The dashboard compares it with where a form comes from.
        let host = head.headers.get(header::HOST).cloned();
        OF_CONNECTION.iter().chain(&of_connection).for_each(|name| drop(head.headers.remove(name)));
        head.headers.insert(PASSED_ON, HeaderValue::from_static("1"));
        host.and_then(|host| head.headers.insert(FORWARDED_HOST, host));
        let body = reqwest::Body::wrap_stream(body.into_data_stream());
        let sent = self.http.request(head.method, url).headers(head.headers).body(body).send().await;
        match sent {
            Ok(mut answer) => {
                let (status, mut headers) = (answer.status(), std::mem::take(answer.headers_mut()));
                OF_CONNECTION.iter().for_each(|name| drop(headers.remove(name)));
                (status, headers, Body::from_stream(answer.bytes_stream())).into_response()
            }
            Err(error) => {
                tracing::warn!(error = %error.without_url(), "another process that has a bot was not reached");
                not_reached().into_response()
            }
        }
    }

    /// Waits until a bot is no longer at an address.
    async fn left(&self, name: &str, url: &str) {
        while self.elsewhere.read().get(name).is_some_and(|known| known == url) {
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn not_reached() -> GatewayError {
    let words = "the process that has this bot was not reached: try again in some seconds";
    GatewayError { status: StatusCode::BAD_GATEWAY, code: "bot_not_reached", ..GatewayError::invalid(words) }
}

fn not_running(name: &str) -> GatewayError {
    let words = format!("the bot `{name}` does not run here: `figaro bots` lists the bots with their state");
    let status = StatusCode::SERVICE_UNAVAILABLE;
    GatewayError { status, code: "bot_not_running", ..GatewayError::invalid(words) }
}

/// Splits a path of a bot into its name and the path within its gateway.
fn split(uri: &Uri) -> Option<(String, Uri)> {
    let (name, rest) = uri.path().strip_prefix(BOTS)?.split_once('/')?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    // A URL that is passed on would resolve them, and be for another bot.
    if rest.split('/').any(|part| [".", ".."].contains(&part.to_lowercase().replace("%2e", ".").as_str())) {
        return None;
    }
    let rest: PathAndQuery = format!("/{rest}{query}").parse().ok()?;
    Some((name.to_owned(), Uri::from(rest)))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::routing::get;

    use super::*;

    async fn asked(routes: &BotRoutes, path: &str) -> (u16, String) {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let answer = routes.router().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = to_bytes(answer.into_body(), 4_096).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_path_names_its_bot_and_others_are_of_the_first() {
        drop(rustls::crypto::ring::default_provider().install_default());
        let routes = BotRoutes::new("sales".to_owned()).unwrap();
        let of = |name: &'static str| {
            Router::new().route("/v1/models", get(move |uri: Uri| async move { format!("{name} {uri}") }))
        };
        let _sales = routes.add("sales", of("sales"));
        let family = routes.add("family", of("family"));
        assert_eq!(asked(&routes, "/v1/models").await, (200, "sales /v1/models".to_owned()));
        assert_eq!(
            asked(&routes, "/bots/family/v1/models?x=1").await,
            (200, "family /v1/models?x=1".to_owned())
        );
        drop(family);
        let (status, words) = asked(&routes, "/bots/family/v1/models").await;
        assert!(status == 503 && words.contains("`family` does not run here"), "{words}");
        for path in
            ["/bots//v1/models", "/bots/family", "/bots/../v1/models", "/bots/family/../sales/v1/models"]
        {
            assert_ne!(asked(&routes, path).await.0, 200, "{path}");
        }
        routes.set_first("family".to_owned());
        assert_eq!(asked(&routes, "/healthz").await, (200, "ok".to_owned()));
    }
}
