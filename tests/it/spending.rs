//! What model calls cost and the caps of a day: in `/usage` and `/status`, for refusals, over restarts and a `kill -9`.

use std::sync::Arc;
use std::time::Duration;

use chrono::{Days, Timelike, Utc};
use figaro::clock::Clock;
use figaro::demo::model::{Gate, ModelRequest, OfflineModel, Reply};
use figaro::domain::usage::Spending;
use figaro::ids::{BotId, ChatId};
use figaro::ledger::sum;
use figaro::shutdown::Tasks;
use figaro::store::UsageStore;
use figaro::store::sled::SledStore;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::{TEAM, labels, text};
use crate::support::{ANN, BOB, World, listener};

const EVE: i64 = 13;
const REFUSED: &str = "⚠️ I am over today's budget; it resets at 00:00 (";

/// A zone in which the day is far from its end.
fn noon() -> String {
    let ahead = 12 - i64::from(Utc::now().hour());
    // These zones count the other way round.
    format!("Etc/GMT{:+}", -ahead)
}

impl World {
    /// A bot open to everybody with a model of known price: $0.40 for a million tokens sent, $1.60 for as many written.
    fn priced(&self) -> Recipe {
        self.bot().set("OPENAI_MODEL", "gpt-4.1-mini").set("ACCESS", "open").set("DEFAULT_TIMEZONE", &noon())
    }

    /// What has been spent at all, once the bot has ended.
    async fn books(&self) -> Vec<Spending> {
        let path = self.folder.path().join("data");
        let store = SledStore::open(&path, BotId(self.telegram.bot_id())).await.unwrap();
        let today = Utc::now().date_naive();
        let days =
            today.checked_sub_days(Days::new(2)).unwrap()..=today.checked_add_days(Days::new(2)).unwrap();
        store.spent(days).await.unwrap()
    }

    async fn usage(&self) -> Vec<String> {
        let asked = self.say(ANN, ANN, "/usage").message_id;
        let is_it = |m: &&Value| m["message_id"].as_i64() > Some(asked) && text(m).starts_with("Used ");
        lines(&self.see("/usage", |view| view.bot_messages(ANN).into_iter().find(is_it).cloned()).await)
    }

    /// Asks for `/usage` until its line of today is as wanted: what is broken off is booked when nobody waits for it.
    async fn used_today(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        for _ in 0..50 {
            let usage = self.usage().await;
            if is_wanted(&usage[7]) {
                return usage;
            }
        }
        panic!("{:?}", self.usage().await);
    }
}

