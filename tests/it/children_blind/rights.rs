//! A child acts for whoever asks: a guest's child has a guest's rights, a task's child those of a task.

use figaro_base::ids::ChatId;
use figaro_offline::model::{ModelReply, ModelRequest};
use serde_json::json;

use super::{Scene, agent, asks, call, is_of, last_of, results};
use crate::support::scene::{TEAM, labels};
use crate::support::{ANN, BOB, World};
use crate::task_runs::{keep, once, soon};

const END: &str = "That is all there is.";

fn cast(world: &World) {
    agent(world, "boss", &["agents: [worker]", "tools: [{name: ask_agent}, {name: add_note}]"]);
    let tools = "tools: [{name: add_note}, {name: sendMessage}, {name: banChatMember}, {name: action}]";
    agent(world, "worker", &[tools]);
}

/// The worker tries everything at once.
fn tries(request: &ModelRequest) -> ModelReply {
    let first = request.tool_results().is_empty();
    match (is_of(request, "worker"), first) {
        (true, true) => ModelReply::turn(vec![
            call("add_note", json!({"key": "k", "content": "by a child"})),
            call("sendMessage", json!({"chat_id": ANN, "text": "psst, elsewhere"})),
            call("banChatMember", json!({"chat_id": TEAM, "user_id": ANN})),
            call(
                "action",
                json!({"type": "elicit", "payload": {"question": "May I?", "options": ["Yes", "No"]}}),
            ),
        ]),
        (true, false) => ModelReply::text("I have tried."),
        (false, true) => ModelReply::turn(vec![asks("worker", "Try everything.")]),
        (false, false) => ModelReply::text(END),
    }
}

/// What came of the four calls, and that no call for elsewhere or against somebody was made.
fn is_refused(scene: &Scene, is_noted: bool) {
    let told = results(&last_of(&scene.model, "worker"));
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[0].contains("\"success\":true"), is_noted, "the note: {told:?}");
    for told in &told[1..] {
        assert!(told.contains("\"success\":false"), "{told}");
    }
    assert_eq!(scene.world.telegram.view(|view| view.calls_of("banChatMember").len()), 0);
    assert!(scene.world.bot_texts(ANN).iter().all(|t| !t.contains("psst") && !t.contains("May I?")));
    for chat in [ANN, BOB, TEAM] {
        let messages = scene.world.telegram.messages(chat);
        let cards: Vec<_> =
            messages.iter().filter(|m| labels(m).iter().any(|l| l.contains("Once") || l == "Yes")).collect();
        assert!(cards.is_empty(), "nobody can answer a child's question: {cards:?}");
    }
}

async fn noted(scene: &Scene, chat: i64) -> usize {
    scene.world.stored().await.notes().of_chat(ChatId(chat)).unwrap().len()
}

#[tokio::test]
async fn a_child_of_a_guest_has_the_rights_of_a_guest() {
    let world = World::new().await;
    world.team();
    cast(&world);
    let scene = Scene::new(world, tries).await;
    let bot = scene.start().await;
    scene.world.told(BOB, BOB, "/config agent boss").await;
    scene.world.told(ANN, ANN, "/allow 12 guest").await;
    scene.world.say(BOB, BOB, "Try everything");
    scene.says(BOB, END).await;
    is_refused(&scene, false);
    bot.ends_well().await;
    assert_eq!(noted(&scene, BOB).await, 0);
}

#[tokio::test]
async fn a_child_of_a_member_notes_and_no_more() {
    let world = World::new().await;
    world.team();
    cast(&world);
    let scene = Scene::new(world, tries).await;
    let bot = scene.start().await;
    scene.world.told(BOB, BOB, "/config agent boss").await;
    scene.world.say(BOB, BOB, "Try everything");
    scene.says(BOB, END).await;
    is_refused(&scene, true);
    bot.ends_well().await;
    assert_eq!(noted(&scene, BOB).await, 1);
}

/// The shipped agent of tasks is replaced by one that asks another.
#[tokio::test]
async fn a_child_of_a_task_asks_nobody() {
    let world = World::new().await;
    world.team();
    cast(&world);
    agent(&world, "scheduled", &["agents: [worker]", "tools: [{name: ask_agent}]"]);
    keep(&world, &[&once(BOB, BOB, "Try everything, task.", soon())]).await;
    let scene = Scene::new(world, tries).await;
    let bot = scene.start().await;
    scene.says(BOB, END).await;
    is_refused(&scene, true);
    bot.ends_well().await;
}
