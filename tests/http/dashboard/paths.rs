//! Paths that lead out of where they seem to lead, asked for as they are: no client puts them right before.

use figaro_offline::model::ModelReply;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Dashboard;
use super::browser::{Browser, PROGRAM};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, TIMEOUT, World};

/// Only the page of settings has these words, of which each setting is one.
const OF_SETTINGS: &str = "AUDIT_DAYS";
/// So has only the page of people.
const OF_PEOPLE: &str = "value=\"admin\"";

/// Sends a request as it is written, again while there are too many; gives all of the answer.
async fn raw(dashboard: &Dashboard, browser: &Browser, line: &str) -> String {
    let asking = async || {
        let answer = once(dashboard, browser, line).await;
        (status(&answer) != 429).then_some(answer)
    };
    eventually(|| "always too many requests", asking).await
}

async fn once(dashboard: &Dashboard, browser: &Browser, line: &str) -> String {
    let host = dashboard.gateway.url.trim_start_matches("http://");
    let mut socket = TcpStream::connect(host).await.unwrap();
    let cookie = browser.cookie.as_deref().unwrap_or("a=b");
    let head = format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {PROGRAM}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // What is no HTTP may be cut off.
    drop(tokio::time::timeout(TIMEOUT, socket.read_to_end(&mut answer)).await.expect("an answer"));
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Ways to write the path of a page for owners.
fn ways(page: &str) -> Vec<String> {
    let (first, rest) = page.split_at(1);
    let code = format!("%{:02x}", first.as_bytes()[0]);
    let forms = [
        "/dashboard/assets/../PAGE",
        "/dashboard/assets/%2e%2e/PAGE",
        "/dashboard/assets/..%2fPAGE",
        "/dashboard/assets/..%2FPAGE",
        "/dashboard/assets/%2e%2e%2fPAGE",
        "/dashboard/assets/..%5cPAGE",
        "/dashboard/assets/..\\PAGE",
        "/dashboard//PAGE",
        "//dashboard/PAGE",
        "/dashboard/./PAGE",
        "/dashboard/PAGE/",
        "/dashboard/PAGE/.",
        "/dashboard/PAGE//",
        "/dashboard/PAGE%00",
        "/dashboard/PAGE%20",
        "/dashboard/PAGE;x=y",
        "/dashboard/PAGE%3fx",
        "/dashboard/PAGE%23",
        "/dashboard%2fPAGE",
        "/dashboard/enter/../PAGE",
        "/dashboard/enter/%2e%2e/PAGE",
        "/dashboard/%2e/PAGE",
        "/dashboard/%252e%252e/PAGE",
        "/dashboard/tasks/../PAGE",
        "/dashboard/tasks/..%2fPAGE",
        "/dashboard/conversations/..%2fPAGE",
        "/x/../dashboard/PAGE",
        "/v1/../dashboard/PAGE",
        "/bots/x/../../dashboard/PAGE",
        "/bots//dashboard/PAGE",
        "/bots/%2e%2e/dashboard/PAGE",
        "/bots/figaro_bot/dashboard/PAGE",
        "/dashboard/PAGE?../..",
        "http://evil.example/dashboard/PAGE",
        "/dashboard/%c0%ae%c0%ae/PAGE",
        "/dashboard/assets/%c0%ae%c0%ae%c0%afPAGE",
        "/dashboard/\tPAGE",
    ];
    let mut all: Vec<String> = forms.iter().map(|form| form.replace("PAGE", page)).collect();
    all.push(format!("/dashboard/{}", page.to_uppercase()));
    all.push(format!("/DASHBOARD/{page}"));
    all.push(format!("/dashboard/{code}{rest}"));
    all
}

async fn started(world: &World) -> Dashboard {
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    for who in [ANN, BOB] {
        world.told(who, who, "hello").await;
    }
    dashboard
}

#[tokio::test]
async fn no_way_to_write_a_path_leads_past_the_sign_in() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    let (nobody, member) = (dashboard.nobody(), world.browser(&dashboard, BOB).await);
    let owner = world.browser(&dashboard, ANN).await;
    for (page, words) in [("settings", OF_SETTINGS), ("people", OF_PEOPLE)] {
        let whole = raw(&dashboard, &owner, &format!("GET /dashboard/{page}")).await;
        assert!(status(&whole) == 200 && whole.contains(words), "{whole}");
        for path in ways(page) {
            for browser in [&nobody, &member] {
                let answer = raw(&dashboard, browser, &format!("GET {path}")).await;
                assert!(!answer.contains(words), "{path}: {answer}");
                assert!(status(&answer) < 500, "{path}: {answer}");
            }
        }
    }
    assert!(!dashboard.bot().log().contains("panicked"));
}

#[tokio::test]
async fn no_header_names_another_path_or_method() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    let (nobody, member) = (dashboard.nobody(), world.browser(&dashboard, BOB).await);
    let headers = [
        ("x-original-url", "/dashboard/settings"),
        ("x-rewrite-url", "/dashboard/settings"),
        ("x-forwarded-prefix", "/dashboard/settings"),
        ("x-http-method-override", "POST"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-real-ip", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1;host=localhost"),
        ("authorization", "Bearer sk-offline-key"),
    ];
    for (name, value) in headers {
        for (browser, path, wanted) in
            [(&nobody, "settings", 401), (&member, "settings", 404), (&nobody, "", 401)]
        {
            let request = browser.request(reqwest::Method::GET, path).header(name, value);
            let page = super::browser::Page::patiently(&request).await;
            assert!(page.status == wanted && !page.body.contains(OF_SETTINGS), "{name}: {}", page.whole());
        }
    }
}

#[tokio::test]
async fn no_path_below_the_assets_leads_to_a_file() {
    let world = World::new().await;
    let dashboard = started(&world).await;
    std::fs::write(world.folder.path().join("words.txt"), "words-of-the-file").unwrap();
    let nobody = dashboard.nobody();
    let folder = world.folder.path().to_str().unwrap();
    let mut paths = Vec::new();
    for up in [
        "..",
        "%2e%2e",
        "..%2f..",
        "%2e%2e%2f%2e%2e",
        ".%2e",
        "..%5c..",
        "%252e%252e",
        "..;",
        "....//",
        "..%00",
    ] {
        for file in
            ["words.txt", "etc/passwd", "%2fetc%2fpasswd", "proc/self/environ", "Cargo.toml", "src/lib.rs"]
        {
            for deep in [1, 3, 8] {
                paths.push(format!("/dashboard/assets/{}/{file}", vec![up; deep].join("/")));
            }
        }
    }
    for file in [
        "words.txt",
        "/words.txt",
        &format!("{folder}/words.txt"),
        "/etc/passwd",
        "file:///etc/passwd",
        "%2fetc%2fpasswd",
    ] {
        paths.push(format!("/dashboard/assets/{file}"));
        paths.push(format!("/dashboard/{file}"));
        paths.push(format!("/dashboard/enter/{file}"));
    }
    for path in paths {
        let answer = raw(&dashboard, &nobody, &format!("GET {path}")).await;
        assert!([400, 401, 404, 410].contains(&status(&answer)), "{path}: {answer}");
        for words in ["words-of-the-file", "root:x:0", "sk-offline-key", "[package]"] {
            assert!(!answer.contains(words), "{path}: {answer}");
        }
    }
}
