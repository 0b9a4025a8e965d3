//! Limits that owners set by `/budget`: for a person, a role, a chat, an agent, a task; what people are told of them.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::MemberStatus;
use serde_json::{Value, json};

use crate::parking::call;
use crate::support::scene::{TEAM, labels, text};
use crate::support::{ANN, BOB, World};
use crate::task_tools::LEAP;

const EVE: i64 = 13;

async fn budget(world: &World, words: &str) -> Value {
    world.told(ANN, ANN, &format!("/budget {words}")).await
}

#[tokio::test]
async fn a_person_is_told_at_three_quarters_then_refused_and_goes_on_when_the_owner_allows_more() {
    let world = World::new().await;
    let recipe = world.priced().set("ACCESS", "open");
    let bot = recipe.spawn();
    bot.ready().await;
    assert!(text(&world.told(BOB, BOB, "/budget").await).contains("No limit is set for you here."));
    assert_eq!(
        text(&world.told(BOB, BOB, "/budget 12 9M a day").await),
        "Only an owner of the bot can do that."
    );
    assert_eq!(text(&budget(&world, "12 40k a day").await), "Bob (@bob): 40 k tokens a day.");

    world.script.push(ModelReply::text("Hello.").usage(29_000, 900));
    assert_eq!(text(&world.told(BOB, BOB, "hi").await), "Hello.");
    assert!(text(&world.told(BOB, BOB, "/budget").await).contains("You: Today 29 k of 40 k tokens (74 %)"));
    world.script.push(ModelReply::text("Nearly.").usage(1_000, 100));
    let told = world.told(BOB, BOB, "and now?").await;
    assert_eq!(text(&told), "Nearly.\n\nℹ️ You have used 77 % of your budget today: 31 k of 40 k tokens.");
    world.script.push(ModelReply::text("Once.").usage(8_500, 100));
    assert_eq!(text(&world.told(BOB, BOB, "again?").await), "Once.", "people are told once a day");
    let refused = "⚠️ You have used up your budget with me; it resets at 00:00 (";
    assert!(text(&world.told(BOB, BOB, "and once more?").await).starts_with(refused));
    bot.ends_well().await;

    // A restart forgets neither the limit nor what was spent, and others are not held to it.
    let bot = recipe.spawn();
    bot.ready().await;
    let asked = world.model.requests().len();
    assert!(text(&world.told(BOB, BOB, "please?").await).starts_with(refused));
    assert_eq!(world.model.requests().len(), asked, "no model is asked at the limit");
    world.script.push(ModelReply::text("Hello Ann."));
    assert_eq!(text(&world.ask("hi").await), "Hello Ann.");
    assert_eq!(text(&budget(&world, "12 off").await), "Bob (@bob): no limit any more.");
    assert_eq!(text(&budget(&world, "12 off").await), "Bob (@bob) has no limit that could be removed.");
    world.script.push(ModelReply::text("Welcome back."));
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), "Welcome back.");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn buttons_halve_double_remove_and_restore_a_budget() {
    let world = World::new().await;
    let bot = world.priced().set("ACCESS", "open").set("MONTHLY_USD", "15").spawn();
    bot.ready().await;
    for words in
        ["12 40k a day", "12 $2 a month", "members 20k a day", "agent nobody 5k a day", "@nobody 5k a day"]
    {
        budget(&world, words).await;
    }
    assert!(text(&budget(&world, "@nobody 5k a day").await).contains("I know nobody and nothing here"));
    assert!(text(&budget(&world, "everybody lots").await).contains("To set a limit, write who"));
    let card = world.told(ANN, ANN, "/budget").await;
    assert!(text(&card).contains("This month $0 of $15.00 (0 %)"), "{}", text(&card));
    assert_eq!(
        labels(&card),
        ["Member · 20 k tokens a day", "Bob (@bob) · $2.00 a month, 40 k tokens a day"]
    );
    world.press(ANN, &card, "Bob (@bob) · $2.00 a month, 40 k tokens a day").await;
    let open = world.shows(ANN, id(&card), "Today 0 of 40 k tokens (0 %)").await;
    assert_eq!(labels(&open), ["Half", "Double", "Remove", "‹ Back"]);
    world.press(ANN, &open, "Half").await;
    let half = world.shows(ANN, id(&card), "Today 0 of 20 k tokens (0 %)").await;
    assert!(text(&half).contains("This month $0 of $1.00 (0 %)"));
    world.press(ANN, &half, "Double").await;
    let open = world.shows(ANN, id(&card), "Today 0 of 40 k tokens (0 %)").await;
    world.press(ANN, &open, "Remove").await;
    let list = world.shows(ANN, id(&card), "Budgets").await;
    assert_eq!(labels(&list), ["Member · 20 k tokens a day", "Undo"]);
    world.press(ANN, &list, "Undo").await;
    world.shows(ANN, id(&card), "Today 0 of 40 k tokens (0 %)").await;
    // Somebody who is no owner presses in vain.
    let data = crate::support::scene::buttons(&open)[0].1.clone();
    assert_eq!(world.press_data(BOB, &open, &data).await, "Only an owner of the bot can do that.");
}

