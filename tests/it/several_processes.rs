//! Bots of several processes with one database: a bot belongs to one process at a time, and moves when that ends, hangs or is
//! cut off.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::OfflineTelegram;
use futures::future::join_all;

use crate::support::bot::{Bot, Recipe};
use crate::support::db_proxy::DatabaseProxy;
use crate::support::fleet::{Fleet, texts};
use crate::support::postgres::PostgresServer;
use crate::support::wait::{eventually, recorded};
use crate::support::{ANN, TIMEOUT, listener};

/// Processes `a`, `b` and so on with one database, each behind a proxy of its own.
struct Cluster {
    fleet: Fleet,
    proxies: Vec<DatabaseProxy>,
    database: String,
}

impl Cluster {
    /// Sets up bots and processes; `None` without PostgreSQL.
    async fn of(bots: usize, processes: usize) -> Option<Self> {
        let server = PostgresServer::get()?;
        let (fleet, mut proxies) = (Fleet::of(bots).await, Vec::new());
        for number in 0..processes {
            proxies.push(DatabaseProxy::start(server.socket()).await);
            fleet.file_of_all(name(number));
        }
        drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
        Some(Self { fleet, proxies, database: server.database() })
    }

    fn recipe(&self, process: usize) -> Recipe {
        let recipe = self.fleet.recipe(name(process)).set("HISTORY_TOKENS", "1000000");
        recipe.set("STORE_URL", &self.proxies[process].url(&self.database))
    }

    /// Waits until the processes have these numbers of bots.
    async fn shared_out(&self, counts: &[usize]) {
        eventually(
            || format!("not {counts:?}; the logs:\n{}", self.fleet.logs()),
            async || {
                let list = self.fleet.listed(&self.recipe(0)).await;
                let mut found: Vec<usize> = owners(&list).into_values().collect();
                found.sort_unstable();
                (found == counts).then_some(())
            },
        )
        .await;
    }

    /// Number of bots of each of three processes, in rising order.
    fn shares(&self) -> Vec<usize> {
        let bots = self.fleet.bots.len();
        (0..3).map(|at| bots / 3 + usize::from(at < bots % 3)).rev().collect()
    }

    /// Numbers of the bots that a process has.
    async fn bots_of(&self, process: &Bot) -> Vec<usize> {
        let list = self.fleet.listed(&self.recipe(0)).await;
        let owner = format!("in process {} of", process.pid());
        let bot = |line: &str| line.split_whitespace().next()?.strip_prefix("bot")?.parse().ok();
        list.lines().filter(|line| line.contains(&owner)).filter_map(bot).collect()
    }

    /// Every bot answers Ann once.
    async fn all_answer(&self, words: &str) {
        for bot in 0..self.fleet.bots.len() {
            assert_eq!(self.fleet.ask(bot, ANN, words).await, "Here.", "bot {bot}");
        }
    }

    /// Nothing was answered twice, and nothing but what was asked for was said.
    fn each_answered(&self, times: usize) {
        for (number, bot) in self.fleet.bots.iter().enumerate() {
            assert_eq!(answers(bot), times, "bot {number}: {:?}", texts(bot, ANN));
        }
    }
}

fn answers(bot: &OfflineTelegram) -> usize {
    texts(bot, ANN).iter().filter(|text| *text == "Here.").count()
}

fn name(process: usize) -> &'static str {
    ["a", "b", "c", "d"][process]
}