fn lines(card: &Value) -> Vec<String> {
    text(card).lines().filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

fn bound(request: &ModelRequest) -> u64 {
    request.body["max_output_tokens"].as_u64().unwrap_or_else(|| panic!("no bound: {}", request.body))
}

#[tokio::test]
async fn what_an_answer_cost_is_shown_by_day_chat_person_and_model() {
    let world = World::new().await;
    let recipe = world.priced().set("DAILY_USD", "0.50");
    let bot = recipe.spawn();
    bot.ready().await;
    let before = world.usage().await;
    assert_eq!(before[0], "Used in the last seven days");
    assert_eq!(before.len(), 9, "no answer yet: {before:?}");
    assert!(before[1..8].iter().all(|line| line.ends_with(" ░░░░░░░░░░ 0")), "{before:?}");
    assert_eq!(before[8], "Today $0 of $0.50 (0 %)");
    // 50,000 · $0.0000004 + 21,400 · $0.0000016.
    world.script.push(Reply::text("Hello.").usage(50_000, 21_400));
    world.ask("hi").await;
    world.script.push(Reply::text("Hello, Bob.").usage(100, 100));
    world.told(BOB, BOB, "hi").await;
    let card = world.ask("/usage").await;
    let after = lines(&card);
    assert!(after[7].ends_with(" ██████████ 71 k · $0.05"), "{after:?}");
    let names: Vec<&str> = after[1..8].iter().filter_map(|line| line.split(' ').next()).collect();
    let week = "Mon Tue Wed Thu Fri Sat Sun Mon Tue Wed Thu Fri Sat";
    assert!(week.contains(&names.join(" ")), "{names:?}");
    let rest = ["Today $0.05 of $0.50 (10 %)", "Last answer here: 71 k · $0.05 · openai:gpt-4.1-mini"];
    assert_eq!(after[8..], rest);
    assert_eq!(labels(&card), ["By chat", "By person", "By model"]);
    let views = [
        ("By chat", vec!["Ann ██████████ 71 k · $0.05", "Bob █░░░░░░░░░ 200 · $0.0002"]),
        ("By model", vec!["openai:gpt-4.1-mini ██████████ 71 k · $0.05"]),
        ("By person", vec!["Ann ██████████ 71 k · $0.05", "Bob █░░░░░░░░░ 200 · $0.0002"]),
    ];
    for (view, rows) in views {
        world.press(ANN, &card, view).await;
        let shown = world.shows(ANN, card["message_id"].as_i64().unwrap(), rows[0]).await;
        assert_eq!(lines(&shown)[1..=rows.len()], rows, "{view}");
        assert!(!labels(&shown).contains(&view.to_owned()), "{view}");
    }
    assert!(text(&world.ask("/status").await).contains("71 k tokens, $0.05\nToday $0.05 of $0.50 (10 %)"));
    assert!(bot.stop().success());
    let bot = recipe.spawn();
    bot.ready().await;
    assert_eq!(world.usage().await, after);
    assert!(bot.stop().success());
    let spent = sum(&world.books().await);
    assert_eq!((spent.tokens, spent.nano_usd), (71_600, 54_240_000 + 200_000));
}

#[tokio::test]
async fn members_and_groups_see_their_own_chat_only() {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eva", "pt");
    let bot = world.priced().spawn();
    bot.ready().await;
    world.script.push(Reply::text("Hello.").usage(900, 50));
    world.ask("hi").await;
    world.script.push(Reply::text("Hello, all.").usage(300, 33));
    world.told(BOB, TEAM, "@figaro_bot hi").await;
    let own = lines(&world.told(BOB, BOB, "/usage").await);
    assert_eq!((own[0].as_str(), own.len()), ("Used here in the last seven days", 8), "{own:?}");
    assert!(own[1..].iter().all(|line| line.ends_with(" 0")), "{own:?}");
    for person in [ANN, BOB] {
        let card = world.told(person, TEAM, "/usage@figaro_bot").await;
        let team = lines(&card);
        assert!(team[7].ends_with(" ██████████ 333 · $0.00017"), "{team:?}");
        assert_eq!((team.len(), labels(&card).len()), (9, 0));
    }
    let eva = lines(&world.told(EVE, EVE, "/usage").await);
    assert_eq!(eva[0], "Gasto aqui nos últimos sete dias");
    assert!("seg ter qua qui sex sáb dom seg".contains(&eva[7][..3]), "{eva:?}");
    // An owner's card stays behind when its owner is none any more.
    let card = world.ask("/usage").await;
    assert!(bot.stop().success());
    let bot = world.priced().set("OWNER_IDS", &EVE.to_string()).spawn();
    bot.ready().await;
    assert_eq!(world.press(ANN, &card, "By person").await, "Only an owner of the bot can do that.");
    assert_eq!(lines(&world.ask("/usage").await)[0], "Used here in the last seven days");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_price_is_never_shown_as_nothing() {
    let world = World::new().await;
    let recipe = world.bot().set("DAILY_TOKENS", "1_000_000").set("DAILY_USD", "5");
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(Reply::text("Hello.").usage(100, 10));
    world.ask("hi").await;
    let card = world.ask("/usage").await;
    let usage = lines(&card);
    assert!(usage[7].ends_with(" 110 · $?"), "{usage:?}");
    let rest = ["Today 110 of 1.0 M (0 %)", "Today $? of $5.00 (? %)"];
    assert_eq!(usage[8..10], rest);
    assert_eq!(usage[10], "Last answer here: 110 · $? · openai:offline");
    assert!(text(&world.ask("/status").await).contains("110 tokens, $?"));
    assert!(bot.stop().success());
    let bot = recipe.set("LLM_PRICES", "openai:off*=10/5/30").spawn();
    bot.ready().await;
    world.script.push(Reply::text("Hello.").usage(1_000, 1_000));
    world.ask("and now?").await;
    let usage = world.usage().await;
    assert!(usage[7].ends_with(" 2.1 k · $0.04 + ?"), "{usage:?}");
    assert_eq!(usage[9], "Today $0.04 + ? of $5.00 (? %)");
    assert_eq!(usage[10], "Last answer here: 2.0 k · $0.04 · openai:offline");
}

#[tokio::test]
async fn where_money_is_the_only_bound_a_model_of_unknown_price_is_not_asked() {
    let world = World::new().await;
    world.team();
    let recipe = world.bot().set("ACCESS", "open").set("DAILY_USD", "1");
    let bot = recipe.spawn();
    bot.ready().await;
    let told = world.told(BOB, BOB, "hi").await;
    let wanted = "⚠️ I do not know what openai:offline costs, and my budget is in money only. The owner can set its \
                  price (LLM_PRICES) or a bound in tokens (DAILY_TOKENS).";
    assert_eq!((text(&told), labels(&told)), (wanted, vec!["Another model".to_owned()]));
    let asked = world.say(BOB, TEAM, "@figaro_bot hi").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    assert_eq!(world.bot_texts(TEAM), Vec::<String>::new());
    assert_eq!((world.model.requests().len(), world.bot_texts(ANN).len()), (0, 0));
    assert!(bot.stop().success());

    world.otherwise(Reply::text("Yes."));
    let check = async |recipe: &Recipe| {
        let output = recipe.clone().arg("check").run().await;
        assert!(output.status.success(), "it is no fault");
        let said = String::from_utf8(output.stdout).unwrap();
        said.lines()
            .filter(|line| line.starts_with("! model"))
            .map(ToOwned::to_owned)
            .collect::<Vec<String>>()
    };
    let warned = check(&recipe).await;
    assert!(
        warned.len() == 1 && warned[0].starts_with("! model: openai:offline will not be asked"),
        "{warned:?}"
    );
    assert!(
        warned[0].contains("LLM_PRICES=openai:offline=") && warned[0].contains("DAILY_TOKENS"),
        "{warned:?}"
    );
    let fallback = world.priced().set("DAILY_USD", "1").set("LLM_FALLBACK", "openai:offline");
    assert_eq!(check(&fallback).await.len(), 1, "a stand-in counts too");
    let price = "openai:offline=1/1/1";
    for good in [recipe.clone().set("DAILY_TOKENS", "9000000"), recipe.clone().set("LLM_PRICES", price)] {
        assert_eq!(check(&good).await, Vec::<String>::new());
    }
    let bot = recipe.set("LLM_PRICES", price).spawn();
    bot.ready().await;
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), "Yes.");
}

