//! The ledger with a provider and a store of its own making: caps hold whatever calls do, and at any moment.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{TimeDelta, TimeZone, Utc};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tokio::sync::watch;
use tokio::time::Instant;

mod axes;
mod vectors;

use super::accounts::NEARLY;
use super::allowance::AnswerAllowance;
use super::bill::Bill;
use super::call::LOOK_AGAIN;
use super::over::end_of;
use super::*;
use figaro_base::ids::{BotId, ChatId, UserId};
use figaro_base::text::estimate_tokens;
use figaro_config::{OfModel, TokenPrice};
use figaro_domain::conversation::PrivatePart;
use figaro_domain::generation::Generation;

use figaro_domain::budget::{Caps, PeriodCaps};
use figaro_domain::role::AccessRole;
use figaro_domain::usage::{self, Payer};
use figaro_policy::budget::{MAX_ASKED_OUTPUT, PeriodUsage};
use figaro_provider::{Capabilities, Event, EventStream, Finish, Item, Provider, Request};
use figaro_store::Store;

/// What a call of the fake provider does, by the number in its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    Whole,
    WithoutUsage,
    /// Tells what the question took, and nothing for the answer.
    HalfUsage,
    Refused,
    Broken,
    Silent,
    Stalled,
}

const COURSES: [Course; 7] = [
    Course::Whole,
    Course::WithoutUsage,
    Course::HalfUsage,
    Course::Refused,
    Course::Broken,
    Course::Silent,
    Course::Stalled,
];

/// Answers as told, never with more than the bound of the request.
#[derive(Debug)]
struct Talker {
    /// Closed: everything waits before its end.
    open: watch::Sender<bool>,
    asked: Mutex<Vec<Request>>,
}

impl Provider for Talker {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities { web_search: false, ..Capabilities::of("openai", "gpt-4.1") }
    }

    fn window(&self, _model: &str) -> Option<usize> {
        None
    }

    fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
        Vec::new()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn stream(&self, request: Request) -> EventStream {
        let Item::User { text, .. } = &request.items[0] else { panic!("no question") };
        let course = COURSES[text.parse::<usize>().unwrap() % COURSES.len()];
        let input = u64::try_from(request.estimate_tokens()).unwrap();
        let output = u64::from(request.settings.max_tokens.unwrap_or(1_000));
        let text = "a ".repeat(usize::try_from(output).unwrap());
        self.asked.lock().push(request);
        let said = Ok(Event::TextDelta(text));
        let end = |usage| Ok(Event::Completed { finish: Finish::Stop, usage });
        let events = match course {
            Course::Whole => vec![said, end(Some(Usage { input, cached: 0, output }))],
            Course::WithoutUsage => vec![said, end(None)],
            Course::HalfUsage => vec![said, end(Some(Usage { input, cached: 0, output: 0 }))],
            Course::Refused => vec![Err(ProviderError::Unavailable("500".into()))],
            Course::Broken => vec![said, Err(ProviderError::Cut("broken".into()))],
            Course::Silent => vec![],
            Course::Stalled => vec![Err(ProviderError::Stalled(Duration::ZERO))],
        };
        let mut open = self.open.subscribe();
        let events = stream::once(async move {
            drop(open.wait_for(|open| *open).await);
            stream::iter(events)
        });
        let events = events.flatten();
        if course == Course::Silent { events.chain(stream::pending()).boxed() } else { events.boxed() }
    }
}

struct World {
    caps: Caps,
    ledger: Arc<Ledger>,
    talker: Arc<Talker>,
    books: UsageStore,
    /// Minutes since the start.
    minutes: Arc<AtomicI64>,
    background: TaskTracker,
}

fn tokens(cap: u64) -> Caps {
    Caps { tokens: Some(cap), nano_usd: None }
}

fn money(cap: u64) -> Caps {
    Caps { tokens: None, nano_usd: Some(cap) }
}

/// 23:00 in Riga.
fn evening() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 21, 0, 0).unwrap()
}

impl World {
    async fn new(caps: Caps) -> Self {
        Self::with(caps, Store::in_memory(BotId(1)).usage()).await
    }

