//! What holds for every request: no form of another site is taken, every fault has a page, and browsers are told what the pages
//! may do.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::csp;
use super::error::DashboardError;
use super::mini_app;
use super::page;
use super::state::Dashboard;

/// Maximum size of a form, in bytes, and the time in which it has to arrive.
const MAX_FORM: usize = 64 << 10;
const FORM_ARRIVES: Duration = Duration::from_secs(10);
/// Says where a request comes from. Browsers set it, and no page can.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Header of a request that another process of ours has passed on, and the host that the browser asked there. No form can set
/// them.
const PASSED_ON: HeaderName = HeaderName::from_static("x-figaro-passed-on");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With `no-referrer` a form would be sent without its origin.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Answers a request of the dashboard.
pub(crate) async fn guarded(State(dashboard): State<Dashboard>, request: Request, next: Next) -> Response {
    let (headers, path) = (request.headers().clone(), request.uri().path().to_owned());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let response = match is_read || is_own(&headers, dashboard.sign_in.url()) {
        true if is_read => next.run(request).await,
        true => match timeout(FORM_ARRIVES, whole(request)).await {
            Ok(Some(request)) => next.run(request).await,
            _ => DashboardError::Unfit.into_response(),
        },
        false => DashboardError::Foreign.into_response(),
    };
    let error = response.extensions().get::<DashboardError>().cloned();
    // What axum refuses itself: a path, a query or a form that cannot be read.
    let unread = if is_read { DashboardError::NotFound } else { DashboardError::Unfit };
    let error = error.or_else(|| response.status().is_client_error().then_some(unread));
    let mut response = match error {
        Some(error) => page::fault(&dashboard, &headers, &path, &error),
        None if is_known(&headers, &response) => StatusCode::NOT_MODIFIED.into_response(),
        None => response,
    };
    let is_too_many = response.status() == StatusCode::TOO_MANY_REQUESTS;
    let framed = mini_app::policy(&dashboard, &headers, &path, response.status());
    let answer = response.headers_mut();
    if framed.is_none() {
        answer.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    answer.insert(header::CONTENT_SECURITY_POLICY, framed.cloned().unwrap_or(csp::UNFRAMED));
    for (name, value) in HEADERS {
        answer.insert(name, HeaderValue::from_static(value));
    }
    if is_too_many {
        answer.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    // Pages of people are kept nowhere. Assets say otherwise themselves.
    answer.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Waits for the body of a request; `None` if it is too large or breaks off.
async fn whole(request: Request) -> Option<Request> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_FORM).await.ok()?;
    Some(Request::from_parts(head, Body::from(body)))
}

/// Returns `true` if the browser has this very page already.
fn is_known(headers: &HeaderMap, response: &Response) -> bool {
    let tag = response.headers().get(header::ETAG);
    tag.is_some() && headers.get(header::IF_NONE_MATCH) == tag
}

/// Returns `true` if a form comes from a page of the dashboard. `url` is where browsers reach it.
fn is_own(headers: &HeaderMap, url: &str) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(&SITE) {
        return site == "same-origin";
    }
    // Browsers leave it out for addresses without encryption, but then name the origin.
    let Some(origin) = text(&header::ORIGIN) else { return false };
    let host = origin.split_once("://").map(|(_, host)| host);
    let own = url.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let asked = if headers.contains_key(PASSED_ON) { &FORWARDED_HOST } else { &header::HOST };
    host.is_some() && [text(asked), own].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_another_site_is_not_taken() {
        let url = "https://figaro.example/dashboard";
        for (pairs, is_taken) in [
            (&[("sec-fetch-site", "same-origin")][..], true),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://figaro.example")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("origin", "http://127.0.0.1:8080"), ("host", "127.0.0.1:8080")], true),
            (&[("origin", "https://figaro.example"), ("host", "127.0.0.1:8080")], true),
            (&[("origin", "https://evil.example"), ("host", "127.0.0.1:8080")], false),
            (&[("origin", "https://figaro.example.evil.example"), ("host", "127.0.0.1:8080")], false),
            (&[("origin", "null"), ("host", "127.0.0.1:8080")], false),
            (
                &[("origin", "http://10.0.0.5"), ("host", "127.0.0.1:1"), ("x-forwarded-host", "10.0.0.5")],
                false,
            ),
            (
                &[
                    ("origin", "http://10.0.0.5"),
                    ("host", "127.0.0.1:1"),
                    ("x-forwarded-host", "10.0.0.5"),
                    ("x-figaro-passed-on", "1"),
                ],
                true,
            ),
            (&[("host", "127.0.0.1:8080")], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(is_own(&headers, url), is_taken, "{pairs:?}");
        }
    }
}
