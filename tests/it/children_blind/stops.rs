//! Everything that ends a tree early reaches all of it: nobody is asked and nothing acts afterwards.

use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_domain::child::ChildEnd;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, ReplyPart};
use serde_json::json;

use super::{Scene, agent, asks, asks_within, call, ends, is_of, last_of, results};
use crate::support::{ANN, World};

fn cast(world: &World) {
    agent(world, "boss", &["agents: [middle, slow]", "tools: [{name: ask_agent}, {name: list_notes}]"]);
    agent(world, "middle", &["agents: [slow]", "tools: [{name: ask_agent}]"]);
    agent(world, "slow", &["tools: [{name: add_note}, {name: sendPoll}]"]);
}

fn note() -> ModelReply {
    ModelReply::call("add_note", json!({"key": "k", "content": "too late"}))
}

async fn notes(scene: &Scene) -> usize {
    scene.world.stored().await.notes().of_chat(ChatId(ANN)).unwrap().len()
}

/// Stopped while the grandchild writes what comes before its call: neither its call is made nor anything asked.
#[tokio::test]
async fn a_stop_while_a_grandchild_writes_its_call() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        if is_of(request, "slow") {
            // Only words are paced: the call follows them, seconds later.
            let words = ReplyPart::Text("I am about to note it. ".repeat(40));
            let late = call("add_note", json!({"key": "k", "content": "too late"}));
            return ModelReply::turn(vec![words, late]).paced(4, Duration::from_millis(40));
        }
        let next = if is_of(request, "middle") { "slow" } else { "middle" };
        ModelReply::turn(vec![asks(next, "Go on.")])
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Take your time");
    scene.asked("slow", 1).await;
    // Words of a grandchild are shown nowhere. They take seconds, so this is before its call.
    tokio::time::sleep(Duration::from_millis(300)).await;
    scene.world.say(ANN, ANN, "/stop");
    scene.says(ANN, "topped").await;
    scene.is_quiet(&["sendPoll"]).await;
    bot.ends_well().await;
    assert_eq!(notes(&scene).await, 0);
    let children = scene.children().await;
    assert_eq!(ends(&children, "middle"), [Some(ChildEnd::Cancelled)], "{children:?}");
    assert_eq!(ends(&children, "slow"), [Some(ChildEnd::Cancelled)], "{children:?}");
}

/// The middle one's time is up while its own child is slow: both end, and the boss goes on.
#[tokio::test]
async fn the_time_of_the_middle_one_bounds_its_child() {
    let world = World::new().await;
    cast(&world);
    let gate = Gate::new();
    let held = gate.clone();
    let brain = move |request: &ModelRequest| {
        if is_of(request, "slow") {
            return note().behind(&held);
        }
        if is_of(request, "middle") {
            return ModelReply::turn(vec![asks_within("slow", "Be slow.", 300)]);
        }
        match request.tool_results().len() {
            0 => ModelReply::turn(vec![asks_within("middle", "Ask the slow one.", 2)]),
            _ => ModelReply::text("The time was up."),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Hurry");
    scene.says(ANN, "The time was up.").await;
    gate.open();
    scene.is_quiet(&[]).await;
    let told = results(&last_of(&scene.model, "boss"));
    assert!(told[0].contains("\"timeout\""), "{told:?}");
    bot.ends_well().await;
    assert_eq!((super::count(&scene.model, "middle"), super::count(&scene.model, "slow")), (1, 1));
    assert_eq!(notes(&scene).await, 0);
    let children = scene.children().await;
    assert_eq!(ends(&children, "middle"), [Some(ChildEnd::Timeout)], "{children:?}");
    let slow = ends(&children, "slow");
    assert!(slow == [Some(ChildEnd::Timeout)] || slow == [Some(ChildEnd::Cancelled)], "{children:?}");
}

/// A child's own timeout, and one that goes on calling at the bound on passes.
#[tokio::test]
async fn at_the_bound_of_passes_a_child_gives_what_it_has_and_stops() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        let done = request.tool_results().len();
        if is_of(request, "slow") {
            return match request.tool_names().is_empty() {
                true => ModelReply::text("What I have so far."),
                false => ModelReply::call("add_note", json!({"key": "k", "content": format!("note {done}")})),
            };
        }
        match done {
            0 => ModelReply::turn(vec![asks("slow", "Never end.")]),
            _ => ModelReply::text("It had to end."),
        }
    };
    let scene = Scene::new(world, brain).await.set("MAX_PASSES", "4");
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Never end");
    scene.says(ANN, "It had to end.").await;
    scene.is_quiet(&[]).await;
    let told = results(&last_of(&scene.model, "boss"));
    assert!(told[0].contains("over_budget") && told[0].contains("What I have so far."), "{told:?}");
    assert_eq!(super::count(&scene.model, "slow"), 4, "at most MAX_PASSES passes, the last without tools");
    bot.ends_well().await;
    assert_eq!(notes(&scene).await, 3);
    assert_eq!(ends(&scene.children().await, "slow"), [Some(ChildEnd::OverBudget)]);
}

