//! Health, readiness and metrics of a process, for its supervisor and for Prometheus: `METRICS_ADDR`, and systemd.

use std::net::SocketAddr;

use figaro_offline::model::ModelReply;
use reqwest::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use tokio::net::UnixDatagram;

use crate::support::bot::{Bot, Recipe};
use crate::support::fleet::Fleet;
use crate::support::postgres::PostgresServer;
use crate::support::wait::eventually;
use crate::support::{ANN, TIMEOUT};

/// The probes of a process.
struct Probed {
    address: SocketAddr,
    http: reqwest::Client,
}

/// Has a process show its probes at a free port of this machine.
fn shown(recipe: Recipe) -> Recipe {
    recipe.set("METRICS_ADDR", "127.0.0.1:0")
}

impl Probed {
    /// The probes of a process that has started, the `start`th one in its folder.
    async fn of(bot: &Bot, start: usize) -> Self {
        const LISTENS: &str = "metrics are at http://";
        bot.logged_times(LISTENS, start).await;
        let log = bot.log();
        let place = log.rsplit(LISTENS).next().unwrap().split_whitespace().next().unwrap();
        let port = place.parse::<SocketAddr>().unwrap().port();
        let http = reqwest::Client::builder().timeout(TIMEOUT).build().unwrap();
        Self { address: SocketAddr::from(([127, 0, 0, 1], port)), http }
    }

