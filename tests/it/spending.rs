//! The caps of a day through the real bot: refusals, waits, what calls cost that end badly, restarts and a `kill -9`.

use std::sync::Arc;
use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_ledger::sum;
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::ApiCall;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::{TEAM, labels, text};
use crate::support::wait::recorded;
use crate::support::{ANN, BOB, World, listener};

const EVE: i64 = 13;
const REFUSED: &str = "⚠️ I am over my budget; it resets at 00:00 (";

fn bound(request: &ModelRequest) -> u64 {
    request.body["max_output_tokens"].as_u64().unwrap_or_else(|| panic!("no bound: {}", request.body))
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
                  price (LLM_PRICES) or a limit in tokens (DAILY_TOKENS).";
    assert_eq!((text(&told), labels(&told)), (wanted, vec![]), "there is no other model");
    let asked = world.say(BOB, TEAM, "@figaro_bot hi").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    assert_eq!(world.bot_texts(TEAM), Vec::<String>::new());
    assert_eq!((world.model.requests().len(), world.bot_texts(ANN).len()), (0, 0));
    bot.ends_well().await;

    world.otherwise(ModelReply::text("Yes."));
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
    world.script.push(ModelReply::text("Hello.").usage(29_800, 150));
    world.told(BOB, BOB, "hi").await;
    let nearly = text(&world.answers(EVE, 1).await[0]).to_owned();
    assert!(
        nearly.starts_with("ℹ️ The whole bot: 99 % of the budget today are used, 29 k of 30 k tokens."),
        "{nearly}"
    );
    let refused = world.told(BOB, BOB, "and now?").await;
    let words = format!("{REFUSED}Etc/GMT+12). Your message is kept: /retry asks it again then.");
    assert_eq!((text(&refused), labels(&refused)), (words.as_str(), Vec::new()));
    for owner in [ANN, EVE] {
        let told = text(&world.answers(owner, 2).await[1]).to_owned();
        let wanted = "⚠️ The whole bot: the budget is too low for another answer. Spent today: 29 k tokens, $0.01. It \
                      resets at 00:00 (Etc/GMT+12).";
        assert!(told.starts_with(wanted), "{told}");
    }
    let asked = world.say(BOB, TEAM, "@figaro_bot are you there?").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    assert_eq!(world.bot_texts(TEAM), Vec::<String>::new());
    bot.ends_well().await;

    let bot = early.spawn();
    bot.ready().await;
    assert!(text(&world.told(BOB, BOB, "please?").await).starts_with(REFUSED));
    assert_eq!(world.model.requests().len(), 1, "nothing was asked at the cap");
    // An owner has no more than others, and sees why.
    assert!(text(&world.ask("and me?").await).starts_with(REFUSED));
    assert_eq!((world.bot_texts(ANN).len(), world.bot_texts(EVE).len()), (3, 2));
    bot.ends_well().await;

    let bot = late.spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("A new day.").usage(29_950, 40));
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), "A new day.");
    assert!(world.model.requests()[1].user_text().contains("please?"));
    assert!(text(&world.told(BOB, BOB, "and now?").await).starts_with(REFUSED));
    assert!(text(&world.answers(EVE, 4).await[3]).contains("00:00 (Etc/GMT-14)"));
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn people_who_ask_at_once_do_not_break_the_cap_together() {
    const CAP: u64 = 40_000;
    let world = World::new().await;
    let runtime = Runtime::system();
    // Each answer is as long as it may be.
    let brain = |request: &ModelRequest| {
        let most = bound(request);
        ModelReply::text("So many words.").usage(2_000, most).paced(4, Duration::from_millis(20))
    };
    let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
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
    let took: u64 = model.requests().iter().map(|request| 2_000 + bound(request)).sum();
    assert!(took <= CAP && CAP - took < 12_000, "{took}");
    assert!((3..people.len()).contains(&answered) && model.requests().len() == answered, "{answered}");
    bot.ends_well().await;
    assert_eq!(sum(&world.books().await).tokens, took);
    runtime.stop();
    assert_eq!(model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_waits_for_another_and_may_be_stopped_meanwhile() {
    const CAP: u64 = 10_000;
    let world = World::new().await;
    let bot = world.priced().set("DAILY_TOKENS", &CAP.to_string()).spawn();
    bot.ready().await;
    let gate = Gate::new();
    world.script.push(ModelReply::text("First.").usage(100, 60).behind(&gate));
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
    world.script.push(ModelReply::text("Next.").usage(100, 40));
    world.script.push(ModelReply::text("Next.").usage(100, 40));
    gate.open();
    assert_eq!(text(&world.answers(EVE, 1).await[0]), "Next.");
    assert_eq!(text(&world.answers(BOB, 2).await[1]), "Next.");
    assert!(first < 8_192 && first > CAP / 4, "it had all there was: {first}");
    bot.ends_well().await;
    assert_eq!(sum(&world.books().await).tokens, 160 + 140 + 140);
}

#[tokio::test]
async fn a_call_under_way_at_a_kill_counts_as_spent() {
    let world = World::new().await;
    let recipe = world.priced().set("DAILY_TOKENS", "100000");
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(ModelReply::silence());
    world.say(ANN, ANN, "hi");
    let most = bound(&world.asks(1).await);
    // It is on record a moment after the model was asked.
    recorded().await;
    bot.kill();
    world.script.push(ModelReply::text("Here I am.").usage(10, 10));
    let bot = recipe.spawn();
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "Here I am.");
    bot.ends_well().await;
    let books = world.books().await;
    let spent = sum(&books).tokens;
    assert!(spent > most + 20 && spent < most + 60_000, "{spent}");
    assert_eq!((books.len(), books[0].chat), (1, ChatId(ANN)));
    // And it holds: by what is on the books there is nothing left.
    let bot = recipe.set("DAILY_TOKENS", &spent.to_string()).spawn();
    bot.ready().await;
    assert!(text(&world.told(BOB, BOB, "more?").await).starts_with(REFUSED));
    bot.ends_well().await;
    assert_eq!(sum(&world.books().await).tokens, spent, "a refusal costs nothing");
}

#[tokio::test]
async fn a_call_under_way_at_a_stop_is_estimated() {
    let world = World::new().await;
    let bot = world.priced().set("DAILY_TOKENS", "100000").spawn();
    bot.ready().await;
    world.script.push(ModelReply::text(&words()).hang_after(3));
    world.say(ANN, ANN, "hi");
    let most = bound(&world.asks(1).await);
    bot.ends_well().await;
    let spent = sum(&world.books().await).tokens;
    assert!(spent > 0 && spent < most, "{spent}");
}

/// What calls cost that do not end well, with caps and without.
async fn ends(caps: bool) {
    let world = World::new().await;
    let recipe = if caps { world.priced().set("DAILY_TOKENS", "2000000") } else { world.priced() };
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(ModelReply::status(429, "slow down").retry_after(3_600));
    world.ask("hi").await;
    for _ in 0..3 {
        world.script.push(ModelReply::status(500, "down"));
    }
    world.ask("hi").await;
    assert!(world.usage().await[7].ends_with("░ 0"), "what was refused costs nothing");
    breaks(&world).await;
    is_stopped(&world).await;
    bot.ends_well().await;
    assert!(sum(&world.books().await).nano_usd > 0);
}

fn words() -> String {
    "one word and another ".repeat(150)
}

/// Without a count of tokens, at its end and in the middle.
async fn breaks(world: &World) {
    world.script.push(ModelReply::text(&words()).without_usage());
    world.ask("tell me").await;
    let whole = world.usage().await;
    assert!(!whole[7].contains('?') && !whole[7].ends_with(" 0"), "{whole:?}");
    names_the_last_answer(&whole);
    world.script.push(ModelReply::text(&words()).break_after(20));
    world.ask("tell me").await;
    names_the_last_answer(&world.used_today(|line| *line != whole[7]).await);
}

/// Before its first word, and in the middle.
async fn is_stopped(world: &World) {
    let before = world.usage().await;
    world.script.push(ModelReply::silence());
    let asked = world.model.requests().len();
    world.say(ANN, ANN, "think");
    world.asks(asked + 1).await;
    world.ask("/stop").await;
    let before = world.used_today(|line| *line != before[7]).await;
    world.script.push(ModelReply::text(&words()).hang_after(9));
    let drafts = world.telegram.view(|view| view.calls_of("sendMessageDraft").len());
    world.say(ANN, ANN, "tell me");
    let is_written = |call: &&&ApiCall| json!(call.args).to_string().contains("one word");
    world
        .see("some words", |view| {
            view.calls_of("sendMessageDraft").iter().skip(drafts).find(is_written).map(|_| ())
        })
        .await;
    world.say(ANN, ANN, "/stop");
    let is_stopped = |message: &&&Value| text(message).ends_with("— stopped");
    world.see("what was written", |view| view.bot_messages(ANN).iter().find(is_stopped).map(|_| ())).await;
    names_the_last_answer(&world.used_today(|line| *line != before[7]).await);
}

fn names_the_last_answer(usage: &[String]) {
    let last = usage.last().unwrap();
    assert!(last.starts_with("Last answer here: ") && last.contains(" k tokens · $0.00"), "{last}");
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
        world.otherwise(ModelReply::text("Hello."));
        for cap in [None, Some("9000000")] {
            let recipe = world.bot_of(provider);
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
            bot.ends_well().await;
        }
    }
}
