//! How a store grows: `cargo bench --bench store` has each engine keep the turns of 1,000 chats, 32 at once, and prints after
//! each quarter what it takes on disk beside what is in it, the memory of the process, and turns a second; at the end what
//! compacting leaves, and how long the next opening takes. `BENCH_TURNS` says how many turns (20,000).
//!
//! A turn is an update, its question, an answer of 400 characters, its delivery and what a model call has cost, as the bot
//! writes them. Updates and own messages of before are forgotten as the bot forgets them, after as many turns as come in the
//! days it keeps them: 2,000 here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use figaro::config::{EngineKind, StoreUrl};
use figaro::domain::chat::{ChatKind, Place};
use figaro::domain::conversation::{Conversation, Message, Role};
use figaro::domain::delivery::{Author, DeliveryEnd, PendingDelivery};
use figaro::domain::message::{Inbound, Speaker};
use figaro::ids::{BotId, ChatId, MessageId, UpdateId, UserId};
use figaro::store::engine;
use figaro::store::kv::KvStore;
use figaro::store::{ConversationStore, InboxStore, OutboxStore, RawUpdate, Store, TurnEnd};
use serde_json::json;
use tokio::task::JoinSet;

use support::Sizes;

const CHATS: i64 = 1_000;
const AT_ONCE: usize = 32;
/// So many turns come in a day: what is forgotten after days is forgotten after a multiple of it.
const TURNS_A_DAY: i64 = 700;
const BOT: BotId = BotId(1);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let turns = std::env::var("BENCH_TURNS").ok().and_then(|turns| turns.parse().ok()).unwrap_or(20_000);
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("| engine | turns | disk MB | live MB | disk/live | RSS MB | turns/s |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for kind in EngineKind::ALL {
        let url = StoreUrl::new(kind, disk.path().join(kind.name()));
        let store = KvStore::open(&url, BOT).await.unwrap();
        for quarter in 0..4 {
            let began = Instant::now();
            fill(&store, quarter * turns / 4, turns / 4).await;
            row(&store, kind, (quarter + 1) * turns / 4, turns / 4, began.elapsed()).await;
        }
        drop(store);
        let began = Instant::now();
        let mut engine = engine::open(&url).unwrap();
        let opened = began.elapsed();
        let before = engine.disk_bytes().unwrap();
        while engine.compact().unwrap() {}
        drop(engine);
        let after = engine::open(&url).unwrap().disk_bytes().unwrap();
        println!(
            "{kind}: opened in {opened:.1?}; compacted from {} to {} MB",
            before / 1_000_000,
            after / 1_000_000
        );
    }
}

/// Writes turns, several at once.
async fn fill(store: &KvStore, first: i64, count: i64) {
    let next = Arc::new(std::sync::atomic::AtomicI64::new(first));
    let mut writers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (store, next) = (store.clone(), Arc::clone(&next));
        writers.spawn(async move {
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if number >= first + count {
                    return;
                }
                turn(&store, number).await;
                if number % 100 == 0 {
                    while store.expire_seen(at(number) - TimeDelta::days(3)).await.unwrap() > 0 {}
                }
            }
        });
    }
    writers.join_all().await;
}

fn at(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(number * 86_400 / TURNS_A_DAY)
}

async fn turn(store: &KvStore, number: i64) {
    // Each chat in its turn, so that no two turns of one are under way.
    let (chat, now) = (ChatId(number % CHATS), at(number));
    let body = json!({"update_id": number, "message": {"text": "What is on today?", "chat": {"id": chat}}});
    store.accept(vec![RawUpdate { id: UpdateId(number), body }], now).await.unwrap();
    let place = Place { chat, kind: ChatKind::Private, title: None, topic: None };
    let speaker = Speaker { user: UserId::telegram(chat.0), name: "Ann".to_owned(), username: None };
    let asked = Inbound::addressed(
        place.clone(),
        speaker,
        "What is on today, and what was on yesterday?".to_owned(),
        now,
    );
    let question = Inbound { update: UpdateId(number), message: MessageId(number), ..asked };
    let conversation = Conversation { chat, topic: None };
    let run = store.begin_turn(conversation, &[question], now).await.unwrap();
    let answer = Message::new(run.session, Role::Assistant, "Nothing is on today. ".repeat(19), now);
    let delivery = PendingDelivery {
        entry: Some(answer.id),
        ..PendingDelivery::new(run.id, place, answer.text.clone(), now)
    };
    let id = delivery.id;
    let end = TurnEnd { messages: vec![answer], delivery: Some(delivery), ..TurnEnd::default() };
    store.end_turn(&run, end).await.unwrap();
    store.record_own(chat, MessageId(number), Author::Model, now).await.unwrap();
    store.confirm_part(id, MessageId(number), true).await.unwrap();
    store.end_delivery(id, DeliveryEnd::Whole, now).await.unwrap();
}

async fn row(store: &KvStore, kind: EngineKind, turns: i64, of_these: i64, took: Duration) {
    store.flush().await.unwrap();
    let health = store.health().await.unwrap();
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let (disk, live, count) = (health.bytes as f64 / 1e6, health.live as f64 / 1e6, of_these as f64);
    let rss = Sizes::of(std::process::id()).rss;
    println!(
        "| {kind} | {turns} | {disk:.1} | {live:.1} | {:.2} | {rss:.0} | {:.0} |",
        disk / live,
        count / took.as_secs_f64()
    );
}