#[tokio::test]
async fn at_the_cap_it_says_so_and_owners_are_told_once_a_day() {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eve", "en");
    // Between these zones there are 26 hours: it is never the same day in both.
    let recipe = world.priced().set("DAILY_TOKENS", "30000").set("OWNER_IDS", &format!("{ANN},{EVE}"));
    let (early, late) =
        (recipe.clone().set("DEFAULT_TIMEZONE", "Etc/GMT+12"), recipe.set("DEFAULT_TIMEZONE", "Etc/GMT-14"));
    let bot = early.spawn();
    bot.ready().await;
    world.script.push(Reply::text("Hello.").usage(29_800, 150));
    world.told(BOB, BOB, "hi").await;
    assert_eq!(world.bot_texts(EVE), Vec::<String>::new());
    let refused = world.told(BOB, BOB, "and now?").await;
    let words = format!("{REFUSED}Etc/GMT+12). Your message is kept: /retry asks it again then.");
    assert_eq!((text(&refused), labels(&refused)), (words.as_str(), Vec::new()));
    for owner in [ANN, EVE] {
        let told = text(&world.answers(owner, 1).await[0]).to_owned();
        let wanted = "⚠️ Today's budget leaves no room for an answer: 29 k tokens, $0.01 spent. I may answer nobody until \
                      00:00 (Etc/GMT+12).";
        assert!(told.starts_with(wanted), "{told}");
    }
    let asked = world.say(BOB, TEAM, "@figaro_bot are you there?").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    assert_eq!(world.bot_texts(TEAM), Vec::<String>::new());
    assert!(bot.stop().success());

    let bot = early.spawn();
    bot.ready().await;
    assert!(text(&world.told(BOB, BOB, "please?").await).starts_with(REFUSED));
    assert_eq!(world.model.requests().len(), 1, "nothing was asked at the cap");
    // An owner has no more than others, and sees why.
    assert!(text(&world.ask("and me?").await).starts_with(REFUSED));
    assert_eq!((world.bot_texts(ANN).len(), world.bot_texts(EVE).len()), (2, 1));
    assert!(bot.stop().success());

    let bot = late.spawn();
    bot.ready().await;
    world.script.push(Reply::text("A new day.").usage(29_950, 40));
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), "A new day.");
    assert!(world.model.requests()[1].user_text().contains("please?"));
    assert!(text(&world.told(BOB, BOB, "and now?").await).starts_with(REFUSED));
    assert!(text(&world.answers(EVE, 2).await[1]).contains("00:00 (Etc/GMT-14)"));
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn people_who_ask_at_once_do_not_break_the_cap_together() {
    const CAP: u64 = 40_000;
    let world = World::new().await;
    let tasks = Tasks::new();
    // Each answer is as long as it may be.
    let brain = |request: &ModelRequest| {
        let most = bound(request);
        Reply::text("So many words.").usage(3_000, most).paced(4, Duration::from_millis(20))
    };
    let model = OfflineModel::start(listener().await, Arc::new(brain), Clock::system(), &tasks).unwrap();
    let bot =
        world.priced().set("OPENAI_BASE_URL", model.url()).set("DAILY_TOKENS", &CAP.to_string()).spawn();
    bot.ready().await;
    let people: Vec<i64> = (21..31).collect();
    for person in &people {
        world.person(*person, &format!("P{person}"), "en");
    }
    for person in &people {
        world.say(*person, *person, "at once");
    }
    let mut answered = 0;
    for person in &people {
        let told = text(&world.answers(*person, 1).await[0]).to_owned();
        let is_answer = told.starts_with("So many words.");
        assert!(is_answer || told.starts_with(REFUSED), "{told}");
        answered += usize::from(is_answer);
    }
    let took: u64 = model.requests().iter().map(|request| 3_000 + bound(request)).sum();
    assert!(took <= CAP && CAP - took < 12_000, "{took}");
    assert!((3..people.len()).contains(&answered) && model.requests().len() == answered, "{answered}");
    assert!(bot.stop().success());
    assert_eq!(sum(&world.books().await).tokens, took);
    tasks.stop();
    assert_eq!(model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_waits_for_another_and_may_be_stopped_meanwhile() {
    const CAP: u64 = 12_000;
    let world = World::new().await;
    let bot = world.priced().set("DAILY_TOKENS", &CAP.to_string()).spawn();
    bot.ready().await;
    let gate = Gate::new();
    world.script.push(Reply::text("First.").usage(100, 60).behind(&gate));
    world.say(ANN, ANN, "hi");
    let first = bound(&world.asks(1).await);
    // What is left is for nobody else until it is known what the first took.
    world.say(BOB, BOB, "hi");
    world
        .see("that Bob's turn runs", |view| {
            view.calls_of("sendMessageDraft").iter().any(|call| call.args["chat_id"] == BOB).then_some(())
        })
        .await;
    assert_eq!(text(&world.told(BOB, BOB, "/stop").await), "Stopped.");
    world.say(BOB, BOB, "hi");
    world.person(EVE, "Eve", "en");
    world.say(EVE, EVE, "hi");
    world.script.push(Reply::text("Next.").usage(100, 40));
    world.script.push(Reply::text("Next.").usage(100, 40));
    gate.open();
    assert_eq!(text(&world.answers(EVE, 1).await[0]), "Next.");
    assert_eq!(text(&world.answers(BOB, 2).await[1]), "Next.");
    assert!(first < 8_192 && first > CAP / 4, "it had all there was: {first}");
    assert!(bot.stop().success());
    assert_eq!(sum(&world.books().await).tokens, 160 + 140 + 140);
}

#[tokio::test]
async fn a_call_under_way_at_a_kill_counts_as_spent() {
    let world = World::new().await;
    let recipe = world.priced().set("DAILY_TOKENS", "100000");
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(Reply::silence());
    world.say(ANN, ANN, "hi");
    let most = bound(&world.asks(1).await);
    bot.kill();
    world.script.push(Reply::text("Here I am.").usage(10, 10));
    let bot = recipe.spawn();
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "Here I am.");
    assert!(bot.stop().success());
    let books = world.books().await;
    let spent = sum(&books).tokens;
    assert!(spent > most + 20 && spent < most + 60_000, "{spent}");
    assert_eq!((books.len(), books[0].chat), (1, ChatId(ANN)));
    // And it holds: by what is on the books there is nothing left.
    let bot = recipe.set("DAILY_TOKENS", &spent.to_string()).spawn();
    bot.ready().await;
    assert!(text(&world.told(BOB, BOB, "more?").await).starts_with(REFUSED));
    assert!(bot.stop().success());
    assert_eq!(sum(&world.books().await).tokens, spent, "a refusal costs nothing");
}

/// What calls cost that do not end well, with caps and without.
async fn ends(caps: bool) {
    let world = World::new().await;
    let recipe = if caps { world.priced().set("DAILY_TOKENS", "2000000") } else { world.priced() };
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(Reply::status(429, "slow down").retry_after(3_600));
    world.ask("hi").await;
    for _ in 0..3 {
        world.script.push(Reply::status(500, "down"));
    }
    world.ask("hi").await;
    assert!(world.usage().await[7].ends_with("░ 0"), "what was refused costs nothing");

    let words = "one word and another ".repeat(150);
    world.script.push(Reply::text(&words).without_usage());
    world.ask("tell me").await;
    let whole = world.usage().await;
    assert!(!whole[7].contains('?') && !whole[7].ends_with(" 0"), "{whole:?}");
    let last = whole.last().unwrap().clone();
    assert!(last.starts_with("Last answer here: ") && last.contains(" k · $0.00"), "{last}");
    world.script.push(Reply::text(&words).break_after(20));
    world.ask("tell me").await;
    world.used_today(|line| *line != whole[7]).await;
    // Before its first word, and in the middle.
    let before = world.usage().await;
    world.script.push(Reply::silence());
    let asked = world.model.requests().len();
    world.say(ANN, ANN, "think");
    world.asks(asked + 1).await;
    world.ask("/stop").await;
    let before = world.used_today(|line| *line != before[7]).await;
    world.script.push(Reply::text(&words).hang_after(9));
    world.say(ANN, ANN, "tell me");
    world
        .see("some words", |view| {
            view.calls_of("sendMessageDraft")
                .iter()
                .any(|c| json!(c.args).to_string().contains("one word"))
                .then_some(())
        })
        .await;
    world.ask("/stop").await;
    world
        .see("what was written", |view| {
            view.bot_messages(ANN).iter().any(|m| text(m).ends_with("— stopped")).then_some(())
        })
        .await;
    let after = world.used_today(|line| *line != before[7]).await;
    let last = after.last().unwrap();
    assert!(last.starts_with("Last answer here: ") && last.contains(" k · $0.00"), "{last}");
    assert!(bot.stop().success());
    assert!(sum(&world.books().await).nano_usd > 0);
}

#[tokio::test]
async fn what_broke_off_is_estimated_and_what_was_refused_is_free() {
    futures::future::join_all([false, true].map(ends)).await;
}

#[tokio::test]
async fn with_caps_each_request_bounds_its_answer() {
    let bounds = |body: &Value| {
        let paths = [
            "/max_output_tokens",
            "/max_tokens",
            "/options/num_predict",
            "/generationConfig/maxOutputTokens",
        ];
        paths.into_iter().filter_map(|path| body.pointer(path)?.as_u64()).collect::<Vec<u64>>()
    };
    for (provider, wanted) in [("openai", 8_192), ("compatible", 8_192), ("ollama", 2_048), ("gemini", 8_192)]
    {
        let world = World::new().await;
        world.otherwise(Reply::text("Hello."));
        for cap in [None, Some("9000000")] {
            let recipe = world.bot_of(provider, None);
            let bot =
                cap.map_or_else(|| recipe.clone(), |cap| recipe.clone().set("DAILY_TOKENS", cap)).spawn();
            bot.ready().await;
            world.ask("hi").await;
            let body = world.model.requests().last().unwrap().body.clone();
            assert_eq!(bounds(&body), Vec::from_iter(cap.map(|_| wanted)), "{provider}");
            world.ask("/model max_tokens 300").await;
            world.ask("hi").await;
            assert_eq!(bounds(&world.model.requests().last().unwrap().body), [300], "{provider}");
            world.ask("/model max_tokens clear").await;
            assert!(bot.stop().success());
        }
    }
}