/// Number of bots by the process that has them, as `figaro bots` prints it.
fn owners(list: &str) -> BTreeMap<String, usize> {
    let mut owners = BTreeMap::new();
    for owner in list.lines().filter_map(|line| line.split("in process ").nth(1)) {
        *owners.entry(owner.to_owned()).or_default() += 1;
    }
    owners
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_are_shared_out_and_go_to_who_is_left() {
    let Some(cluster) = Cluster::of(6, 2).await else { return };
    let first = cluster.recipe(0).spawn();
    cluster.shared_out(&[6]).await;
    let second = cluster.recipe(1).spawn();
    cluster.shared_out(&[3, 3]).await;
    cluster.all_answer("one").await;
    recorded().await;
    first.kill();
    cluster.shared_out(&[6]).await;
    cluster.all_answer("two").await;
    let first = cluster.recipe(0).spawn();
    cluster.shared_out(&[3, 3]).await;
    // A stop gives bots back one by one.
    second.ends_well().await;
    cluster.shared_out(&[6]).await;
    cluster.all_answer("three").await;
    cluster.each_answered(3);
    first.ends_well().await;
}

/// Takes a process out of the world, brings it back, and looks that it has not acted meanwhile.
async fn comes_back(cluster: &Cluster, away: impl Fn(&Bot), back: impl Fn(&Bot)) {
    let (first, second) = (cluster.recipe(0).spawn(), cluster.recipe(1).spawn());
    cluster.shared_out(&[2, 2]).await;
    cluster.all_answer("one").await;
    recorded().await;
    away(&first);
    eventually(
        || format!("the other does not take over; the logs:\n{}", cluster.fleet.logs()),
        async || {
            let list = cluster.fleet.listed(&cluster.recipe(1)).await;
            (owners(&list).into_values().collect::<Vec<_>>() == [4]).then_some(())
        },
    )
    .await;
    cluster.all_answer("two").await;
    back(&first);
    cluster.shared_out(&[2, 2]).await;
    cluster.all_answer("three").await;
    cluster.each_answered(3);
    first.ends_well().await;
    second.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_hangs_loses_its_bots_and_answers_nothing_twice() {
    let Some(cluster) = Cluster::of(4, 2).await else { return };
    comes_back(&cluster, |bot| bot.signal("STOP"), |bot| bot.signal("CONT")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_cut_off_from_the_database_loses_its_bots() {
    let Some(cluster) = Cluster::of(4, 2).await else { return };
    comes_back(&cluster, |_| cluster.proxies[0].cut(), |_| cluster.proxies[0].mend()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_alone_has_a_second_process_that_takes_over() {
    let Some(server) = PostgresServer::get() else { return };
    let fleet = Fleet::of(1).await;
    drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
    let proxy = DatabaseProxy::start(server.socket()).await;
    let url = proxy.url(&server.database());
    let recipe = |process| {
        fleet.recipe(process).set("STORE_URL", &url).set("TELEGRAM_BOT_TOKEN", fleet.bots[0].token())
    };
    let first = recipe("a").spawn();
    first.ready().await;
    let second = recipe("b").spawn();
    second.logged("this one takes over when that ends").await;
    assert_eq!(fleet.ask(0, ANN, "hello").await, "Here.");
    recorded().await;
    first.kill();
    second.ready().await;
    assert_eq!(fleet.ask(0, ANN, "hello again").await, "Here.");
    assert_eq!(answers(&fleet.bots[0]), 2);
    second.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_database_slows_answers_and_nothing_else() {
    let Some(cluster) = Cluster::of(2, 1).await else { return };
    let bot = cluster.recipe(0).spawn();
    cluster.shared_out(&[2]).await;
    cluster.proxies[0].delay(Duration::from_millis(200));
    cluster.all_answer("one").await;
    cluster.proxies[0].delay(Duration::ZERO);
    cluster.all_answer("two").await;
    cluster.each_answered(2);
    assert!(!bot.log().contains("may have taken its bots"), "{}", bot.log());
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_process_takes_a_request_and_passes_it_to_the_one_with_the_bot() {
    let Some(cluster) = Cluster::of(2, 2).await else { return };
    let (http, mut ports) = (reqwest::Client::builder().timeout(TIMEOUT).build().unwrap(), Vec::new());
    let mut processes = Vec::new();
    for process in 0..2 {
        let port = listener().await.local_addr().unwrap().port();
        let recipe = cluster.recipe(process).set("HTTP_ADDR", &format!("127.0.0.1:{port}"));
        processes.push(recipe.set("API_KEYS", "app:key-of-the-app-itself").spawn());
        ports.push(port);
    }
    cluster.shared_out(&[1, 1]).await;
    let asked = async |port: u16, path: &str, key: &str| {
        let url = format!("http://127.0.0.1:{port}{path}");
        let body = serde_json::json!({"model": "figaro", "messages": [{"role": "user", "content": "hello"}]});
        let answer = http.post(url).bearer_auth(key).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    for bot in ["bot0", "bot1"] {
        for port in &ports {
            let path = format!("/bots/{bot}/v1/chat/completions");
            let found = eventually(
                || format!("{path} at {port} is not answered; the logs:\n{}", cluster.fleet.logs()),
                async || {
                    Some(asked(*port, &path, "key-of-the-app-itself").await).filter(|found| found.0 == 200)
                },
            )
            .await;
            assert!(found.1.contains("Here."), "{}", found.1);
            assert_eq!(asked(*port, &path, "a key of nobody").await.0, 401);
            let url = format!("http://127.0.0.1:{port}{path}");
            let body = serde_json::json!({
                "model": "figaro", "stream": true, "messages": [{"role": "user", "content": "hello"}],
            });
            let stream =
                http.post(url).bearer_auth("key-of-the-app-itself").json(&body).send().await.unwrap();
            assert_eq!(stream.headers()["content-type"], "text/event-stream");
            let events = stream.text().await.unwrap();
            assert!(events.trim_end().ends_with("data: [DONE]"), "{events}");
        }
    }
    for process in processes {
        process.ends_well().await;
    }
}

/// Faults of a process, in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Killed,
    Hung,
    CutOff,
    Stopped,
}

/// A world whose model answers each question with its number.
async fn numbered(bots: usize, processes: usize) -> Option<Cluster> {
    let mut cluster = Cluster::of(bots, processes).await?;
    cluster.fleet.answer_with_numbers().await;
    Some(cluster)
}

/// Ann asks every bot again and again until it is over. Returns how often.
async fn questions(fleet: &Fleet, asked: &AtomicUsize, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        for bot in &fleet.bots {
            bot.say(ANN, ANN, &format!("#{number}")).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(1_000)).await;
    }
}

/// Lets processes fail one after another, and brings each back. Returns how long the bots of each were away.
async fn fail_in_turn(
    cluster: &Cluster,
    running: &mut Vec<Bot>,
    faults: usize,
    asked: &AtomicUsize,
) -> BTreeMap<Fault, Vec<Duration>> {
    let mut away: BTreeMap<Fault, Vec<Duration>> = BTreeMap::new();
    for number in 0..faults {
        let process = number % 3;
        let fault = [Fault::Killed, Fault::Hung, Fault::CutOff, Fault::Stopped][number % 4];
        let hit = cluster.bots_of(&running[process]).await;
        let (began, before) = (Instant::now(), asked.load(Ordering::Relaxed));
        match fault {
            Fault::Killed => running.remove(process).kill(),
            Fault::Hung => running[process].signal("STOP"),
            Fault::CutOff => cluster.proxies[process].cut(),
            Fault::Stopped => running.remove(process).ends_well().await,
        }
        let fleet = &cluster.fleet;
        let seen = |bot: usize| async move {
            let find = async || {
                let all = fleet.numbers_answered(bot);
                all.iter().any(|number| *number >= before).then(|| began.elapsed())
            };
            eventually(|| format!("bot {bot} does not come back"), find).await
        };
        away.entry(fault).or_default().extend(join_all(hit.into_iter().map(seen)).await);
        match fault {
            Fault::Killed | Fault::Stopped => running.insert(process, cluster.recipe(process).spawn()),
            Fault::Hung => running[process].signal("CONT"),
            Fault::CutOff => cluster.proxies[process].mend(),
        }
        cluster.shared_out(&cluster.shares()).await;
    }
    away
}

/// Each question up to `last` was answered, in order. Returns how many were answered twice.
async fn all_answered(fleet: &Fleet, last: usize) -> usize {
    let mut twice = 0;
    for bot in 0..fleet.bots.len() {
        let answered = || fleet.numbers_answered(bot);
        let find = async || answered().contains(&(last - 1)).then_some(());
        eventually(|| format!("bot {bot} does not answer #{}: {:?}", last - 1, answered()), find).await;
        let mut all = answered();
        let count = all.len();
        all.dedup();
        twice += count - all.len();
        assert_eq!(all, (1..last).collect::<Vec<_>>(), "bot {bot}; the logs:\n{}", fleet.logs());
    }
    twice
}

/// Processes fail one after another while people ask. `FIGARO_FAULTS` is the number of faults, `FIGARO_BOTS` that of bots;
/// `-- --nocapture` prints how long the bots were away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "a test whose size may be given by hand")]
async fn processes_that_fail_under_load_lose_and_repeat_nothing() {
    let set = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |count| count.parse().unwrap());
    let (faults, bots): (usize, usize) = (set("FIGARO_FAULTS", 4), set("FIGARO_BOTS", 6));
    let Some(cluster) = numbered(bots, 3).await else { return };
    let mut running: Vec<Bot> = (0..3).map(|process| cluster.recipe(process).spawn()).collect();
    cluster.shared_out(&cluster.shares()).await;
    let (asked, is_over) = (AtomicUsize::new(1), AtomicBool::new(false));
    let campaign = async {
        let away = fail_in_turn(&cluster, &mut running, faults, &asked).await;
        is_over.store(true, Ordering::Relaxed);
        away
    };
    let (mut away, ()) = tokio::join!(campaign, questions(&cluster.fleet, &asked, &is_over));
    let last = asked.load(Ordering::Relaxed);
    let twice = all_answered(&cluster.fleet, last).await;
    for (fault, times) in &mut away {
        times.sort();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64();
        let (p50, p99, most) = (at(50), at(99), at(100));
        println!("{fault:?}: {} bots away p50 {p50:.1} s, p99 {p99:.1} s, at most {most:.1} s", times.len());
    }
    println!("{} questions of {bots} bots, {twice} answered twice", last - 1);
    // An answer that has arrived, and whose record a fault cut off a moment later, is sent once more: docs/architecture.md.
    assert!(twice <= faults, "{twice} answers came twice; the logs:\n{}", cluster.fleet.logs());
    for process in running {
        process.ends_well().await;
    }
}
