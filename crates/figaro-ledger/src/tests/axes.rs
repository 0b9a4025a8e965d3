//! Limits on every axis at once: none is exceeded, whoever calls, and the books agree with the provider's own count.

use super::*;
use figaro_base::ids::TaskId;
use figaro_domain::budget::Budget;

/// Room for some ten answers of [`ANSWER`] tokens.
const ROOM: u64 = 10 * (INPUT + ANSWER as u64);
const ANSWER: u32 = 500;

/// A call of a member in a group, for a task, by an agent that another one asked, with a key: on all axes.
fn everywhere() -> Payer {
    Payer {
        task: Some("01ARZ3NDEKTSV4RRFFQ69G5FAV".parse::<TaskId>().unwrap()),
        agents: vec!["leader".to_owned(), "helper".to_owned()],
        key: Some("partner".to_owned()),
        ..Payer::new(ChatId(-100), UserId::telegram(2))
    }
}

fn day(caps: Caps) -> PeriodCaps {
    PeriodCaps { day: caps, month: Caps::default() }
}

fn month(caps: Caps) -> PeriodCaps {
    PeriodCaps { day: Caps::default(), month: caps }
}

impl World {
    async fn limit(&self, axis: BudgetAxis, caps: PeriodCaps) {
        self.ledger.set_budget(Budget { axis, caps }).await.unwrap();
    }

    /// Makes so many calls at once; returns how many were refused.
    async fn calls(&self, count: usize, payer: &Payer) -> usize {
        let calls = (0..count).map(|at| {
            let (ledger, payer) = (self.ledger.clone(), payer.clone());
            async move {
                let settings = Generation { max_tokens: Some(ANSWER), ..Generation::default() };
                let request = Request { settings, ..Request::new("", "", vec![Item::user("0")]) };
                match ledger.call(&[name("fake:known")], request, payer).await {
                    // Some are given up before they were read.
                    Ok(call) if at % 7 == 3 => drop(call),
                    Ok(call) => read(call).await,
                    Err(error) => {
                        over(error);
                        return 1;
                    }
                }
                0
            }
        });
        futures::future::join_all(calls).await.into_iter().sum()
    }

