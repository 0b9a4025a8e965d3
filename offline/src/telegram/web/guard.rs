//! Who may open the page: browsers of this machine, or everybody who has the key of the link.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::uri::Uri;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use subtle::ConstantTimeEq;

/// Answers only pages of this machine: `Host` must be loopback, so that no foreign name leads here, and `Origin`, if sent,
/// the same server.
pub(in super::super) fn for_this_machine(page: Router) -> Router {
    page.layer(middleware::from_fn(only_this_machine))
}

/// Answers requests that have the key: in the query as `key`, or in the cookie that the link sets. `port` tells the cookies
/// of two demos on one machine apart.
pub(in super::super) fn with_key(page: Router, key: &str, port: u16) -> Router {
    let lock = PageLock { key: key.into(), cookie: format!("figaro_demo_{port}").into() };
    page.layer(middleware::from_fn_with_state(lock, only_with_key))
}

#[derive(Clone)]
struct PageLock {
    key: Arc<str>,
    cookie: Arc<str>,
}

impl PageLock {
    fn fits(&self, key: &str) -> bool {
        key.as_bytes().ct_eq(self.key.as_bytes()).into()
    }

    fn is_in_query(&self, uri: &Uri) -> bool {
        let parts = uri.query().unwrap_or_default().split('&');
        parts.filter_map(|part| part.strip_prefix("key=")).any(|key| self.fits(key))
    }

    fn is_in_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|cookie| cookie.to_str().ok());
        let mut pairs = cookies.flat_map(|cookie| cookie.split(';')).filter_map(|pair| pair.split_once('='));
        pairs.any(|(name, value)| name.trim() == &*self.cookie && self.fits(value.trim()))
    }
}

async fn only_this_machine(request: Request, next: Next) -> Response {
    if is_local(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "Open the demo at its own address on this machine.").into_response()
}

async fn only_with_key(State(lock): State<PageLock>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_linked = lock.is_in_query(request.uri());
    if !(is_linked || lock.is_in_cookie(headers)) || !is_from_here(headers) {
        let words = "Open the link that `figaro demo` printed when it started: it has the key of this page.";
        return (StatusCode::FORBIDDEN, words).into_response();
    }
    if is_linked && request.uri().path() == "/" {
        // The key leaves the address bar. A link from another site has to work too, so the cookie is not `Strict`.
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Lax", lock.cookie, lock.key);
        return ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response();
    }
    next.run(request).await
}

fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = text(headers, header::HOST) else { return false };
    let name = host
        .rsplit_once(':')
        .map_or(host, |(name, port)| if port.chars().all(|c| c.is_ascii_digit()) { name } else { host });
    let address: Option<IpAddr> = name.trim_matches(['[', ']']).parse().ok();
    (name == "localhost" || address.is_some_and(|address| address.is_loopback())) && is_from_here(headers)
}

/// Returns `true` if no other site sent the request. A proxy in front may speak HTTPS.
fn is_from_here(headers: &HeaderMap) -> bool {
    let (host, origin) = (text(headers, header::HOST), text(headers, header::ORIGIN));
    origin.is_none_or(|origin| {
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        name.is_some() && name == host
    })
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_page_is_answered() {
        let cases = [
            (Some("127.0.0.1:8080"), None, true),
            (Some("localhost:8080"), Some("http://localhost:8080"), true),
            (Some("[::1]:8080"), Some("http://[::1]:8080"), true),
            (Some("localhost"), None, true),
            (Some("127.0.0.2:8080"), None, true),
            (Some("192.0.2.1:8080"), None, false),
            (Some("127.0.0.1:8080"), Some("http://127.0.0.1:3000"), false),
            (Some("127.0.0.1:8080"), Some("https://evil.example"), false),
            (Some("127.0.0.1:8080"), Some("null"), false),
            (Some("evil.example:8080"), Some("http://evil.example:8080"), false),
            (None, None, false),
        ];
        for (host, origin, wanted) in cases {
            let mut headers = HeaderMap::new();
            host.map(|h| headers.insert(header::HOST, h.parse().unwrap()));
            origin.map(|o| headers.insert(header::ORIGIN, o.parse().unwrap()));
            assert_eq!(is_local(&headers), wanted, "{host:?} {origin:?}");
        }
    }
}
