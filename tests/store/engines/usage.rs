//! What model calls have cost.

use chrono::NaiveDate;
use figaro_base::ids::{ChatId, ReservationId, TaskId, UserId};
use figaro_domain::budget::{Budget, BudgetAxis, Caps, PeriodCaps};
use figaro_domain::calls::Calls;
use figaro_domain::usage::{Purpose, Ratings, Reservation, Spending, Spent};

use super::{Backend, CHAT};

fn day(day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, day).unwrap()
}

pub(super) fn spending(on: u32, chat: ChatId, user: i64, model: &str, tokens: u64) -> Spending {
    let spent = Spent { tokens, nano_usd: tokens * 400, unpriced: 1 };
    let (user, purpose) = (UserId::telegram(user), Purpose::Turn);
    Spending {
        day: day(on),
        chat,
        user,
        task: None,
        agents: Vec::new(),
        key: None,
        model: model.parse().unwrap(),
        purpose,
        spent,
        ratings: Ratings::default(),
        calls: Calls::default(),
    }
}

pub(super) async fn what_is_booked_adds_up(backend: &dyn Backend) {
    let store = backend.open().await;
    let booked = [
        spending(1, CHAT, 4, "openai:a", 10),
        spending(1, CHAT, 4, "openai:a", 5),
        spending(1, CHAT, 4, "openai:ab", 7),
        spending(1, CHAT, 41, "openai:a", 8),
        spending(2, ChatId(4), 4, "openai:a", 9),
        spending(4, CHAT, 4, "openai:a", 1),
    ];
    for spending in &booked {
        store.usage().book(spending, None).unwrap();
    }
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    let spent = store.usage().spent(day(1)..=day(2)).unwrap();
    let mut rows: Vec<(u32, i64, String, u64, u64)> = spent
        .iter()
        .map(|one| {
            let day = chrono::Datelike::day(&one.day);
            (
                day,
                one.user.telegram_id().unwrap(),
                one.model.to_string(),
                one.spent.tokens,
                one.spent.unpriced,
            )
        })
        .collect();
    rows.sort();
    let row = |day, user, model: &str, tokens, unpriced| (day, user, model.to_owned(), tokens, unpriced);
    let wanted = [
        row(1, 4, "openai:a", 15, 2),
        row(1, 4, "openai:ab", 7, 1),
        row(1, 41, "openai:a", 8, 1),
        row(2, 4, "openai:a", 9, 1),
    ];
    assert_eq!(rows, wanted);
    assert_eq!(store.usage().spent(day(3)..=day(3)).unwrap(), []);
}

pub(super) async fn what_a_stop_left_open_counts_as_spent(backend: &dyn Backend) {
    let store = backend.open().await;
    let reserve =
        |tokens| Reservation { id: ReservationId::new(), most: spending(1, CHAT, 4, "openai:a", tokens) };
    let (first, second, third) = (reserve(1000), reserve(200), reserve(30));
    for reservation in [&first, &second, &third] {
        store.usage().reserve(reservation).await.unwrap();
    }
    store.usage().book(&spending(1, CHAT, 4, "openai:a", 4), Some(first.id)).unwrap();
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    let tokens = |spent: Vec<Spending>| spent.iter().map(|one| one.spent.tokens).sum::<u64>();
    assert_eq!(tokens(store.usage().spent(day(1)..=day(1)).unwrap()), 4);
    store.usage().book_reserved().await.unwrap();
    store.usage().book_reserved().await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(tokens(store.usage().spent(day(1)..=day(1)).unwrap()), 234);
}

pub(super) async fn owners_are_told_once_a_day(backend: &dyn Backend) {
    let store = backend.open().await;
    assert!(store.usage().tell_of_budget(day(1), "bot over").await.unwrap());
    let store = backend.reopen(store).await;
    let again = [
        store.usage().tell_of_budget(day(1), "bot over").await.unwrap(),
        store.usage().tell_of_budget(day(1), "bot nearly").await.unwrap(),
        store.usage().tell_of_budget(day(2), "bot over").await.unwrap(),
    ];
    assert_eq!(again, [false, true, true]);
}

pub(super) async fn limits_are_kept_and_follow_their_chat(backend: &dyn Backend) {
    let store = backend.open().await;
    let caps = |tokens| PeriodCaps {
        day: Caps { tokens: Some(tokens), nano_usd: None },
        month: Caps { tokens: None, nano_usd: Some(5) },
    };
    let of = |axis, tokens| Budget { axis, caps: caps(tokens) };
    let person = || BudgetAxis::Person(UserId::telegram(4));
    let kept = [of(BudgetAxis::Bot, 1), of(BudgetAxis::Chat(CHAT), 2), of(person(), 3)];
    for budget in kept.iter().chain([&of(person(), 4)]) {
        store.usage().set_budget(budget).await.unwrap();
    }
    let store = backend.reopen(store).await;
    let all = store.usage().budgets().unwrap();
    assert_eq!(all, [of(BudgetAxis::Bot, 1), of(BudgetAxis::Chat(CHAT), 2), of(person(), 4)]);
    let none = Budget { axis: BudgetAxis::Bot, caps: PeriodCaps::default() };
    store.usage().set_budget(&none).await.unwrap();
    store.settings().migrate_chat(CHAT, ChatId(-77)).await.unwrap();
    let all = store.usage().budgets().unwrap();
    assert_eq!(all, [of(BudgetAxis::Chat(ChatId(-77)), 2), of(person(), 4)]);
}

pub(super) async fn spending_is_kept_apart_by_task_agents_and_key(backend: &dyn Backend) {
    let store = backend.open().await;
    let plain = spending(1, CHAT, 4, "openai:a", 10);
    let by_key = Spending { key: Some("shop".to_owned()), ..plain.clone() };
    let by_agent = Spending { agents: vec!["leader".to_owned(), "helper".to_owned()], ..plain.clone() };
    let by_task = Spending { task: Some(TaskId::new()), ..plain.clone() };
    let all = [plain, by_key, by_agent, by_task];
    for spending in all.iter().chain(&all) {
        store.usage().book(spending, None).unwrap();
    }
    store.flush().await.unwrap();
    let store = backend.reopen(store).await;
    let spent = store.usage().spent(day(1)..=day(1)).unwrap();
    assert_eq!(spent.len(), all.len());
    for wanted in all {
        let found = spent.iter().find(|one| one.payer() == wanted.payer()).unwrap();
        assert_eq!(found.spent.tokens, 20);
    }
}
