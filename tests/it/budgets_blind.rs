//! Limits on spending, tested by the promises of the documents alone, as members, owners, attackers and crashes would.

#![allow(clippy::cognitive_complexity, reason = "every assertion counts as a branch")]

use std::ops::Range;
use std::sync::Arc;

use figaro_base::clock::Clock;
use figaro_ledger::sum;
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel};
use figaro_offline::telegram::{MemberStatus, Say};
use serde_json::{Value, json};

use crate::agents::MUTE;
use crate::parking::call;
use crate::support::bot::Recipe;
use crate::support::calls::says;
use crate::support::http::{Gateway, KEY};
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, Bot, TIMEOUT, World, listener};
use crate::task_tools::{LEAP, runs};

const EVE: i64 = 13;
const SHOP: &str = "0123456789abcdef-shop";
/// Tokens that the provider counts for a request in the tests of kills, beside its answer: fewer than it has.
const SENT: u64 = 2_000;

async fn people() -> World {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eve", "en");
    world.telegram.set_member(TEAM, EVE, MemberStatus::Member).unwrap();
    world
}

/// A bot whose model has a known price, and no search of its own, for which more is reserved.
fn searchless(world: &World) -> Recipe {
    let bot = world.priced().set("LLM_PROVIDER", "compatible");
    world.with_provider(bot, "compatible").set("LLM_PRICES", "compatible:*=0.40/0.10/1.60")
}

async fn started(recipe: &Recipe) -> Bot {
    let bot = recipe.spawn();
    bot.ready().await;
    bot
}

async fn budget(world: &World, words: &str) -> String {
    text(&world.told(ANN, ANN, &format!("/budget {words}")).await).to_owned()
}

/// The limits that an owner sees, and the buttons under them.
async fn limits(world: &World) -> (String, Vec<String>) {
    let card = world.told(ANN, ANN, "/budget").await;
    (text(&card).to_owned(), labels(&card))
}

fn is_refusal(said: &str) -> bool {
    said.starts_with('⚠') && said.contains("budget")
}

fn yes(sent: u64) -> ModelReply {
    ModelReply::text("Yes.").usage(sent, 100)
}

/// Returns the answer to a question in a person's own chat: "Yes.", or the reason for none.
async fn asks(world: &World, person: i64, words: &str) -> String {
    let asked = world.say(person, person, words).message_id;
    world
        .see("an answer or a refusal", |view| {
            let later = view.bot_messages(person).into_iter().filter(|m| number(&m["message_id"]) > asked);
            later.map(text).find(|said| said.starts_with("Yes.") || is_refusal(said)).map(ToOwned::to_owned)
        })
        .await
}

async fn is_answered(world: &World, person: i64) -> bool {
    !is_refusal(&asks(world, person, "Please?").await)
}

/// In the group a refusal is a reaction, and `/why` tells of the budget.
async fn is_refused_in_the_group(world: &World, person: i64) {
    let asked = world.say(person, TEAM, "@figaro_bot one more").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    let why = world.told(person, TEAM, "/why").await;
    assert!(text(&why).contains("budget"), "{why}");
}

fn longest_answer(request: &ModelRequest) -> u64 {
    request.body["max_tokens"].as_u64().unwrap_or_else(|| panic!("no bound: {}", request.body))
}

#[tokio::test]
async fn odd_words_set_what_they_say_or_nothing() {
    let world = people().await;
    let _bot = started(&searchless(&world)).await;
    budget(&world, "12 40k a day").await;
    let before = limits(&world).await;
    let odd = "12 -5k a day; 12 $-5 a month; 12 🐱 a day; 12 NaN a day; 12 $inf a month; 12 $5 20k a day; \
               12 20k a century; 12 40k a day off; @nobody_at_all 5k a day; task Nothing 5k a day; agent 🐱 5k a day; \
               here -1 a day; -20k a day; $0.0.5 a day";
    for words in odd.split("; ") {
        let told = budget(&world, words).await;
        assert_eq!(limits(&world).await, before, "{words}: {told}");
    }
    budget(&world, "12 off").await;
    for words in ["12 ٢٠k a day", "12 ２０k a day", "12 20K A DAY", "12  20k  a  day", "12 20000 a day"] {
        let told = budget(&world, words).await;
        let set = limits(&world).await.1;
        assert!(set.is_empty() || set == ["Bob (@bob) · 20 k tokens a day"], "{words}: {told}: {set:?}");
        budget(&world, "12 off").await;
    }
    world.otherwise(yes(100));
    budget(&world, "12 99999999999999999999999k a day").await;
    assert!(is_answered(&world, BOB).await, "what nobody can spend is no small limit");
    budget(&world, "12 off").await;
    budget(&world, "12 0 a day").await;
    let is_without = limits(&world).await.1.is_empty();
    assert_eq!(is_answered(&world, BOB).await, is_without, "zero is no limit without end");
}

