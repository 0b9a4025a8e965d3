//! What the model schedules: the person sees it as it is stored, it comes when it is due, and only those who may change
//! it.

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::{MemberStatus, TelegramView};
use figaro_prompts::Prompts;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

const CAROL: i64 = 13;
/// A time that comes only years from now.
const LEAP: &str = "30 9 29 2 *";

impl World {
    /// Someone writes, the model calls this tool once and ends with these words; gives what the tool told the model.
    async fn tool(&self, who: (i64, i64), said: &str, (tool, arguments): (&str, Value)) -> Value {
        let before = self.model.requests().len();
        self.script.push(ModelReply::call(tool, arguments));
        self.script.push(ModelReply::text(&format!("Dealt with: {said}")));
        self.say(who.0, who.1, &format!("@figaro_bot {said}"));
        let request = self.asks(before + 2).await;
        self.says(who.1, &format!("Dealt with: {said}")).await;
        let (_, result) = request.tool_results().pop().unwrap();
        serde_json::from_str(&result).unwrap()
    }

    /// Waits until the bot has said these words, and gives the message.
    async fn says(&self, chat: i64, words: &str) -> Value {
        let find = |view: &TelegramView<'_>| {
            view.bot_messages(chat).into_iter().find(|m| text(m).contains(words)).cloned()
        };
        self.see(words, find).await
    }
}

/// How many cards of this task the bot has sent.
fn cards(view: &TelegramView<'_>, chat: i64, title: &str) -> usize {
    let card = format!("⏰ {title}");
    let is_card = |message: &&Value| text(message).contains(&card) && !labels(message).is_empty();
    view.bot_messages(chat).into_iter().filter(is_card).count()
}

fn daily(prompt: &str, schedule: &str) -> Value {
    json!({"prompt": prompt, "schedule": schedule, "recurring": true})
}

/// Whether a result is an error with all these words.
fn refused(result: &Value, words: &[&str]) -> bool {
    let error = result["error"].as_str().unwrap_or_default();
    result["success"] == false && words.iter().all(|word| error.contains(word))
}

/// The request that carried a task out.
fn carried_out(world: &World) -> ModelRequest {
    let requests = world.model.requests();
    requests.into_iter().find(|request| request.user_text().contains("<scheduled_task")).unwrap()
}