/// The boss's model fails right after its children have ended.
#[tokio::test]
async fn a_failure_of_the_parent_reaches_its_children() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        if is_of(request, "slow") {
            return match request.tool_results().len() {
                0 => note(),
                _ => ModelReply::text("Noted."),
            };
        }
        match request.tool_results().len() {
            0 => ModelReply::turn(vec![asks("slow", "Note it."), asks("slow", "And this.")]),
            _ => ModelReply::status(400, "this model is broken"),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Do it");
    scene.says(ANN, "⚠").await;
    scene.is_quiet(&["sendMessage"]).await;
    bot.ends_well().await;
    let children = scene.children().await;
    assert_eq!(ends(&children, "slow"), [Some(ChildEnd::Done); 2], "{children:?}");
    assert!(children.iter().all(|c| c.outcome.as_ref().unwrap().text.is_empty()), "no words are kept");
}

/// The process ends by SIGTERM in the middle: afterwards the child goes on or has ended, and acts once.
#[tokio::test]
async fn a_stop_and_then_a_restart_wakes_nobody() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        if is_of(request, "slow") {
            return ModelReply::silence();
        }
        let next = if is_of(request, "middle") { "slow" } else { "middle" };
        ModelReply::turn(vec![asks(next, "Go on.")])
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Take your time");
    scene.asked("slow", 1).await;
    scene.world.say(ANN, ANN, "/stop");
    scene.says(ANN, "topped").await;
    let told = scene.world.bot_texts(ANN);
    bot.kill();
    let bot = scene.start().await;
    scene.is_quiet(&[]).await;
    // A kill may come before the command is known to be done: then its answer comes again, and nothing else.
    let later = scene.world.bot_texts(ANN).split_off(told.len());
    let is_again = |text: &String| told.last() == Some(text) || text == "Nothing is running.";
    assert!(later.len() < 2 && later.iter().all(is_again), "{later:?} after {told:?}");
    bot.ends_well().await;
    let children = scene.children().await;
    assert_eq!(children.len(), 2);
    assert!(
        children.iter().all(|c| c.outcome.as_ref().is_some_and(|o| o.end == ChildEnd::Cancelled)),
        "{children:?}"
    );
}

/// An edit of the question while a silent child works: the turn begins again, and only the new one answers.
#[tokio::test]
async fn an_edit_begins_the_turn_again_and_ends_its_children() {
    let world = World::new().await;
    cast(&world);
    let gate = Gate::new();
    let held = gate.clone();
    let brain = move |request: &ModelRequest| {
        let is_old = request.body.to_string().contains("Holland");
        if is_of(request, "slow") {
            return if is_old { note().behind(&held) } else { ModelReply::text("Warsaw, says the child.") };
        }
        match request.tool_results().len() {
            0 => ModelReply::turn(vec![asks("slow", if is_old { "Of Holland." } else { "Of Poland." })]),
            _ if is_old => ModelReply::text("Amsterdam."),
            _ => ModelReply::text("Warsaw it is."),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    let sent = scene.world.say(ANN, ANN, "capital of Holland?");
    scene.asked("slow", 1).await;
    scene.world.telegram.edit(ANN, ANN, sent.message_id, "capital of Poland?").unwrap();
    scene.says(ANN, "Warsaw it is.").await;
    gate.open();
    scene.is_quiet(&["sendMessage"]).await;
    assert!(scene.world.bot_texts(ANN).iter().all(|t| !t.contains("Amsterdam")));
    assert_eq!(scene.world.bot_texts(ANN).iter().filter(|t| t.contains("Warsaw")).count(), 1);
    bot.ends_well().await;
    assert_eq!(notes(&scene).await, 0);
    let children = scene.children().await;
    assert!(!children.is_empty() && children.iter().all(|c| c.outcome.is_some()), "{children:?}");
    // A restart finds nothing to go on with.
    let bot = scene.start().await;
    scene.is_quiet(&["sendMessage"]).await;
    bot.ends_well().await;
}