#[tokio::test]
async fn only_owners_set_and_remove_limits_and_others_see_their_own() {
    let world = people().await;
    let _bot = started(&searchless(&world).set("API_KEYS", &format!("shop:{SHOP}"))).await;
    for words in ["12 40k a day", "13 50k a day", "key shop 60k a day", "$70 a month"] {
        budget(&world, words).await;
    }
    world.told(ANN, ANN, "/allow 12 admin").await;
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    let before = limits(&world).await;
    for chat in [BOB, TEAM] {
        for words in ["@bob 9M a day", "@bob off", "here 9M a day", "members 9M a day", "$90 a month", "off"]
        {
            let told = world.told(BOB, chat, &format!("/budget@figaro_bot {words}")).await;
            assert_eq!(text(&told), "Only an owner of the bot can do that.", "{words} in {chat}");
        }
    }
    assert_eq!(limits(&world).await, before);
    let own = world.told(BOB, BOB, "/budget").await;
    assert!(text(&own).contains("of 40 k tokens") && labels(&own).is_empty(), "{own}");
    let of_others = ["50 k", "60 k", "$70", "Eve", "shop"];
    assert!(!of_others.iter().any(|words| text(&own).contains(words)), "{own}");
}

#[tokio::test]
async fn a_limit_counts_what_was_spent_before_and_the_refused_message_is_kept() {
    let world = people().await;
    let _bot = started(&searchless(&world)).await;
    world.otherwise(yes(29_900));
    let bobs = world.say(BOB, TEAM, "@figaro_bot hi").message_id;
    world.answers(TEAM, 1).await;
    world.telegram.send(Say::new(ANN, TEAM, "/budget 31k a day").reply_to(bobs)).unwrap();
    assert_eq!(text(&world.answers(TEAM, 2).await[1]), "Bob (@bob): 31 k tokens a day.");
    let refused = asks(&world, BOB, "Why is the sky blue?").await;
    assert!(refused.contains("You have used up your budget"), "{refused}");
    assert_eq!(world.model.requests().len(), 1, "from the very next question on");
    assert!(is_answered(&world, EVE).await);
    assert_eq!(budget(&world, "@bob 900k a day").await, "Bob (@bob): 900 k tokens a day.");
    assert!(asks(&world, BOB, "/retry").await.starts_with("Yes."));
    assert!(world.model.requests()[2].user_text().contains("Why is the sky blue?"));
}

#[tokio::test]
async fn of_the_limits_of_a_chat_and_a_person_the_tighter_holds() {
    let world = people().await;
    let _bot = started(&searchless(&world)).await;
    world.otherwise(yes(28_900));
    world.told(ANN, TEAM, "/budget here 30k a day").await;
    budget(&world, "12 80k a day").await;
    world.told(BOB, TEAM, "@figaro_bot hi").await;
    is_refused_in_the_group(&world, BOB).await;
    assert_eq!(world.model.requests().len(), 1);
    assert!(is_answered(&world, BOB).await, "his own limit has room");
    world.told(ANN, TEAM, "/budget here 900k a day").await;
    budget(&world, "12 59k a day").await;
    is_refused_in_the_group(&world, BOB).await;
    assert!(text(&world.told(EVE, TEAM, "@figaro_bot hi").await).starts_with("Yes."));
    budget(&world, "here 1k a day").await;
    let refused = asks(&world, ANN, "And an owner?").await;
    assert!(refused.contains("This chat has used up its budget"), "{refused}");
}

