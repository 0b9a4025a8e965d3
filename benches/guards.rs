//! What a plain turn pays for the guards that stand around it: `cargo bench --bench guards` prints
//!
//! - the time of all that a turn without a tool call does for them: who may talk is read and judged when the message comes and
//!   when its turn begins, what became of the message is noted when it comes, when its turn begins and when it ends, and it is
//!   looked up whether the turn did something that can be undone. The rules, approvals and the audit log do nothing in such a turn;
//! - what limits on spending add, where the bot, each person and each member have some: the model is chosen, one call is judged and
//!   reserved on all of them, and booked;
//! - a whole plain turn of the real binary, from the message to the answer, and how often the model is asked for it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::Utc;
use figaro_base::clock::Clock;
use figaro_base::ids::{BotId, ChatId, MessageId, RunId, UserId};
use figaro_base::shutdown::TaskTracker;
use figaro_base::tz::Tz;
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::budget::{Budget, BudgetAxis, Caps, PeriodCaps};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::model::ModelName;
use figaro_domain::reception::{Ending, ReceivedMessage, Reception, TurnTrace};
use figaro_domain::role::{AccessRole, GivenRole};
use figaro_domain::usage::Payer;
use figaro_ledger::{ConfiguredLimits, Ledger, LedgerParts, RoleOf, Slots};
use figaro_offline::Runtime;
use figaro_offline::model::{ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions};
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_provider::models::Models;
use figaro_provider::price::Prices;
use figaro_store::Store;

use support::{OWNER, listener, percentile, print, start_bot_with, store_url};

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The most milliseconds that the guards may take of a plain turn.
const MOST: f64 = 0.2;
const PLAIN: i64 = 2_000;
const TURNS: usize = 150;
const PEOPLE: [i64; 2] = [5, 200];
const ANSWER: &str = "Good morning!";

#[tokio::main]
async fn main() {
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("what a plain turn does for its guards (target: p50 under 0.2 ms)");
    for people in PEOPLE {
        let folder = disk.path().join(format!("guards{people}"));
        let store = Store::open(&store_url(folder), BotId(1)).await.unwrap();
        let mut times = guards(&store, people).await;
        times.sort();
        let at = |share: f64| percentile(&times, share).as_secs_f64() * 1000.0;
        let (middle, late) = (at(0.5), at(0.99));
        let verdict = if middle < MOST { "reached" } else { "MISSED" };
        println!(
            "  {people} people who may talk, half of them with a role: p50 {middle:.3} ms   p99 {late:.3} ms   {verdict}"
        );
    }
    spending(disk.path()).await;
    turns(disk.path()).await;
}

/// Measures the limits on spending: none at all, then some for 200 people who have all spent today.
async fn spending(disk: &Path) {
    let store = Store::open(&store_url(disk.join("spending")), BotId(1)).await.unwrap();
    let none = ModelName { provider: String::new(), model: String::new() };
    let parts = LedgerParts {
        models: Arc::new(Models::new(Vec::new(), none.clone(), Vec::new())),
        store: store.usage(),
        prices: Prices::default(),
        limits: ConfiguredLimits { background_percent: 10, ..ConfiguredLimits::default() },
        roles: RoleOf(Arc::new(|_, _| Some(AccessRole::Member))),
        zone: Tz::UTC,
        clock: Clock::system(),
        background: TaskTracker::new(),
        slots: Arc::new(Slots::default()),
    };
    let ledger = Ledger::open(parts).await.unwrap();
    let payer = |id: i64| Payer::new(ChatId(id), UserId::telegram(id));
    let caps = |tokens| PeriodCaps {
        day: Caps { tokens: Some(tokens), nano_usd: Some(tokens * 1_000_000_000) },
        month: Caps { tokens: Some(tokens * 20), nano_usd: None },
    };
    for has_limits in [false, true] {
        if has_limits {
            let people = (1..=200).map(|id| BudgetAxis::Person(UserId::telegram(id)));
            for axis in people.chain([BudgetAxis::Bot, BudgetAxis::Role(AccessRole::Member)]) {
                ledger.set_budget(Budget { axis, caps: caps(1_000_000) }).await.unwrap();
            }
        }
        let mut times = Vec::new();
        for turn in 1..=PLAIN {
            let payer = payer(turn % 200 + 1);
            let began = Instant::now();
            let chosen = ledger.model_for(&payer, none.clone());
            assert!(ledger.run_tokens(&payer, &chosen).is_none());
            let called = ledger.search(None, payer.clone(), async { Ok::<(), ()>(()) }).await.unwrap();
            assert_eq!(called, Ok(()));
            times.push(began.elapsed());
        }
        let words = if has_limits { "limits of the bot and of 200 people" } else { "no limit" };
        times.sort();
        let at = |share: f64| percentile(&times, share).as_secs_f64() * 1000.0;
        println!("  a call that takes no time, with {words}: p50 {:.3} ms   p99 {:.3} ms", at(0.5), at(0.99));
    }
}