    fn spent(&self) -> Spent {
        let date = self.ledger.date();
        sum(&self.books.spent(date..=date).unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn fifty_calls_with_room_for_ten_exceed_no_limit_on_any_axis() {
    let payer = everywhere();
    let role = BudgetAxis::Role(AccessRole::Member);
    let axes: Vec<BudgetAxis> = payer.axes().into_iter().chain([role]).collect();
    let both = Caps { tokens: Some(ROOM), nano_usd: Some(ROOM * 4) };
    for caps in [tokens(ROOM), money(ROOM * 2), both].map(day).into_iter().chain([month(tokens(ROOM))]) {
        for only in axes.iter().map(Some).chain([None]) {
            let world = World::new(Caps::default()).await;
            for axis in axes.iter().filter(|axis| only.is_none_or(|only| *axis == only)) {
                world.limit(axis.clone(), caps).await;
            }
            let refused = world.calls(25, &payer).await;
            // A restart in the middle forgets nothing.
            let world = world.reopened().await;
            let refused = refused + world.calls(25, &payer).await;
            let spent = world.spent();
            let caps = if caps.day.is_set() { caps.day } else { caps.month };
            assert!(caps.tokens.is_none_or(|cap| spent.tokens <= cap), "{only:?} {spent:?}");
            assert!(caps.nano_usd.is_none_or(|cap| spent.nano_usd <= cap), "{only:?} {spent:?}");
            assert!((20..50).contains(&refused), "{only:?}: {refused} of 50 were refused");
            assert!(spent.tokens > ROOM / 4, "{only:?}: the room was used: {spent:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn others_are_not_held_to_a_limit() {
    let world = World::new(Caps::default()).await;
    world.limit(BudgetAxis::Person(UserId::telegram(2)), day(tokens(INPUT))).await;
    world.limit(BudgetAxis::Role(AccessRole::Member), day(tokens(ROOM))).await;
    assert_eq!(world.calls(3, &everywhere()).await, 3, "their own limit goes before that of the role");
    assert_eq!(world.calls(30, &Payer::new(ChatId(-100), owner())).await, 0, "an owner has no role");
    let others: Vec<usize> = [
        world.calls(10, &Payer::new(ChatId(-100), UserId::telegram(3))).await,
        world.calls(10, &Payer::new(ChatId(-100), UserId::telegram(4))).await,
    ]
    .into();
    assert_eq!(others, [0, 0], "each member has the limit for themselves");
    world.limit(BudgetAxis::Person(UserId::telegram(2)), PeriodCaps::default()).await;
    assert_eq!(
        world.calls(3, &everywhere()).await,
        0,
        "without a limit of their own they have that of the role"
    );
}

#[tokio::test(start_paused = true)]
async fn a_limit_counts_what_was_spent_before_it_was_set() {
    let world = World::new(Caps::default()).await;
    world.calls(10, &everywhere()).await;
    world.limit(BudgetAxis::Agent("leader".to_owned()), month(tokens(ROOM))).await;
    assert!(world.calls(30, &everywhere()).await >= 20);
    // The next day has a share of the month, not a new one.
    world.minutes.store(120, Ordering::SeqCst);
    let refused = world.calls(10, &everywhere()).await;
    assert!(refused >= 9, "{refused}");
    // Twelve days later a new month begins.
    world.minutes.store(12 * 24 * 60, Ordering::SeqCst);
    assert_eq!(world.calls(5, &everywhere()).await, 0);
}

#[tokio::test(start_paused = true)]
async fn keys_and_subjects_have_the_limits_of_the_settings() {
    let world = World::new(Caps::default()).await;
    for (key, refused) in [("shop", true), ("jwt:shop/ann", true), ("jwt:shop/bob", true), ("partner", false)]
    {
        let payer = Payer { key: Some(key.to_owned()), ..payer() };
        assert_eq!(world.calls(60, &payer).await > 0, refused, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_nearly_used_up_is_told_once_and_a_cheaper_model_answers() {
    let world = World::new(Caps::default()).await;
    world.limit(BudgetAxis::Chat(ChatId(-100)), day(tokens(ROOM))).await;
    let told = async || {
        let told = world.ledger.tell_of_nearly(Some(&everywhere())).await.unwrap();
        told.iter().map(|limit| (limit.axis.clone(), limit.percent())).collect::<Vec<_>>()
    };
    while world.spent().tokens * 100 < ROOM * NEARLY {
        assert_eq!(told().await, []);
        world.calls(1, &everywhere()).await;
    }
    let now = told().await;
    assert!(matches!(now.as_slice(), [(BudgetAxis::Chat(_), 75..85)]), "{now:?}");
    world.calls(1, &everywhere()).await;
    assert_eq!(told().await, [], "once in its day");
    let again = world.reopened().await;
    again.calls(1, &everywhere()).await;
    assert_eq!(
        again.ledger.tell_of_nearly(Some(&everywhere())).await.unwrap(),
        [],
        "a restart does not repeat it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_child_draws_on_the_turn_and_keeps_to_the_limit_of_its_own_agent() {
    let world = World::new(tokens(100_000)).await;
    let turn = Payer { agents: vec!["leader".to_owned()], ..payer() };
    let child = Payer { agents: vec!["leader".to_owned(), "helper".to_owned()], ..payer() };
    world.limit(BudgetAxis::Agent("helper".to_owned()), day(tokens(2 * (INPUT + 500)))).await;
    let tree = world.ledger.tree(&[name("fake:known")], 50_000, &turn).unwrap();
    let draw = async || {
        let settings = Generation { max_tokens: Some(500), ..Generation::default() };
        let request = Request { settings, ..Request::new("", "", vec![Item::user("0")]) };
        let drawing = Drawing { tree: &tree, by: DrawnBy::Child };
        world.ledger.call_within(drawing, &[name("fake:known")], request, child.clone()).await
    };
    for _ in 0..2 {
        read(draw().await.unwrap()).await;
    }
    let helper = BudgetAxis::Agent("helper".to_owned());
    assert_eq!(over(draw().await.unwrap_err()), helper);
    assert!(!tree.is_of_turn(&helper) && tree.is_of_turn(&BudgetAxis::Bot));
    let met: Vec<_> = world.ledger.take_met().into_iter().map(|over| over.axis).collect();
    assert_eq!((met, world.ledger.take_met()), (vec![helper.clone()], Vec::new()), "owners are told once");
    let leader = world.ledger.spent(&BudgetAxis::Agent("leader".to_owned()), Period::Day);
    assert_eq!(leader.tokens, 2 * (INPUT + 500), "an agent pays for those that it asks");
    drop(tree);
    let helper = world.ledger.accounts().usage(&helper, Period::Day);
    assert_eq!(helper.reserved, Spent::default());
    world.settled().await;
}

#[tokio::test(start_paused = true)]
async fn a_child_of_a_model_without_a_price_leaves_the_turn_room_for_one_with_a_price() {
    for caps in [tokens(100_000), Caps { tokens: Some(100_000), nano_usd: Some(100_000) }] {
        let world = World::new(caps).await;
        let models: &[ModelName] = match caps.nano_usd {
            None => &[name("other:free")],
            Some(_) => &[name("other:free"), name("fake:known")],
        };
        let tree = world.ledger.tree(models, 50_000, &payer()).unwrap();
        let request = Request::new("", "", vec![Item::user("0")]);
        let drawing = Drawing { tree: &tree, by: DrawnBy::Turn };
        let call = world.ledger.call_within(drawing, &[name("fake:known")], request, payer()).await;
        read(call.unwrap()).await;
        drop(tree);
        world.settled().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_search_does_not_wait_for_what_its_own_turn_has_reserved() {
    let world = World::new(money(20_000_000)).await;
    let tree = world.ledger.tree(&[name("fake:known")], u64::MAX, &payer()).unwrap();
    let drawing = Some(Drawing { tree: &tree, by: DrawnBy::Turn });
    let found = world.ledger.search(drawing, payer(), async { Ok::<_, ()>("found") });
    assert_eq!(tokio::time::timeout(LOOK_AGAIN, found).await, Ok(Ok(Ok("found"))));
    drop(tree);
    assert_eq!(world.settled().await.nano_usd, 8_000_000);
}

#[tokio::test(start_paused = true)]
async fn each_is_told_of_their_own_limits_and_owners_of_theirs() {
    let world = World::new(Caps::default()).await;
    let limits = [
        BudgetAxis::Role(AccessRole::Member),
        BudgetAxis::Chat(ChatId(-100)),
        BudgetAxis::Task(everywhere().task.unwrap()),
        BudgetAxis::Agent("helper".to_owned()),
    ];
    for axis in limits {
        world.limit(axis, day(tokens(INPUT + 500))).await;
    }
    world.calls(1, &everywhere()).await;
    let told = async |payer: Option<&Payer>| {
        let told = world.ledger.tell_of_nearly(payer).await.unwrap();
        told.into_iter().map(|limit| limit.axis).collect::<Vec<_>>()
    };
    assert_eq!(
        told(None).await,
        [BudgetAxis::Agent("helper".to_owned())],
        "nothing is shown, owners are told"
    );
    let ann = Payer::new(ChatId(-100), UserId::telegram(3));
    assert_eq!(told(Some(&ann)).await, [BudgetAxis::Chat(ChatId(-100))]);
    let bob = Payer::new(ChatId(-100), UserId::telegram(2));
    assert_eq!(told(Some(&bob)).await, [BudgetAxis::Person(UserId::telegram(2))]);
    assert_eq!(told(Some(&everywhere())).await, [BudgetAxis::Task(everywhere().task.unwrap())]);
    // A changed limit of a role is a new one for its people.
    world.limit(BudgetAxis::Role(AccessRole::Member), day(tokens(INPUT + 600))).await;
    world.ledger.accounts().note_nearly(&bob);
    assert_eq!(told(Some(&bob)).await, [BudgetAxis::Person(UserId::telegram(2))]);
    // A limit that was raised meanwhile is not told of.
    world.limit(BudgetAxis::Role(AccessRole::Member), day(tokens(INPUT + 610))).await;
    world.ledger.accounts().note_nearly(&bob);
    world.limit(BudgetAxis::Role(AccessRole::Member), day(tokens(9_000))).await;
    assert_eq!(told(Some(&bob)).await, []);
}

#[tokio::test]
async fn a_run_of_a_task_may_use_a_tenth_of_the_tightest_day() {
    let world = World::new(Caps { tokens: Some(4_000_000), nano_usd: Some(3_000_000) }).await;
    let task = everywhere();
    let most = |payer: &Payer, model: &str| world.ledger.run_tokens(payer, &name(model));
    // A sent token of this model costs 1.
    assert_eq!(most(&task, "fake:known"), Some(300_000));
    assert_eq!(most(&task, "fake:unknown"), Some(400_000));
    assert_eq!(most(&payer(), "fake:known"), None, "only a task runs without a person");
    world.limit(BudgetAxis::Chat(task.chat), day(tokens(250_000))).await;
    assert_eq!(most(&task, "fake:known"), Some(25_000));
    world.limit(BudgetAxis::Chat(task.chat), day(tokens(50_000))).await;
    assert_eq!(most(&task, "fake:known"), Some(20_000), "each run has room for a result of a tool");
    let free = World::new(Caps::default()).await;
    free.limit(BudgetAxis::Bot, month(tokens(10))).await;
    assert_eq!(free.ledger.run_tokens(&task, &name("fake:known")), None, "a month is no day");
}