#[tokio::test]
async fn a_day_and_a_month_hold_at_once_and_a_refusal_says_when_it_goes_on() {
    let world = World::new().await;
    let _bot = started(&searchless(&world)).await;
    budget(&world, "12 40k a day").await;
    budget(&world, "12 50k a month").await;
    world.script.push(yes(38_400));
    assert!(is_answered(&world, BOB).await);
    let of_day = asks(&world, BOB, "more?").await;
    assert!(is_refusal(&of_day) && of_day.contains("00:00"), "{of_day}");
    budget(&world, "12 900k a day").await;
    world.script.push(yes(10_000));
    assert!(is_answered(&world, BOB).await, "the month has room");
    let of_month = asks(&world, BOB, "more?").await;
    let tomorrow = Clock::system().now().date_naive().succ_opt().unwrap().to_string();
    let names_the_first = of_month.split(" (").next().unwrap().contains('1');
    assert!(is_refusal(&of_month) && (names_the_first || tomorrow.ends_with("-01")), "{of_month}");
    let card = world.told(ANN, ANN, "/budget").await;
    world.press(ANN, &card, "Bob").await;
    let open = world.becomes(&card, "of 50 k tokens", "Remove").await;
    world.press(ANN, &open, "Remove").await;
    let list = world.becomes(&card, "", "Undo").await;
    world.press(ANN, &list, "Undo").await;
    world.shows(ANN, number(&card["message_id"]), "of 900 k tokens").await;
    assert!(!is_answered(&world, BOB).await, "both are back");
    budget(&world, "12 900k a month").await;
    budget(&world, "12 $0.02 a month").await;
    assert!(!is_answered(&world, BOB).await, "$0.0197 are spent");
    budget(&world, "12 off").await;
    world.otherwise(yes(100));
    assert!(is_answered(&world, BOB).await, "off removes all of his limits");
}

#[tokio::test]
async fn a_limit_of_a_role_is_for_each_who_has_none_of_their_own() {
    let world = people().await;
    let _bot = started(&searchless(&world)).await;
    budget(&world, "members 30k a day").await;
    budget(&world, "12 $2 a month").await;
    world.otherwise(yes(28_900));
    assert!(is_answered(&world, BOB).await && is_answered(&world, EVE).await, "each has their own share");
    assert!(!is_answered(&world, EVE).await);
    assert!(is_answered(&world, BOB).await, "he has a limit of his own");
    world.told(ANN, ANN, "/allow 13 guest").await;
    assert!(is_answered(&world, EVE).await, "guests have no limit");
    budget(&world, "guests 1k a day").await;
    assert!(!is_answered(&world, EVE).await);
    budget(&world, "guests off").await;
    assert!(is_answered(&world, EVE).await);
}

#[tokio::test]
async fn a_limit_of_an_agent_holds_wherever_it_answers_and_owners_hear_of_it() {
    let world = people().await;
    world.agent("mute.yaml", MUTE);
    let _bot = started(&searchless(&world)).await;
    world.otherwise(yes(28_900));
    budget(&world, "agent mute 29k a day").await;
    world.told(BOB, BOB, "/agents mute").await;
    world.told(EVE, EVE, "/agents mute").await;
    assert!(is_answered(&world, BOB).await);
    let told = says(&world, ANN, "budget").await;
    assert!(text(&told).contains("mute"), "{told}");
    assert!(!is_answered(&world, EVE).await, "it is spent in Bob's chat");
    world.told(EVE, EVE, "/agents default").await;
    assert!(is_answered(&world, EVE).await, "another agent");
}

#[tokio::test]
async fn a_limit_of_a_task_of_this_chat_holds_for_all_its_runs() {
    let world = people().await;
    let _bot = started(&searchless(&world)).await;
    let task =
        json!({"prompt": "Look again and again.", "schedule": LEAP, "recurring": true, "title": "Look"});
    world.when("set it up", ModelReply::turn(vec![call("schedule_task", task)]));
    world.when("set it up", ModelReply::text("It is set up."));
    world.say(ANN, ANN, "set it up");
    let can_run = |m: &&Value| labels(m).iter().any(|label| label == "Run now");
    let card = world.see("the task", |view| view.bot_messages(ANN).into_iter().find(can_run).cloned()).await;
    world.say(ANN, ANN, "/budget task Look 29k a day");
    says(&world, ANN, "29 k tokens a day").await;
    world.when("<scheduled_task", ModelReply::text("So far.").usage(28_900, 100));
    let run = buttons(&card).into_iter().find(|(label, _)| label == "Run now").unwrap().1;
    world.forged(ANN, &card, &run).await;
    says(&world, ANN, "So far.").await;
    let again = async || (world.forged(ANN, &card, &run).await != "It is running already.").then_some(());
    eventually(|| "its first run never ends", again).await;
    // It is put off until the limit ends.
    assert_eq!(runs(&world), 1);
    let elsewhere = world.told(ANN, TEAM, "/budget task Look 900k a day").await;
    assert!(text(&elsewhere).contains("I know nobody and nothing here"), "{elsewhere}");
}

