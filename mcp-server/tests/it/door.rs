//! Who may come in, from where, with how much.

use axum::http::StatusCode;

use crate::support::{Bench, KEY, initialize};

#[tokio::test]
async fn the_door_opens_to_its_keys_only() {
    let bench = Bench::start(&[], &[("MCP_API_KEY", "outside"), ("FIGARO_MCP_KEY", "parent")]).await;
    let cases = [
        (None, 401),
        (Some("Bearer wrong"), 401),
        (Some("Bearer outsid"), 401),
        (Some("Bearer outside2"), 401),
        (Some("Bearer "), 401),
        (Some("Basic outside"), 401),
        (Some("outside"), 401),
        (Some("Bearer outside"), 200),
        (Some("bearer parent"), 200),
    ];
    for (key, status) in cases {
        let headers: Vec<_> = key.map(|key| ("authorization", key)).into_iter().collect();
        let response = bench.post(&headers, &initialize()).await;
        assert_eq!(response.status(), status, "{key:?}");
        let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap());
        assert_eq!(challenge, (status == 401).then_some("Bearer"), "{key:?}");
    }
    bench.stop().await;
    let open = Bench::start(&[], &[]).await;
    assert_eq!(open.post(&[], &initialize()).await.status(), 200);
    open.stop().await;
}

#[tokio::test]
async fn strange_hosts_origins_and_sizes_are_refused() {
    let (bench, _) = Bench::standalone().await;
    let port = bench.url.trim_start_matches("http://127.0.0.1:").trim_end_matches("/mcp").to_owned();
    let (local, own) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    let cases = [
        ("host", "evil.example", 403),
        ("host", "evil.example:80", 403),
        ("host", "127.0.0.1:1", 403),
        ("host", local.as_str(), 200),
        ("origin", "https://evil.example", 403),
        ("origin", "http://localhost:1", 403),
        ("origin", "null", 403),
        ("origin", own.as_str(), 200),
    ];
    for (name, value, status) in cases {
        assert_eq!(
            bench.post(&[KEY, (name, value)], &initialize()).await.status(),
            status,
            "{name}: {value}"
        );
    }
    let mut large = initialize();
    large["params"]["clientInfo"]["name"] = "x".repeat(16 * 1024 * 1024).into();
    assert_eq!(bench.post(&[KEY], &large).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    bench.stop().await;
}