    /// `fake:known` is asked, and `fake:unknown` of unknown price stands in for it.
    async fn with(caps: Caps, books: UsageStore) -> Self {
        let talker = Arc::new(Talker { open: watch::Sender::new(true), asked: Mutex::default() });
        let providers: [Arc<dyn Provider>; 1] = [talker.clone()];
        let models = Models::new(providers, name("fake:known"), vec![name("fake:unknown")]);
        let price = OfModel {
            name: "fake:known".into(),
            is_prefix: false,
            value: TokenPrice { input: 1, cached: 1, output: 4 },
        };
        let (minutes, background) = (Arc::new(AtomicI64::new(0)), TaskTracker::new());
        let passed = minutes.clone();
        let parts = LedgerParts {
            models: Arc::new(models),
            store: books.clone(),
            prices: Prices::new(vec![price]),
            limits: ConfiguredLimits {
                bot: PeriodCaps { day: caps, month: Caps::default() },
                background_percent: 10,
                keys: HashMap::from([("shop".to_owned(), tokens(20_000))]),
                subject: tokens(20_000),
                cheaper: None,
            },
            roles: RoleOf(Arc::new(|user, _| (*user != owner()).then_some(AccessRole::Member))),
            zone: "Europe/Riga".parse().unwrap(),
            clock: Clock::told_by(move || evening() + TimeDelta::minutes(passed.load(Ordering::SeqCst))),
            background: background.clone(),
            slots: Arc::new(Slots::default()),
        };
        Self { caps, ledger: Ledger::open(parts).await.unwrap(), talker, books, minutes, background }
    }

    /// The same books opened again, as after a crash.
    async fn reopened(&self) -> Self {
        Self::with(self.caps, self.books.clone()).await
    }

    async fn begin(&self, course: Course) -> Result<MeteredStream, LedgerError> {
        begin(&self.ledger, course, "fake:known").await
    }

    /// Waits until every bill is booked: nothing must be left set aside then, and the figures must agree.
    async fn settled(self) -> Spent {
        assert!(self.background.finish(Duration::from_secs(1)).await);
        assert_eq!(self.ledger.today().reserved, Spent::default(), "set aside in memory");
        let date = self.ledger.date();
        let stored = sum(&self.books.spent(date..=date).unwrap());
        self.books.book_reserved().await.unwrap();
        let with_reserved = sum(&self.books.spent(date..=date).unwrap());
        assert_eq!(with_reserved, stored, "set aside in the store");
        assert_eq!(self.ledger.today().spent, stored);
        stored
    }
}

fn name(text: &str) -> ModelName {
    text.parse().unwrap()
}

async fn begin(ledger: &Arc<Ledger>, course: Course, model: &str) -> Result<MeteredStream, LedgerError> {
    let number = COURSES.iter().position(|other| *other == course).unwrap();
    let request = Request::new("", "", vec![Item::user(number.to_string())]);
    ledger.call(&ledger.models.order(&name(model)), request, payer()).await
}

fn payer() -> Payer {
    Payer::new(ChatId(1), UserId::telegram(1))
}

fn owner() -> UserId {
    UserId::telegram(9)
}

/// Returns the party whose limit left no room.
fn over(error: LedgerError) -> BudgetAxis {
    match error {
        LedgerError::OverBudget(over) => over.axis,
        other => panic!("{other}"),
    }
}

impl Ledger {
    /// Returns the end of the day.
    fn resets_at(&self) -> DateTime<Tz> {
        end_of(Period::Day, self.clock.now().with_timezone(&self.zone))
    }

    /// Returns what the whole bot has used today.
    fn today(&self) -> PeriodUsage {
        self.accounts().usage(&BudgetAxis::Bot, Period::Day)
    }

    /// Returns what background work has used today.
    fn in_background(&self) -> Spent {
        let limits = self.accounts().limits_of(BudgetAxis::Bot, ChatId(1), Purpose::Background);
        limits.last().map(|limit| limit.bound.usage.spent).unwrap_or_default()
    }
}

/// Reads a call to its end; one that falls silent is given up.
async fn read(mut call: MeteredStream) {
    while let Ok(Some(Ok(_))) = tokio::time::timeout(Duration::from_secs(1), call.next()).await {}
}

/// What the request of a question takes, by estimate.
const INPUT: u64 = 13;