#[tokio::test]
async fn a_limit_of_a_key_is_of_that_key_alone_and_outlives_a_kill() {
    let world = World::new().await;
    let recipe = searchless(&world).set("API_KEYS", &format!("shop:{SHOP},app:{KEY}"));
    let gateway = world.gateway_of(recipe.clone()).await;
    let shop = |gateway: &Gateway| gateway.says("hi").key(SHOP);
    world.otherwise(yes(28_900));
    budget(&world, "key shop 29k a month").await;
    assert_eq!(shop(&gateway).words().await, "Yes.");
    assert_eq!(shop(&gateway).refused().await.0, 429);
    assert_eq!(gateway.says("hi").words().await, "Yes.", "another key");
    gateway.bot.kill();
    let gateway = world.gateway_of(recipe).await;
    assert_eq!(shop(&gateway).refused().await.0, 429);
    world.say(ANN, ANN, "/budget key shop off");
    says(&world, ANN, "no limit any more").await;
    assert_eq!(shop(&gateway).words().await, "Yes.");
}

/// People ask at once, and the bot is killed so often, each time when so many requests more have come, which all count.
async fn stays_within(limit: u64, people: Range<i64>, kills: usize, requests: usize) {
    let world = World::new().await;
    let (runtime, gate) = (Runtime::system(), Gate::new());
    let held = gate.clone();
    let brain = move |request: &ModelRequest| {
        ModelReply::text("Yes.").usage(SENT, longest_answer(request)).behind(&held)
    };
    let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
    let recipe =
        searchless(&world).set("COMPATIBLE_BASE_URL", model.url()).set("MONTHLY_TOKENS", &limit.to_string());
    let mut bot = started(&recipe).await;
    for person in people.clone() {
        world.person(person, "Someone", "en");
        world.say(person, person, "at once");
    }
    for kill in 1..=kills {
        let are_there = |all: &[ModelRequest]| (all.len() >= kill * requests).then_some(());
        model.wait_until(TIMEOUT, are_there).await.expect("requests");
        bot.kill();
        bot = recipe.spawn();
    }
    gate.open();
    for person in people {
        let told = text(&world.answers(person, 1).await[0]).to_owned();
        assert!(told.starts_with("Yes.") || is_refusal(&told), "{told}");
    }
    bot.ends_well().await;
    let counted: u64 = model.requests().iter().map(|request| SENT + longest_answer(request)).sum();
    let booked = sum(&world.books().await).tokens;
    assert!(counted <= booked && booked <= limit, "{counted} counted, {booked} booked");
    runtime.stop();
}

#[tokio::test]
async fn a_kill_among_turns_at_once_never_spends_more_than_the_limit() {
    stays_within(60_000, 21..29, 1, 3).await;
}

#[tokio::test]
async fn each_call_of_a_turn_that_is_killed_twice_stays_booked() {
    stays_within(24_000, 21..22, 2, 1).await;
}

#[tokio::test]
async fn usage_and_budget_show_what_the_provider_counted_after_a_kill_too() {
    let world = people().await;
    let recipe = searchless(&world).set("MONTHLY_TOKENS", "1_000_000");
    let bot = started(&recipe).await;
    world.otherwise(ModelReply::text("Yes.").usage(100, 11));
    for person in [ANN, BOB, EVE] {
        world.say(person, person, "hi");
        world.say(person, TEAM, "@figaro_bot hi");
    }
    let today = world.used_today(|line| line.contains(" 666 tokens ")).await.swap_remove(7);
    bot.kill();
    let _bot = started(&recipe).await;
    assert_eq!(world.usage().await[7], today);
    world.say(ANN, ANN, "/budget");
    says(&world, ANN, "This month 666 of 1.0 M tokens").await;
}

#[tokio::test]
async fn answers_without_a_count_of_tokens_are_not_free() {
    let world = World::new().await;
    let _bot = started(&searchless(&world)).await;
    budget(&world, "12 40k a day").await;
    let words = format!("Yes. {}", "One word and another. ".repeat(120));
    world.otherwise(ModelReply::text(&words).without_usage());
    let mut answers = 0;
    while answers < 20 && is_answered(&world, BOB).await {
        answers += 1;
    }
    assert!((1..20).contains(&answers), "{answers} answers for 40,000 tokens");
}

#[tokio::test]
async fn the_cheaper_model_answers_those_alone_whose_limit_is_near_and_while_it_is() {
    let world = people().await;
    let _bot = started(&searchless(&world).set("MODEL_OVER_BUDGET", "compatible:small")).await;
    budget(&world, "12 100k a day").await;
    world.script.push(yes(76_000));
    world.otherwise(yes(100));
    assert!(
        is_answered(&world, BOB).await && is_answered(&world, BOB).await && is_answered(&world, EVE).await
    );
    budget(&world, "12 900k a day").await;
    assert!(is_answered(&world, BOB).await);
    let requests = world.model.requests();
    let models: Vec<&str> = requests.iter().map(ModelRequest::model).collect();
    let usual = "openai/gpt-4.1-mini";
    assert_eq!(models, [usual, "small", usual, usual]);
}
