//! How the store grows: each engine keeps the turns of 1,000 chats, 32 at once, without the bot. `BENCH_TURNS` says how many
//! turns (20,000).
//!
//! A turn is an update, its question, an answer of 400 characters, its delivery and what a model call has cost, as the bot
//! writes them. Updates and own messages of before are forgotten as the bot forgets them, after as many turns as come in the
//! days it keeps them: 2,100 here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{BotId, ChatId, MessageId, UpdateId, UserId};
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::delivery::{Author, DeliveryEnd, PendingDelivery};
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_store::engine;
use figaro_store::{RawUpdate, Store, TurnEnd};
use serde_json::json;
use tokio::task::JoinSet;

use super::Scale;
use super::page::{Page, figure, ms};

const CHATS: i64 = 1_000;
const AT_ONCE: usize = 32;
/// So many turns come in a day: what is forgotten after days is forgotten after a multiple of it.
const TURNS_A_DAY: i64 = 700;
const BOT: BotId = BotId(1);

/// A question and an answer.
const MESSAGES_A_TURN: f64 = 2.0;

/// What a store takes at some moment, in MB.
#[derive(Clone, Copy)]
struct Size {
    disk: f64,
    live: f64,
}

/// What was measured of an engine beyond the rows.
struct Result {
    engine: &'static str,
    /// The growth of 1,000 messages after the first quarter, in MB.
    growth: Size,
    ratio: f64,
    opened: Duration,
    compacted: f64,
}

pub(crate) async fn measure(scale: Scale, page: &mut Page) {
    let asked =
        std::env::var("BENCH_TURNS").ok().map(|turns| turns.parse().expect("BENCH_TURNS is a number"));
    let turns = asked.unwrap_or(scale.of(20_000, 400));
    page.section(
        "Store",
        &format!(
            "The store alone, without the bot: each engine keeps {turns} turns of {CHATS} chats, {AT_ONCE} at once; a turn is \
             two messages and all that the bot writes beside them. What the store takes on disk, what is in it (keys and \
             values), and turns a second since the row before."
        ),
    );
    page.table(&["engine", "turns", "disk MB", "live MB", "disk/live", "turns/s"]);
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut results = Vec::new();
    for engine in EngineKind::ALL {
        let url = StoreUrl::new(engine, disk.path().join(engine.name()));
        results.push(keep(&url, turns, page).await);
    }
    page.text(
        "Growth over the last three quarters; how long the next opening takes, and what compacting leaves on disk.",
    );
    page.table(&[
        "engine",
        "disk KB for 1,000 messages",
        "live KB for 1,000 messages",
        "opened in ms",
        "compacted to MB",
    ]);
    for Result { engine, growth, ratio, opened, compacted } in results {
        let kb = |mb: f64| figure(mb * 1000.0, 0);
        page.row(engine, &[kb(growth.disk), kb(growth.live), figure(ms(opened), 0), figure(compacted, 1)]);
        page.at_most(&format!("disk in relation to live bytes, {engine}"), ratio, 3.0, "times");
    }
}

/// Has a store keep so many turns.
async fn keep(url: &StoreUrl, turns: i64, page: &mut Page) -> Result {
    let store = Store::open(url, BOT).await.unwrap();
    let mut sizes = Vec::new();
    for quarter in 0..4 {
        let began = Instant::now();
        fill(&store, quarter * turns / 4, turns / 4).await;
        let per_second = (turns / 4) as f64 / began.elapsed().as_secs_f64();
        let size = size(&store).await;
        page.row(
            url.engine_name(),
            &[
                ((quarter + 1) * turns / 4).to_string(),
                figure(size.disk, 1),
                figure(size.live, 1),
                figure(size.disk / size.live, 2),
                figure(per_second, 0),
            ],
        );
        sizes.push(size);
    }
    drop(store);
    let (first, last) = (sizes[0], sizes[3]);
    let thousands = MESSAGES_A_TURN * (turns - turns / 4) as f64 / 1000.0;
    let growth =
        Size { disk: (last.disk - first.disk) / thousands, live: (last.live - first.live) / thousands };
    let began = Instant::now();
    let mut engine = engine::open(url).unwrap();
    let opened = began.elapsed();
    while engine.compact().unwrap() {}
    drop(engine);
    let compacted = engine::open(url).unwrap().disk_bytes().unwrap() as f64 / 1e6;
    Result { engine: url.engine_name(), growth, ratio: last.disk / last.live, opened, compacted }
}

async fn size(store: &Store) -> Size {
    store.flush().await.unwrap();
    let health = store.health().await.unwrap();
    Size { disk: health.bytes as f64 / 1e6, live: health.live as f64 / 1e6 }
}

/// Writes turns, several at once.
async fn fill(store: &Store, first: i64, count: i64) {
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
                    while store.inbox().expire_seen(at(number) - TimeDelta::days(3)).unwrap() > 0 {}
                }
            }
        });
    }
    writers.join_all().await;
}

fn at(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(number * 86_400 / TURNS_A_DAY)
}

async fn turn(store: &Store, number: i64) {
    // Each chat in its turn, so that no two turns of one are under way.
    let (chat, now) = (ChatId(number % CHATS), at(number));
    let body = json!({"update_id": number, "message": {"text": "What is on today?", "chat": {"id": chat}}});
    store.inbox().accept(vec![RawUpdate { id: UpdateId(number), body }], now).unwrap();
    let place = Place { chat, kind: ChatKind::Private, title: None, topic: None };
    let speaker = Speaker { user: UserId::telegram(chat.0), name: "Ann".to_owned(), username: None };
    let question = Inbound::addressed(
        Origin::telegram(UpdateId(number), MessageId(number)),
        place.clone(),
        speaker,
        "What is on today, and what was on yesterday?".to_owned(),
        now,
    );
    let conversation = ConversationId { chat, topic: None };
    let run = store.conversations().begin_turn(conversation, &[question], now).unwrap();
    let answer = Message::new(run.session, MessageRole::Assistant, "Nothing is on today. ".repeat(19), now);
    let delivery = PendingDelivery {
        entry: Some(answer.id),
        ..PendingDelivery::new(run.id, place, answer.text.clone(), now)
    };
    let id = delivery.id;
    let end = TurnEnd { messages: vec![answer], delivery: Some(delivery), ..TurnEnd::default() };
    store.conversations().end_turn(&run, end).await.unwrap();
    store.outbox().record_own(chat, MessageId(number), Author::Model, now).unwrap();
    store.outbox().confirm_part(id, MessageId(number), true).await.unwrap();
    store.outbox().end_delivery(id, DeliveryEnd::Whole, now).unwrap();
}
