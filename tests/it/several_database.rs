//! Bots whose database restarts, has no room, or is replaced by its replica lose nothing, and go on by themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::ANN;
use crate::support::bot::{Bot, Recipe};
use crate::support::fleet::{Fleet, texts};
use crate::support::postgres::{PostgresServer, ServerEnd};
use crate::support::wait::eventually;

const BOTS: usize = 4;
const PROCESSES: [&str; 2] = ["a", "b"];

/// Two processes with bots whose answers are the numbers of the questions.
struct NumberedBots {
    fleet: Fleet,
    running: Vec<Bot>,
}

impl NumberedBots {
    async fn start(url: &str) -> Self {
        let mut fleet = Fleet::of(BOTS).await;
        fleet.answer_with_numbers().await;
        let recipe = |process: &str| -> Recipe {
            fleet.file_of_all(process);
            fleet.recipe(process).set("STORE_URL", url).set("HISTORY_TOKENS", "1000000")
        };
        let running = PROCESSES.map(|process| recipe(process).spawn()).into();
        let bots = Self { fleet, running };
        for bot in 0..BOTS {
            assert_eq!(bots.fleet.ask(bot, ANN, "#0").await, "#0");
        }
        bots
    }

    /// Has Ann ask every bot several times a second while something happens. Returns the number of the last question.
    async fn asked_during(&self, event: impl Future<Output = ()>) -> usize {
        let (count, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let asking = async {
            while !is_over.load(Ordering::Relaxed) {
                let number = count.fetch_add(1, Ordering::Relaxed) + 1;
                for bot in &self.fleet.bots {
                    bot.say(ANN, ANN, &format!("#{number}")).unwrap();
                }
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
        };
        let event = async {
            event.await;
            is_over.store(true, Ordering::Relaxed);
        };
        tokio::join!(asking, event);
        count.load(Ordering::Relaxed)
    }

    /// Waits until each question up to this one is answered. They are answered in order; `repeats` is how many may be answered
    /// again, because their record was cut off.
    async fn has_answered(&self, last: usize, repeats: usize) {
        let wanted: Vec<usize> = (0..=last).collect();
        let mut twice = 0;
        for bot in 0..BOTS {
            let answered = || self.fleet.numbers_answered(bot);
            let is_done = async || answered().contains(&last).then_some(());
            let words = || format!("bot {bot}: {:?}; the logs:\n{}", answered(), self.fleet.logs());
            eventually(words, is_done).await;
            let mut all = answered();
            let count = all.len();
            all.dedup();
            twice += count - all.len();
            assert_eq!(all, wanted, "bot {bot}; the logs:\n{}", self.fleet.logs());
        }
        assert!(twice <= repeats, "{twice} twice; the logs:\n{}", self.fleet.logs());
    }

    async fn end(self) {
        for process in self.running {
            process.ends_well().await;
        }
    }
}

/// Does something with a server, while the test goes on.
async fn aside(server: &Arc<PostgresServer>, work: impl FnOnce(&PostgresServer) + Send + 'static) {
    let server = server.clone();
    tokio::task::spawn_blocking(move || work(&server)).await.unwrap();
}

async fn seconds(count: u64) {
    tokio::time::sleep(Duration::from_secs(count)).await;
}

/// URL of a database of this server.
fn url(server: &PostgresServer, database: &str) -> String {
    format!("postgres://figaro@{}/{database}", server.host())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_restarts_loses_nothing() {
    let Some(server) = PostgresServer::start("on").map(Arc::new) else { return };
    let bots = NumberedBots::start(&url(&server, &server.database())).await;
    // Away for less than a lease holds, then for longer; in order, then by a crash.
    let ends = [(ServerEnd::Orderly, 1), (ServerEnd::Crash, 1), (ServerEnd::Crash, 8)];
    let restarts = async {
        for (end, away) in ends {
            aside(&server, move |server| server.go_away(end)).await;
            seconds(away).await;
            aside(&server, PostgresServer::come_back).await;
            seconds(2).await;
        }
    };
    let last = bots.asked_during(restarts).await;
    bots.has_answered(last, ends.len() * BOTS).await;
    bots.end().await;
}

/// Has a server answer writes as one with a full disk does.
const FULL: &str = r#"
    CREATE FUNCTION has_no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file "base/5/7": No space left on device' USING ERRCODE = 'disk_full';
    END $$;
    CREATE TRIGGER has_no_room BEFORE INSERT OR UPDATE ON figaro.entries EXECUTE FUNCTION has_no_room();"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_room_loses_nothing() {
    let Some(server) = PostgresServer::get() else { return };
    let database = server.database();
    let bots = NumberedBots::start(&url(server, &database)).await;
    let filled = async {
        seconds(1).await;
        assert!(server.psql(&database, FULL));
        seconds(8).await;
        assert!(server.psql(&database, "DROP TRIGGER has_no_room ON figaro.entries"));
        seconds(1).await;
    };
    let last = bots.asked_during(filled).await;
    bots.has_answered(last, BOTS).await;
    let told = (0..BOTS).filter(|bot| {
        texts(&bots.fleet.bots[*bot], ANN).iter().any(|text| text.contains("No space left on device"))
    });
    assert_eq!(told.count(), BOTS, "owners hear why; the logs:\n{}", bots.fleet.logs());
    bots.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_takes_over_has_everything() {
    let Some(primary) = PostgresServer::start("on").map(Arc::new) else { return };
    let (database, replica) = (primary.database(), Arc::new(primary.replica()));
    let hosts = format!("{},{}", primary.host(), replica.host());
    let both = format!("postgres://figaro@{hosts}/{database}?target_session_attrs=read-write");
    let bots = NumberedBots::start(&both).await;
    let failover = async {
        seconds(2).await;
        aside(&primary, |primary| primary.go_away(ServerEnd::Crash)).await;
        seconds(3).await;
        aside(&replica, PostgresServer::promote).await;
        seconds(2).await;
    };
    let last = bots.asked_during(failover).await;
    bots.has_answered(last, BOTS).await;
    bots.end().await;
}