fn id(message: &Value) -> i64 {
    message["message_id"].as_i64().unwrap()
}

#[tokio::test]
async fn a_group_and_each_member_have_limits_at_once() {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eve", "en");
    world.telegram.set_member(TEAM, EVE, MemberStatus::Member).unwrap();
    let bot = world.priced().set("ACCESS", "open").spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("Yes.").usage(9_000, 100));
    assert_eq!(text(&world.told(ANN, TEAM, "/budget here 56k a day").await), "Team: 56 k tokens a day.");
    budget(&world, "members 29k a day").await;
    for _ in 0..2 {
        world.told(BOB, TEAM, "@figaro_bot hi").await;
    }
    let told = world.told(BOB, TEAM, "@figaro_bot hi").await;
    assert_eq!(text(&told), "Yes.\n\nℹ️ You have used 94 % of your budget today: 27 k of 29 k tokens.");
    let asked = world.say(BOB, TEAM, "@figaro_bot one more").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    // The limit is each member's own, and the group's is that of all.
    for _ in 0..2 {
        world.told(EVE, TEAM, "@figaro_bot hi").await;
    }
    let card = world.told(EVE, TEAM, "/budget").await;
    assert!(text(&card).contains("You: Today 18 k of 29 k tokens (62 %)"), "{}", text(&card));
    assert!(text(&card).contains("This chat: Today 45 k of 56 k tokens (81 %)"), "{}", text(&card));
    world.told(ANN, TEAM, "@figaro_bot hi").await;
    let asked = world.say(ANN, TEAM, "@figaro_bot one more").message_id;
    world.see("a reaction", |view| (!view.reactions(TEAM, asked).is_empty()).then_some(())).await;
    assert!(text(&world.told(ANN, TEAM, "/why").await).contains("the budget is used up until 00:00"));
}

#[tokio::test]
async fn from_three_quarters_on_the_cheaper_model_answers() {
    let world = World::new().await;
    let bot = world
        .priced()
        .set("DAILY_TOKENS", "100000")
        .set("MODEL_OVER_BUDGET", "openai:small")
        .set("LLM_PRICES", "openai:*=1/1/1")
        .spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello.").usage(76_000, 100));
    world.ask("hi").await;
    let told = "ℹ️ The whole bot: 76 % of the budget today are used, 76 k of 100 k tokens.";
    let is_told = |message: &&Value| text(message).starts_with(told);
    world.see(told, |view| view.bot_messages(ANN).into_iter().find(is_told).map(drop)).await;
    world.script.push(ModelReply::text("Cheaply."));
    world.say(ANN, ANN, "and now?");
    world
        .see("an answer", |view| {
            view.bot_messages(ANN).into_iter().find(|one| text(one) == "Cheaply.").map(drop)
        })
        .await;
    let models: Vec<Value> =
        world.model.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["gpt-4.1-mini", "small"]);
}