#[tokio::test(start_paused = true)]
async fn however_many_calls_are_made_at_once_the_sum_keeps_within_the_caps() {
    let both = Caps { tokens: Some(30_000), nano_usd: Some(100_000) };
    for caps in [tokens(30_000), money(100_000), both, tokens(INPUT + 256), tokens(1)] {
        let world = World::new(caps).await;
        let calls = (0..120).map(|at| {
            let (ledger, course) = (world.ledger.clone(), COURSES[at % COURSES.len()]);
            async move {
                match begin(&ledger, course, "fake:known").await {
                    // Some are given up before they were read at all.
                    Ok(call) if at % 5 == 0 => drop(call),
                    Ok(call) => read(call).await,
                    Err(error) => assert_eq!(over(error), BudgetAxis::Bot),
                }
            }
        });
        futures::future::join_all(calls).await;
        for request in &*world.talker.asked.lock() {
            assert!(request.settings.max_tokens.is_some_and(|most| most > 0), "each is bounded");
        }
        let asked = world.talker.asked.lock().len();
        let spent = world.settled().await;
        assert!(caps.tokens.is_none_or(|cap| spent.tokens <= cap), "{caps:?} {spent:?}");
        assert!(caps.nano_usd.is_none_or(|cap| spent.nano_usd <= cap), "{caps:?} {spent:?}");
        assert_eq!(asked > 0, caps != tokens(1));
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_nobody_waits_for_keep_within_their_share_and_leave_the_rest_to_people() {
    let world = World::new(tokens(100_000)).await;
    let ask = |number: usize| {
        let ledger = world.ledger.clone();
        async move {
            let settings = Generation { max_tokens: Some(400), ..Generation::default() };
            let course = COURSES[number % COURSES.len()];
            let number = COURSES.iter().position(|other| *other == course).unwrap();
            let request = Request { settings, ..Request::new("", "", vec![Item::user(number.to_string())]) };
            match ledger.background(&name("fake:known"), request, payer()).await {
                Ok(call) => read(call).await,
                Err(error) => assert_eq!(over(error), BudgetAxis::Bot),
            }
        }
    };
    futures::future::join_all((0..200).map(ask)).await;
    for request in &*world.talker.asked.lock() {
        assert_eq!(request.settings.max_tokens, Some(400), "none is shortened");
    }
    assert_eq!(begin(&world.ledger, Course::Whole, "fake:known").await.err(), None, "people have the rest");
    let date = world.ledger.date();
    let spendings = world.books.spent(date..=date).unwrap();
    let spent = in_background(&spendings);
    assert!((9_000..=10_000).contains(&spent.tokens), "{spent:?}");
    assert_eq!(world.ledger.in_background(), spent);
    let reopened = world.reopened().await;
    assert_eq!(reopened.ledger.in_background(), spent, "a restart knows it");
    assert!(reopened.ledger.has_spare() == (spent.tokens < 10_000));
    // The next day has its own share.
    reopened.minutes.store(120, Ordering::SeqCst);
    assert!(reopened.ledger.has_spare());
    let settings = Generation { max_tokens: Some(400), ..Generation::default() };
    let request = Request { settings, ..Request::new("", "", vec![Item::user("0")]) };
    assert_eq!(reopened.ledger.background(&name("fake:known"), request, payer()).await.err(), None);
}

#[tokio::test]
async fn no_answer_sets_a_whole_day_aside_whatever_bound_it_has() {
    let world = World::new(tokens(1_000_000)).await;
    let settings = Generation { max_tokens: Some(u32::MAX), ..Generation::default() };
    let request = Request { settings, ..Request::new("", "", vec![Item::user("0")]) };
    let call = world.ledger.call(&[name("fake:known")], request, payer()).await.unwrap();
    let reserved = world.ledger.today().reserved;
    assert_eq!(reserved.tokens, INPUT + MAX_ASKED_OUTPUT);
    drop(call);
    world.settled().await;
}

#[tokio::test]
async fn an_answer_ends_at_its_bound_whatever_the_provider_sends() {
    let world = World::new(tokens(1_000_000)).await;
    for (asked, bytes) in [(None, 131_072), (Some(100), 1_600), (Some(u32::MAX), 524_288)] {
        let text = "é".repeat(300_000);
        let events = [Event::TextDelta(text.clone()), Event::TextDelta(text)].map(Ok);
        let bill = Bill::new(Arc::clone(&world.ledger), payer(), usage::Purpose::Turn, name("fake:known"), 1);
        let endless = stream::iter(events).chain(stream::pending()).boxed();
        let mut call = MeteredStream::new(endless, bill, false, AnswerAllowance::new(asked), Vec::new());
        let Some(Ok(Event::TextDelta(taken))) = call.next().await else { panic!("no text") };
        assert_eq!(taken.len(), bytes, "what fits is kept");
        let end = call.next().await;
        assert!(matches!(end, Some(Ok(Event::Completed { finish: Finish::Length, .. }))), "{end:?}");
        assert_eq!(call.next().await, None);
    }
    // What nobody sees has its own bound, and costs what was set aside.
    let part = PrivatePart { provider: "fake".into(), data: "x".repeat(100_000).into() };
    let hidden = stream::iter(std::iter::repeat_n(Ok(Event::Private(part)), 1000)).boxed();
    let mut bill = Bill::new(Arc::clone(&world.ledger), payer(), usage::Purpose::Turn, name("fake:known"), 1);
    bill.reserve(world.ledger.date(), Spent::default(), 5_000);
    let mut call = MeteredStream::new(hidden, bill, false, AnswerAllowance::new(None), Vec::new());
    let mut parts = 0;
    let usage = loop {
        match call.next().await {
            Some(Ok(Event::Private(_))) => parts += 1,
            Some(Ok(Event::Completed { finish: Finish::Length, usage })) => break usage.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((parts, usage.output), (10, 5_000));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_goes_on_for_ever_ends_and_keeps_what_was_told() {
    let world = World::new(Caps::default()).await;
    let words = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Some((Ok(Event::TextDelta("again ".into())), ()))
    });
    let bill = Bill::new(Arc::clone(&world.ledger), payer(), usage::Purpose::Turn, name("fake:known"), 1);
    let mut call = MeteredStream::new(words.boxed(), bill, false, AnswerAllowance::new(None), Vec::new());
    let mut told = 0;
    let end = loop {
        match call.next().await {
            Some(Ok(Event::TextDelta(_))) => told += 1,
            other => break other,
        }
    };
    assert!(matches!(end, Some(Ok(Event::Completed { finish: Finish::Length, .. }))), "{end:?}");
    assert!((14..=15).contains(&told), "{told}");
    assert_eq!(call.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_what_another_may_leave() {
    let world = World::new(tokens(8_300)).await;
    world.talker.open.send_replace(false);
    let first = world.begin(Course::Broken).await.unwrap();
    let begun = Instant::now();
    let ledger = world.ledger.clone();
    let second = begin(&ledger, Course::Whole, "fake:known");
    tokio::pin!(second);
    assert!(futures::poll!(second.as_mut()).is_pending(), "there is room for one");
    // One that gives up waiting leaves nothing behind.
    let given_up = tokio::time::timeout(Duration::from_millis(1), world.begin(Course::Whole)).await;
    assert!(given_up.is_err());
    drop(first);
    drop(second.await.unwrap());
    assert!(begun.elapsed() < LOOK_AGAIN, "it was woken");
    assert_eq!(world.settled().await, Spent::default());
}

#[tokio::test(start_paused = true)]
async fn what_a_call_comes_to_goes_by_how_it_ends() {
    let answer = 1_000;
    let estimated = u64::try_from(estimate_tokens(&"a ".repeat(1_000))).unwrap();
    assert!(estimated > answer);
    let cases = [
        (Course::Whole, INPUT, answer),
        (Course::WithoutUsage, INPUT, estimated),
        (Course::HalfUsage, INPUT, estimated),
        (Course::Broken, INPUT, estimated),
        (Course::Refused, 0, 0),
        (Course::Silent, INPUT, 0),
        // So does the one that stands in.
        (Course::Stalled, 2 * INPUT, 0),
    ];
    for (course, input, output) in cases {
        let free = World::new(Caps::default()).await;
        read(free.begin(course).await.unwrap()).await;
        assert_eq!(free.settled().await.tokens, input + output, "{course:?}");
        // Within a cap an answer is as long as there is room, and so is the estimate of it.
        let capped = World::new(tokens(INPUT + answer)).await;
        read(capped.begin(course).await.unwrap()).await;
        assert_eq!(capped.settled().await.tokens, input + output.min(answer), "{course:?}");
    }
}

#[tokio::test]
async fn a_stand_in_of_unknown_price_does_not_free_the_other_from_a_bound_in_money() {
    let caps = Caps { tokens: Some(1_000_000), nano_usd: Some(2_000) };
    let world = World::new(caps).await;
    read(world.begin(Course::Whole).await.unwrap()).await;
    assert_eq!(over(world.begin(Course::Whole).await.unwrap_err()), BudgetAxis::Bot);
    let spent = world.settled().await;
    assert!(spent.nano_usd > 0 && spent.nano_usd <= 2_000, "{spent:?}");

    let only_money = World::new(money(2_000)).await;
    read(begin(&only_money.ledger, Course::Whole, "fake:known").await.unwrap()).await;
    let unpriced = begin(&only_money.ledger, Course::Whole, "fake:unknown").await;
    assert_eq!(unpriced.unwrap_err(), LedgerError::Unpriced(name("fake:unknown")));
}

#[tokio::test]
async fn what_was_set_aside_when_it_crashed_is_spent() {
    let world = World::new(tokens(10_000)).await;
    let call = world.begin(Course::Whole).await.unwrap();
    let reserved = world.ledger.today().reserved;
    assert!(reserved.tokens > 0 && world.ledger.today().spent == Spent::default());
    let after = world.reopened().await;
    assert_eq!(after.ledger.today().spent, reserved);
    // The process that held the call is gone with it.
    std::mem::forget(call);
    assert_eq!(after.settled().await, reserved);
}

#[tokio::test]
async fn a_day_begins_at_nothing_and_what_began_before_stays_the_day_befores() {
    let world = World::new(tokens(9_000)).await;
    world.talker.open.send_replace(false);
    let late = world.begin(Course::Whole).await.unwrap();
    assert_eq!(world.ledger.resets_at().to_rfc3339(), "2026-11-21T00:00:00+02:00");
    world.minutes.store(60, Ordering::SeqCst);
    assert_eq!(world.ledger.resets_at().to_rfc3339(), "2026-11-22T00:00:00+02:00");
    // All of the new day is there although the call of the old one is under way.
    let early = world.begin(Course::Whole).await.unwrap();
    world.talker.open.send_replace(true);
    read(late).await;
    assert_eq!(world.ledger.today().spent, Spent::default());
    read(early).await;
    let (_, days) = world.ledger.last_days(7).unwrap();
    let dates: Vec<String> = days.iter().map(|spending| spending.day.to_string()).collect();
    assert_eq!(dates, ["2026-11-20", "2026-11-21"]);
    // A clock that is set back does not give the day twice.
    world.minutes.store(0, Ordering::SeqCst);
    assert_eq!(world.ledger.today().spent.tokens, INPUT + 8_192);
    read(world.begin(Course::Whole).await.unwrap()).await;
    assert_eq!(world.ledger.today().reserved, Spent::default());
    assert_eq!(over(world.begin(Course::Whole).await.unwrap_err()), BudgetAxis::Bot);
    world.minutes.store(60, Ordering::SeqCst);
    assert_eq!(world.settled().await.tokens, 9_000);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_over_midnight_is_made_then() {
    let world = World::new(tokens(8_300)).await;
    world.talker.open.send_replace(false);
    let late = world.begin(Course::Whole).await.unwrap();
    {
        let waiting = world.begin(Course::Whole);
        tokio::pin!(waiting);
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        world.minutes.store(60, Ordering::SeqCst);
        drop(waiting.await.unwrap());
    }
    drop(late);
    assert_eq!(world.settled().await, Spent::default());
}

#[test]
fn where_clocks_skip_midnight_the_day_begins_with_what_they_show_first() {
    let noon = Utc.with_ymd_and_hms(2022, 3, 26, 12, 0, 0).unwrap();
    assert_eq!(
        end_of(Period::Day, noon.with_timezone(&"Asia/Beirut".parse().unwrap()))
            .format("%d %H:%M")
            .to_string(),
        "27 01:00"
    );
    assert_eq!(
        end_of(Period::Day, noon.with_timezone(&"Europe/Riga".parse().unwrap()))
            .format("%d %H:%M")
            .to_string(),
        "27 00:00"
    );
}