    /// Status and text of a path; `None` while nobody listens.
    async fn get(&self, path: &str, headers: &[(HeaderName, &str)]) -> Option<(u16, String)> {
        let value =
            |(name, value): &(HeaderName, &str)| (name.clone(), HeaderValue::from_str(value).unwrap());
        let headers: HeaderMap = headers.iter().map(value).collect();
        let url = format!("http://{}{path}", self.address);
        let answer = self.http.get(url).headers(headers).send().await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.unwrap()))
    }

    async fn is_ready(&self, fleet: &Fleet) {
        let ready = Some((200, "ready\n".to_owned()));
        eventually(
            || format!("not ready; the logs:\n{}", fleet.logs()),
            async || (self.get("/readyz", &[]).await == ready).then_some(()),
        )
        .await;
    }

    /// Value of a metric; `None` if it is missing.
    async fn value(&self, metric: &str) -> Option<f64> {
        let (status, text) = self.get("/metrics", &[]).await?;
        assert_eq!(status, 200, "{text}");
        let line = text.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_alone_shows_its_health_and_metrics_without_a_key_on_this_machine() {
    let fleet = Fleet::of(1).await;
    drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
    let recipe = shown(fleet.recipe("a").set("TELEGRAM_BOT_TOKEN", fleet.bots[0].token()));
    // Until Telegram answers, the process lives and is not ready.
    let without = recipe.clone().set("TELEGRAM_API_URL", "http://127.0.0.1:9").spawn();
    let probed = Probed::of(&without, 1).await;
    assert_eq!(probed.get("/readyz", &[]).await, Some((503, "starting\n".to_owned())));
    assert_eq!(probed.get("/healthz", &[]).await, Some((200, "ok\n".to_owned())));
    without.stop().await;
    let bot = recipe.spawn();
    let probed = Probed::of(&bot, 2).await;
    probed.is_ready(&fleet).await;
    assert_eq!(fleet.ask(0, ANN, "hello").await, "Here.");
    let (_, text) = probed.get("/metrics", &[]).await.unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(text.contains("# TYPE figaro_store_commit_seconds histogram\n"), "{text}");
    assert!(probed.value("figaro_store_commit_seconds_count").await > Some(0.0), "{text}");
    assert!(probed.value("figaro_tokens_today{bot=\"bot0_bot\"}").await > Some(0.0), "{text}");
    // The answer is in the chat a moment before the turn counts as ended.
    let idle =
        async || (probed.value("figaro_turns_running{bot=\"bot0_bot\"}").await == Some(0.0)).then_some(());
    eventually(|| "a turn that has answered still runs".to_owned(), idle).await;
    assert_eq!(probed.value("figaro_http_turns_open{bot=\"bot0_bot\"}").await, None, "the gateway is off");
    assert!(!text.contains("hello") && !text.contains("Here."), "{text}");
    // A page in a browser, also one whose name leads here, and a proxy for others.
    for header in
        [(ORIGIN, "http://page.example"), (HOST, "page.example"), (HeaderName::from_static("via"), "1.1 x")]
    {
        let (status, words) = probed.get("/metrics", std::slice::from_ref(&header)).await.unwrap();
        assert!(status == 403 && !words.contains("figaro_tokens"), "{header:?}: {status} {words}");
    }
    assert_eq!(probed.get("/v1/models", &[]).await.unwrap().0, 404);
    bot.ends_well().await;
    assert_eq!(probed.get("/healthz", &[]).await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_for_other_machines_need_a_key() {
    let fleet = Fleet::of(1).await;
    let recipe = fleet.recipe("a").set("TELEGRAM_BOT_TOKEN", fleet.bots[0].token());
    let recipe = recipe.set("METRICS_ADDR", "0.0.0.0:0");
    let refused = recipe.run().await;
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2)
            && words.contains("METRICS_ADDR")
            && words.contains("can be reached from other machines"),
        "{words}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_takeover_and_leases_are_counted() {
    let Some(server) = PostgresServer::get() else { return };
    let fleet = Fleet::of(4).await;
    let url = format!("postgres://figaro@{}/{}", server.host(), server.database());
    let spawn = |process: &str| {
        fleet.file_of_all(process);
        shown(fleet.recipe(process).set("STORE_URL", &url)).spawn()
    };
    let a = spawn("a");
    let first = Probed::of(&a, 1).await;
    let shows = async |probed: &Probed, metric: &str, value: f64| {
        let find = async || (probed.value(metric).await == Some(value)).then_some(());
        eventually(|| format!("{metric} is not {value}; the logs:\n{}", fleet.logs()), find).await;
    };
    let has = async |probed: &Probed, count: f64| shows(probed, "figaro_leases", count).await;
    has(&first, 4.0).await;
    let b = spawn("b");
    let second = Probed::of(&b, 1).await;
    has(&second, 2.0).await;
    has(&first, 2.0).await;
    assert_eq!(second.value("figaro_takeover_seconds_count").await, Some(0.0), "they were given, not lost");
    a.kill();
    has(&second, 4.0).await;
    shows(&second, "figaro_takeover_seconds_count", 2.0).await;
    let away = second.value("figaro_takeover_seconds_sum").await.unwrap() / 2.0;
    assert!((0.0..10.0).contains(&away), "{away}");
    shows(&second, "figaro_leases_taken_total", 4.0).await;
    let names = async |count: usize| {
        let find = async || {
            let (_, text) = second.get("/metrics", &[]).await?;
            (text.matches("figaro_uptime_seconds{bot=").count() == count).then_some(())
        };
        eventually(|| format!("not {count} bots; the logs:\n{}", fleet.logs()), find).await;
    };
    names(4).await;
    b.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_waits_to_take_over_is_ready_and_a_paused_bot_is_counted() {
    let Some(server) = PostgresServer::get() else { return };
    let fleet = Fleet::of(2).await;
    let url = format!("postgres://figaro@{}/{}", server.host(), server.database());
    let alone = |process: &str| {
        let recipe = fleet.recipe(process).set("TELEGRAM_BOT_TOKEN", fleet.bots[0].token());
        shown(recipe.set("STORE_URL", &url)).spawn()
    };
    let runs = alone("a");
    Probed::of(&runs, 1).await.is_ready(&fleet).await;
    let waits = alone("b");
    let second = Probed::of(&waits, 1).await;
    second.is_ready(&fleet).await;
    assert_eq!(second.value("figaro_leases").await, Some(0.0));
    waits.ends_well().await;
    runs.ends_well().await;
    fleet.file("c", "good: {token: TOKEN_0}\nbad: {token: TOKEN_BAD}\n");
    let recipe = fleet.recipe("c").set("TOKEN_BAD", "7000000099:unknown");
    let bots = shown(recipe).spawn();
    let first = Probed::of(&bots, 1).await;
    let find = async || (first.value("figaro_bot_paused{bot=\"bad\"}").await == Some(1.0)).then_some(());
    eventually(|| format!("not paused; the logs:\n{}", fleet.logs()), find).await;
    assert_eq!(first.value("figaro_bot_paused{bot=\"good\"}").await, None);
    bots.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn systemd_is_told_of_the_start_the_state_life_and_the_end() {
    let fleet = Fleet::of(1).await;
    let place = fleet.folder("systemd").join("notify");
    let socket = UnixDatagram::bind(&place).unwrap();
    let told = async || {
        let mut piece = [0; 4_096];
        let read = tokio::time::timeout(TIMEOUT, socket.recv(&mut piece)).await;
        String::from_utf8(piece[..read.expect("nothing is told").unwrap()].to_vec()).unwrap()
    };
    let recipe = fleet.recipe("a").set("TELEGRAM_BOT_TOKEN", fleet.bots[0].token());
    let recipe = recipe.set("NOTIFY_SOCKET", place.to_str().unwrap()).set("WATCHDOG_USEC", "200000");
    let bot = recipe.spawn();
    let mut all = told().await;
    assert!(all.contains("READY=1\n"), "{all}");
    while !(all.contains("STATUS=starting\n") && all.contains("STATUS=ready\n")) {
        all += &told().await;
    }
    let lives = |all: &str| all.matches("WATCHDOG=1\n").count();
    let before = lives(&all);
    while lives(&all) < before + 3 {
        all += &told().await;
    }
    assert!(!all.contains("STOPPING=1"), "{all}");
    bot.signal("TERM");
    while !all.contains("STOPPING=1\n") {
        all += &told().await;
    }
    bot.ends_well().await;
}