#[tokio::test]
async fn an_answer_says_what_it_cost_where_the_chat_wants_it() {
    let world = World::new().await;
    let bot = world.priced().spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/config cost on").await;
    world.script.push(ModelReply::text("Hello.").usage(3_000, 50));
    let told = world.ask("hi").await;
    assert!(text(&told).starts_with("Hello.\n\n💸 $0."), "{}", text(&told));
    assert!(text(&told).ends_with("3.0 k tokens · openai:gpt-4.1-mini"), "{}", text(&told));
    world.script.push(ModelReply::text("Bye."));
    world.told(ANN, ANN, "/config cost off").await;
    assert_eq!(text(&world.ask("bye").await), "Bye.");
    let sent = world.model.requests().last().unwrap().body.to_string();
    assert!(!sent.contains("💸"), "the model does not see it");
}

#[tokio::test]
async fn a_limit_in_money_says_at_once_that_a_price_is_missing() {
    let world = World::new().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    let told = budget(&world, "$10 a month").await;
    assert!(
        text(&told)
            .starts_with("The whole bot: $10.00 a month.\n\n⚠️ I do not know what openai:offline costs"),
        "{told}"
    );
    let told = budget(&world, "1M a month").await;
    assert_eq!(text(&told), "The whole bot: $10.00 a month, 1.0 M tokens a month.");
    world.script.push(ModelReply::text("Hello."));
    assert_eq!(text(&world.ask("hi").await), "Hello.", "tokens bound a model of unknown price");
}

#[tokio::test]
async fn a_run_of_a_task_ends_with_what_it_has_after_a_tenth_of_the_day() {
    let world = World::new().await;
    let bot = world.priced().set("DAILY_TOKENS", "400000").spawn();
    bot.ready().await;
    let task =
        json!({"prompt": "Look again and again.", "schedule": LEAP, "recurring": true, "title": "Look"});
    world.when("set it up", ModelReply::turn(vec![call("schedule_task", task)]));
    world.when("set it up", ModelReply::text("It is set up."));
    world.say(ANN, ANN, "set it up");
    let can_run = |m: &&Value| labels(m).iter().any(|label| label == "Run now");
    let card = world.see("the task", |view| view.bot_messages(ANN).into_iter().find(can_run).cloned()).await;
    // Each step takes 15,000 tokens; from 40,000 on there are no tools any more.
    let run = "<scheduled_task";
    for step in 0..3 {
        let look = call("getChat", json!({"chat_id": ANN + step}));
        world.when(run, ModelReply::turn(vec![look]).usage(14_900, 100));
    }
    let bound = "Your bound on time or tokens is reached";
    world.when(bound, ModelReply::text("So far I have this.").usage(1_000, 10));
    world.press(ANN, &card, "Run now").await;
    let ended = "So far I have this.\n\nℹ️ This run may have ended early: it had used 46 k tokens, which is as much as one run may use.";
    world.see(ended, |view| view.bot_messages(ANN).into_iter().find(|m| text(m) == ended).map(drop)).await;
    let requests = world.asked();
    let is_of_run = |text: &str| text.contains(run) || text.contains(bound);
    let of_run: Vec<_> = requests.iter().filter(|request| is_of_run(&request.user_text())).collect();
    let tools: Vec<bool> = of_run.iter().map(|request| !request.tool_names().is_empty()).collect();
    assert_eq!(tools, [true, true, true, false]);
}

#[tokio::test]
async fn a_key_that_nobody_has_gets_no_limit() {
    let world = World::new().await;
    let bot = world.priced().set("API_KEYS", "shop:0123456789abcdef").spawn();
    bot.ready().await;
    assert!(text(&budget(&world, "key shopp 5k a day").await).contains("I know nobody and nothing here"));
    assert_eq!(text(&budget(&world, "key shop 5k a day").await), "Key shop: 5.0 k tokens a day.");
}
