//! Web side of the offline Telegram: the demo page, its event stream and the visitor's actions. Answers only pages of this
//! machine: `Host` must be loopback, and `Origin`, if sent, the same server.

mod acts;
mod events;
mod files;
mod hello;
mod refusal;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use super::shared::SharedTelegram;
use super::world::DemoInfo;

/// Returns the routes of the page: `/`, and everything it uses under `/demo`.
pub(super) fn routes(shared: &SharedTelegram, page_html: &'static str, about: &DemoInfo) -> Router {
    Router::new()
        .route("/", get(move || async move { Html(page_html) }))
        .merge(events::routes(shared.clone(), about))
        .merge(acts::routes(shared.clone()))
        .merge(files::routes(shared.clone()))
        .layer(middleware::from_fn(only_this_machine))
}

async fn only_this_machine(request: Request, next: Next) -> Response {
    if is_local(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "Open the demo at its own address on this machine.").into_response()
}

fn is_local(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let Some(host) = text(header::HOST) else {
        return false;
    };
    let name = host
        .rsplit_once(':')
        .map_or(host, |(name, port)| if port.chars().all(|c| c.is_ascii_digit()) { name } else { host });
    let loopback = ["127.0.0.1", "localhost", "[::1]"].contains(&name);
    loopback && text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://") == Some(host))
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
