//! Whoever asks for too much at once, sends slowly or does not read hurts nobody but themselves.

use figaro_offline::model::ModelReply;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Dashboard;
use super::browser::{Browser, PROGRAM, Page};
use crate::support::scene::text;
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, TIMEOUT, World};

/// Number of requests of a browser that are answered at once.
const AT_ONCE: usize = 60;

async fn started() -> (World, Dashboard) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello."));
    let dashboard = world.dashboard().await;
    (world, dashboard)
}

impl Dashboard {
    /// A connection with this beginning of a request.
    async fn begun(&self, browser: &Browser, line: &str, rest: &str) -> TcpStream {
        let host = self.gateway.url.trim_start_matches("http://");
        let mut socket = TcpStream::connect(host).await.unwrap();
        let cookie = browser.cookie.as_deref().unwrap_or("a=b");
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {PROGRAM}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n{rest}"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        socket
    }
}

/// Everybody but whoever floods is served, and so is the chat.
async fn others_are_served(world: &World, dashboard: &Dashboard, other: &Browser) {
    for path in ["", "conversations", "assets/dashboard.css"] {
        let page = Page::of(other.request(Method::GET, path).send().await.unwrap()).await;
        assert_eq!(page.status, 200, "{path}: {}", page.whole());
    }
    assert_eq!(dashboard.nobody().status("").await, 401);
    assert_eq!(text(&world.ask("are you there?").await), "Hello.");
    assert_eq!(
        world.browser(dashboard, BOB).await.status("").await,
        200,
        "a new browser of whoever floods, too"
    );
}

#[tokio::test]
async fn a_flood_is_refused_and_another_browser_is_served() {
    let (world, dashboard) = started().await;
    let (floods, other) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, ANN).await);
    for path in ["conversations?q=zebra", "tasks"] {
        let asked = (0..6 * AT_ONCE)
            .map(|_| async { floods.request(Method::GET, path).send().await.unwrap().status().as_u16() });
        let statuses = futures::future::join_all(asked).await;
        let refused = statuses.iter().filter(|status| **status == 429).count();
        assert!(refused > AT_ONCE, "{path}: {refused} of {}", statuses.len());
        assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{path}: {statuses:?}");
        others_are_served(&world, &dashboard, &other).await;
        eventually(|| "it is never served again", async || (floods.status("").await == 200).then_some(()))
            .await;
    }
}

#[tokio::test]
async fn a_flood_of_those_who_are_not_signed_in_hurts_nobody() {
    let (world, dashboard) = started().await;
    let other = world.browser(&dashboard, ANN).await;
    let forged = format!("figaro_dashboard_{}={}", world.telegram.bot_id(), "0".repeat(64));
    let nobody = dashboard.nobody().cookie(&forged);
    for path in ["tasks", "enter/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"] {
        let asked = (0..6 * AT_ONCE)
            .map(|_| async { nobody.request(Method::GET, path).send().await.unwrap().status().as_u16() });
        let flood = futures::future::join_all(asked);
        let (statuses, ()) =
            futures::future::join(flood, others_are_served(&world, &dashboard, &other)).await;
        assert!(statuses.iter().all(|status| [401, 410, 429].contains(status)), "{statuses:?}");
    }
}

#[tokio::test]
async fn bodies_that_do_not_come_hurt_nobody() {
    let (world, dashboard) = started().await;
    let (slow, other) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, ANN).await);
    let rest = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nact";
    let mut halves = Vec::new();
    for _ in 0..AT_ONCE {
        for (browser, line) in [
            (&slow, "POST /dashboard/tasks/01BX5ZZKBKACTAV9WEVRYEMGVS"),
            (&dashboard.nobody(), "POST /dashboard/leave"),
        ] {
            halves.push(dashboard.begun(browser, line, rest).await);
        }
        halves.push(dashboard.begun(&slow, "GET /dashboard/tasks", "X-Slow: ").await);
    }
    others_are_served(&world, &dashboard, &other).await;
    drop(halves);
    eventually(|| "it is never served again", async || (slow.status("").await == 200).then_some(())).await;
}

#[tokio::test]
async fn those_who_do_not_read_hurt_nobody() {
    let (world, dashboard) = started().await;
    let (slow, other) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, ANN).await);
    let mut streams = Vec::new();
    for _ in 0..3 * AT_ONCE {
        streams.push(dashboard.begun(&slow, "GET /dashboard/events", "\r\n").await);
    }
    let mut heads = Vec::new();
    for stream in &mut streams {
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        heads.push(String::from_utf8_lossy(&head).into_owned());
    }
    assert!(heads.iter().any(|head| head.ends_with("429")), "as many streams as somebody likes");
    assert!(heads.iter().all(|head| head.ends_with("200") || head.ends_with("429")), "{heads:?}");
    for number in 0..5 {
        world.told(BOB, BOB, &format!("/pin number {number}")).await;
    }
    others_are_served(&world, &dashboard, &other).await;
    drop(streams);
    let opens = async || {
        let stream = slow.request(Method::GET, "events").send().await.unwrap();
        (stream.status() == 200).then_some(())
    };
    eventually(|| "no stream is free again", opens).await;
}

#[tokio::test]
async fn a_body_without_end_is_cut_off() {
    let (world, dashboard) = started().await;
    let (large, other) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, ANN).await);
    let rest = "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n";
    for path in ["leave", "memory/facts/01BX5ZZKBKACTAV9WEVRYEMGVS", "nothing"] {
        let socket = dashboard.begun(&large, &format!("POST /dashboard/{path}"), rest).await;
        let (mut reads, mut writes) = socket.into_split();
        let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
        let sends = async {
            let mut sent = 0;
            // More than a form has; a server that takes it all would take it for ever.
            while sent < 100_000_000 && writes.write_all(chunk.as_bytes()).await.is_ok() {
                sent += 0x10000;
            }
            sent
        };
        let mut answer = Vec::new();
        let (sent, _) = futures::future::join(sends, reads.read_to_end(&mut answer)).await;
        assert!(sent < 100_000_000, "{path}: all was taken");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 303"),
            "{path}: {answer}"
        );
    }
    others_are_served(&world, &dashboard, &other).await;
}

#[tokio::test]
async fn a_form_that_does_not_arrive_is_refused() {
    let (_world, dashboard) = started().await;
    let rest = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\ninit";
    let mut socket = dashboard.begun(&dashboard.nobody(), "POST /dashboard/app", rest).await;
    let mut answer = [0_u8; 12];
    tokio::time::timeout(TIMEOUT, socket.read_exact(&mut answer)).await.expect("it waits for ever").unwrap();
    assert_eq!(&answer, b"HTTP/1.1 422");
}