/// Lets people in, then does for each of many messages what a plain turn does.
async fn guards(store: &Store, people: i64) -> Vec<Duration> {
    let by = || AuditActor::Person(UserId::telegram(OWNER));
    for id in 1..=people {
        store.settings().change_access(AccessChange::AllowUser(UserId::telegram(id)), by()).await.unwrap();
        if id % 2 == 0 {
            let role = GivenRole { user: UserId::telegram(id), chat: None, role: AccessRole::Guest };
            store.settings().change_access(AccessChange::GiveRole(role), by()).await.unwrap();
        }
    }
    let settings = AccessSettings { mode: AccessMode::Pairing, owners: vec![UserId::telegram(OWNER)] };
    let user = UserId::telegram(people / 2 * 2 - 1);
    let chat = ChatId(people / 2 * 2 - 1);
    let place = Place { chat, kind: ChatKind::Private, title: None, topic: None };
    let mut times = Vec::new();
    for message in 1..=PLAIN {
        let run = RunId::new();
        let note =
            |turn| ReceivedMessage { at: Utc::now(), user: user.clone(), what: Reception::Asked, turn };
        let traces = [
            None,
            Some(TurnTrace::begun(run, None, Vec::new())),
            Some(TurnTrace::ended(run, Ending::Answered)),
        ];
        let began = Instant::now();
        for _ in 0..2 {
            let list = store.settings().access().unwrap();
            let verdict = judge(&settings, &list, &place, &user, Utc::now());
            assert!(matches!(verdict, Verdict::Allow(Standing::Member)), "{verdict:?}");
        }
        for trace in traces {
            store.receptions().note(chat, &[MessageId(message)], note(trace)).unwrap();
        }
        assert!(store.undos().find(run).unwrap().is_none());
        times.push(began.elapsed());
    }
    times
}

/// Asks the real bot again and again, each question after the answer to the one before.
async fn turns(disk: &Path) {
    let runtime = Runtime::system();
    let telegram = OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
    telegram.add_user(Person::new(OWNER, "Ann"));
    telegram.add_private(OWNER).unwrap();
    let brain = |_: &ModelRequest| ModelReply::text(ANSWER);
    let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
    let folder = disk.join("turns");
    std::fs::create_dir(&folder).unwrap();
    let mut bot = start_bot_with(&telegram, &model, &folder, &[("TELEGRAM_RATES", "off")]);
    let mut times = Vec::new();
    for turn in 0..=TURNS {
        let began = Instant::now();
        telegram.say(OWNER, OWNER, "Good morning").unwrap();
        let answered = telegram
            .wait_until(WAIT_TIMEOUT, |view| {
                let answers =
                    view.bot_messages(OWNER).iter().filter(|message| message["text"] == ANSWER).count();
                (answers > turn).then(Instant::now)
            })
            .await;
        times.push(answered.expect("the bot answers") - began);
    }
    // The first turn opens connections.
    times.remove(0);
    print("a whole plain turn of the real binary", times);
    let asked = model.requests().len();
    assert_eq!(asked, TURNS + 1, "a plain turn asks the model once");
    println!("    the model was asked {asked} times for {} plain turns", TURNS + 1);
    bot.kill().unwrap();
    bot.wait().unwrap();
    runtime.stop();
}
