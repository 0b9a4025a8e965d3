//! What an erasure costs: `cargo bench --bench rewrite` prints, for stores of 10,000 and 100,000 messages and both engines,
//!
//! - how long the erasure of one message takes, and the search for it by words;
//! - the longest that a write and a read of another chat wait during the erasure;
//! - how long the rewriting of the files takes that follows, and what they take before and after it;
//! - the longest that another write and another read wait meanwhile.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{BotId, ChatId, SessionId};
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_store::{Imported, SaidSearch, Store};

const SIZES: [usize; 2] = [10_000, 100_000];
const CHAT: ChatId = ChatId(7);
const OTHER: ConversationId = ConversationId { chat: ChatId(8), topic: None };

fn at(seconds: usize) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_780_000_000 + i64::try_from(seconds).unwrap())
}

fn message(session: SessionId, number: usize) -> Imported {
    let role = if number.is_multiple_of(2) { MessageRole::User } else { MessageRole::Assistant };
    let text =
        format!("message {number} {}", "with words of a usual length in a chat ".repeat(1 + number % 4));
    Imported { message: Message::new(session, role, text, at(number)), name: number.to_string() }
}

async fn filled(url: &StoreUrl, size: usize) -> Store {
    let store = Store::open(url, BotId(1)).await.unwrap();
    let session = SessionId::new();
    for from in (0..size).step_by(1_000) {
        let messages = (from..from + 1_000).map(|number| message(session, number)).collect();
        store.messages().import(CHAT, session, messages).await.unwrap();
    }
    store
}

/// Writes and reads until it is told to stop; gives the longest that one took of each.
async fn others(store: Store, stop: Arc<AtomicBool>) -> (Duration, Duration) {
    let session = store.conversations().session(OTHER, at(0)).unwrap().id;
    let (mut write, mut read) = (Duration::ZERO, Duration::ZERO);
    while !stop.load(Ordering::Acquire) {
        let begun = Instant::now();
        store
            .conversations()
            .append(Message::new(session, MessageRole::User, "hello".to_owned(), at(0)))
            .unwrap();
        store.flush().await.unwrap();
        write = write.max(begun.elapsed());
        let begun = Instant::now();
        drop(store.conversations().recent(session, 20).unwrap());
        read = read.max(begun.elapsed());
    }
    (write, read)
}

async fn measure(kind: EngineKind, size: usize) {
    let folder = tempfile::tempdir().unwrap();
    let url = StoreUrl::new(kind, folder.path().join("data"));
    let store = filled(&url, size).await;
    let before = store.health().await.unwrap().bytes;
    let begun = Instant::now();
    let words = format!("message {}", size / 2);
    let found =
        store.erasures().said_with(&SaidSearch { chat: CHAT, words, of: None, limit: 200 }).await.unwrap();
    let searched = begun.elapsed();
    let stop = Arc::new(AtomicBool::new(false));
    let busy = tokio::spawn(others(store.clone(), stop.clone()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    let erased = store.erasures().erase(&Erasure::Said(CHAT, vec![found[0].at]), at(0)).await.unwrap();
    let erasing = begun.elapsed();
    assert!(matches!(erased, Forgotten::Done(erased) if !erased.is_nothing()));
    stop.store(true, Ordering::Release);
    let (write_erasing, read_erasing) = busy.await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let busy = tokio::spawn(others(store.clone(), stop.clone()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    store.erasures().rewrite(at(0)).await.unwrap();
    let took = begun.elapsed();
    stop.store(true, Ordering::Release);
    let (write, read) = busy.await.unwrap();
    let after = store.health().await.unwrap().bytes;
    println!(
        "{kind} {size} messages: search {searched:.0?}, erase {erasing:.0?} (a durable write waited at most {write_erasing:.0?}, a read \
         {read_erasing:.0?}), rewrite {took:.1?}, {:.1} MB before, {:.1} MB after; \
         meanwhile a durable write waited at most {write:.0?}, a read {read:.0?}",
        before as f64 / 1e6,
        after as f64 / 1e6,
    );
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for kind in EngineKind::ALL {
        for size in SIZES {
            runtime.block_on(measure(kind, size));
        }
    }
}