#[tokio::test]
async fn a_reminder_is_shown_as_it_is_stored_and_comes_by_itself() {
    let world = World::new().await;
    world.when("<scheduled_task", ModelReply::text("Time to drink water, Ann."));
    let bot = world.start().await;
    let arguments =
        json!({"prompt": "Remind Ann, in English, to drink water.", "schedule": "in 3s", "recurring": false});
    let result = world.tool((ANN, ANN), "remind me", ("schedule_task", arguments)).await;
    assert_eq!(result["next"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["zone_assumed"], Value::Null, "a duration needs no zone: {result}");

    let reminder = world.says(ANN, "Time to drink water").await;
    assert_eq!(
        (&reminder["reply_to_message"], &reminder["quote"]),
        (&Value::Null, &Value::Null),
        "{reminder}"
    );
    assert_eq!(labels(&reminder), ["Done", "In 10 min", "Tomorrow"]);
    let card = world.says(ANN, "⏰ Remind Ann, in English, to drink water.").await;
    assert!(!labels(&card).is_empty(), "{card}");
    let said = world.bot_texts(ANN);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("Dealt with: remind me\n\n⏰ Remind Ann"), "{said:?}");

    let request = carried_out(&world);
    let mut tools = request.tool_names();
    tools.sort_unstable();
    let agents = Prompts::load(None).unwrap().agents();
    let mut wanted: Vec<&str> = agents.get("scheduled").unwrap().tools.iter().map(String::as_str).collect();
    // This model has no search and nobody draws, and nothing of its prompt was left out.
    wanted.retain(|name| !["web_search", "lookup", "draw"].contains(name));
    wanted.sort_unstable();
    assert_eq!(tools, wanted);
    let prompt = request.user_text();
    let (_, task) = prompt.split_once("<scheduled_task ").unwrap();
    assert!(task.contains("user_id=\"11\""), "{task}");
    assert!(task.contains("Remind Ann, in English, to drink water.\n</scheduled_task>"), "{task}");

    let list = world.tool((ANN, ANN), "what is left?", ("list_tasks", json!({}))).await;
    assert_eq!(list["tasks"], json!([]), "it has run");
    assert_eq!(world.press(ANN, &reminder, "Done").await, "Done.");
    let id = number(&reminder["message_id"]);
    let marked = |view: &TelegramView<'_>| {
        let message = view.bot_messages(ANN).into_iter().find(|m| number(&m["message_id"]) == id)?;
        let left = labels(message);
        (left.len() == 1 && left[0].starts_with("✓ Done at ")).then(|| text(message).to_owned())
    };
    assert_eq!(world.see("when it was done", marked).await, text(&reminder), "its words stay");
    bot.ends_well().await;
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_recurring_task_is_told_by_the_clocks_of_its_chat_and_made_once() {
    let world = World::new().await;
    let _bot = world.bot().set("DEFAULT_TIMEZONE", "Europe/Lisbon").spawn();
    let add = ("schedule_task", daily("Tell Ann a joke.", LEAP));
    let guessed = world.tool((ANN, ANN), "a joke, please", add.clone()).await;
    assert_eq!((&guessed["zone_assumed"], &guessed["timezone"]), (&json!(true), &json!("Europe/Lisbon")));
    world.told(ANN, ANN, "/config timezone Europe/Riga").await;
    let add_there = ("schedule_task", daily("Tell Ann a riddle.", LEAP));
    let known = world.tool((ANN, ANN), "a riddle, please", add_there.clone()).await;
    assert_eq!(
        (&known["zone_assumed"], &known["timezone"], &known["what"]),
        (&Value::Null, &json!("Europe/Riga"), &json!(LEAP))
    );
    let next = known["next"].as_array().unwrap();
    assert_eq!(next.len(), 3);
    assert!(next.iter().all(|at| at.as_str().unwrap().ends_with("-02-29T09:30:00+02:00")), "{next:?}");

    world.says(ANN, "⏰ Tell Ann a riddle.").await;
    let again = world.tool((ANN, ANN), "the same once more", add_there).await;
    assert_eq!((&again["already_there"], &again["task_id"]), (&json!(true), &known["task_id"]));
    world.see("the card once more", |view| (cards(view, ANN, "Tell Ann a riddle.") == 2).then_some(())).await;

    let id = &known["task_id"];
    let change =
        json!({"task_id": id, "schedule": "45 7 29 2 *", "prompt": "Tell Ann a tale.", "paused": true});
    let changed = world.tool((ANN, ANN), "rather a tale", ("update_task", change)).await;
    assert!(changed["next"][0].as_str().unwrap().ends_with("-02-29T07:45:00+02:00"), "{changed}");
    world.says(ANN, "⏰ Tell Ann a tale.").await;
    let list = world.tool((ANN, ANN), "what is there?", ("list_tasks", json!({}))).await;
    let tasks = list["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2, "{list}");
    let tale = tasks.iter().find(|task| task["task_id"] == *id).unwrap();
    assert_eq!(
        (&tale["state"], &tale["schedule"], &tale["creator"]),
        (&json!("paused"), &json!("45 7 29 2 *"), &json!("Ann"))
    );
    assert_eq!(tale["prompt"], "Tell Ann a tale.");
}

#[tokio::test]
async fn bounds_are_told_to_the_model() {
    let world = World::new().await;
    world.team();
    let recipe =
        world.bot().set("TASKS_PER_CHAT", "1").set("TASKS_PER_USER", "2").set("TASKS_MIN_INTERVAL", "2h");
    let bot = recipe.spawn();
    bot.ready().await;
    let often = world.tool((ANN, ANN), "hourly", ("schedule_task", daily("Ping.", "@hourly"))).await;
    assert!(refused(&often, &["1h apart", "every 2h"]), "{often}");
    let wrong = world.tool(
        (ANN, ANN),
        "once",
        ("schedule_task", json!({"prompt": "x", "schedule": LEAP, "recurring": false})),
    );
    let wrong = wrong.await;
    assert!(refused(&wrong, &["set recurring to true"]), "{wrong}");
    let first = world.tool((ANN, ANN), "yearly", ("schedule_task", daily("Ping.", LEAP))).await;
    assert_eq!(first["success"], true, "{first}");
    let second = world.tool((ANN, ANN), "another", ("schedule_task", daily("Pong.", LEAP))).await;
    assert!(refused(&second, &["this chat has", "may be: 1"]), "{second}");
    assert_eq!(world.telegram.view(|view| cards(view, ANN, "Pong.")), 0);
}

#[tokio::test]
async fn in_a_group_a_task_is_its_makers_its_admins_and_the_owners() {
    let world = World::new().await;
    world.team();
    world.person(CAROL, "Carol", "en");
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Member).unwrap();
    let _bot = world.start_open().await;
    let made = world.tool((BOB, TEAM), "tea", ("schedule_task", daily("Call for tea.", LEAP))).await;
    let id = &made["task_id"];
    let seen = world.tool((CAROL, TEAM), "what is there?", ("list_tasks", json!({}))).await;
    assert_eq!((&seen["tasks"][0]["task_id"], &seen["tasks"][0]["creator"]), (id, &json!("Bob")), "{seen}");
    let cancel = || ("cancel_task", json!({"task_id": id}));
    let denied = world.tool((CAROL, TEAM), "no tea", cancel()).await;
    assert!(refused(&denied, &["only Bob", "admin"]), "{denied}");
    let elsewhere = world.tool((BOB, BOB), "no tea either", cancel()).await;
    assert!(refused(&elsewhere, &["no task of this chat", "list_tasks"]), "{elsewhere}");
    let paused = json!({"task_id": id, "paused": true});
    let paused = world.tool((BOB, TEAM), "no tea for now", ("update_task", paused)).await;
    assert_eq!(paused["state"], "paused", "{paused}");
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Admin).unwrap();
    let cancelled = world.tool((CAROL, TEAM), "never tea", cancel()).await;
    assert_eq!(cancelled["cancelled"]["title"], "Call for tea.", "{cancelled}");
    let list = world.tool((BOB, TEAM), "what is left?", ("list_tasks", json!({}))).await;
    assert_eq!(list["tasks"], json!([]));
    assert_eq!(world.refused(), Vec::<String>::new());
}
