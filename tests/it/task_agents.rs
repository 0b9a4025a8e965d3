//! The agent that carries out a task: named by the model, chosen with a button, and gone.

use std::fs;

use chrono::TimeDelta;
use figaro_domain::task::{Reason, RunStatus, Task};
use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use super::agents::TUTOR;
use super::task_runs::{GONE, daily, ends, keep, said};
use super::task_tools::{LEAP, listed, recurring};
use crate::support::calls::{calls, error};
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, World};

const RIDDLE: &str = "Ask a riddle.";
const TOLD: &str = "Never give the answer";

/// `Run now` on a card: the request of the run, once the card offers the button again.
async fn runs(world: &World, who: i64, card: &Value) -> ModelRequest {
    let before = world.model.requests().len();
    world.press(who, card, "Run now").await;
    let request = world.asks(before + 1).await;
    assert!(request.user_text().contains(RIDDLE), "{}", request.user_text());
    // The card changes by itself, though the model may be asked before.
    let offers_run = |view: &TelegramView<'_>| {
        let now = view.messages(who).into_iter().find(|m| m["message_id"] == card["message_id"])?;
        Some(labels(now).contains(&"Run now".to_owned()))
    };
    world.see("the card of a run", |view| (!offers_run(view)?).then_some(())).await;
    world.see("the card after it", |view| offers_run(view)?.then_some(())).await;
    request
}

/// The first card of the riddle.
async fn card_of(world: &World, who: i64, words: &str) -> Value {
    let is_card = |m: &&&Value| text(m).contains(words) && labels(m).contains(&"Run now".to_owned());
    world.see("the card", |view| view.bot_messages(who).iter().find(is_card).map(|m| (*m).clone())).await
}

#[tokio::test]
async fn a_task_is_carried_out_by_the_agent_that_was_named_for_it() {
    let world = World::new().await;
    world.agent("tutor.yaml", TUTOR);
    world.agent(
        "dear.yaml",
        &TUTOR.replace("tutor", "dear").replace("compatible:offline-text", "openai:gpt-5-pro"),
    );
    let bot = world.many().spawn();
    bot.ready().await;
    let riddle = |agent: &str| {
        let mut task = recurring(RIDDLE, LEAP);
        task["agent"] = agent.into();
        task
    };
    for (agent, complaint) in [
        (
            "tutr",
            "there is no agent `tutr`: did you mean tutor? (there are: dear, extractor, orchestrator, researcher, scheduled, \
             tutor)",
        ),
        ("dear", "dear runs on openai:gpt-5-pro, which only an owner can choose"),
    ] {
        let said = format!("riddles by {agent}");
        let told = calls(&world, (BOB, BOB), &said, vec![("schedule_task", riddle(agent))]).await;
        assert!(error(&told[0]).contains(complaint), "{told:?}");
    }
    assert_eq!(listed(&world, (BOB, BOB), "what is there?").await, Vec::<Value>::new());

    let made = calls(&world, (BOB, BOB), "riddles, please", vec![("schedule_task", riddle("tutor"))]).await;
    assert_eq!((&made[0]["success"], &made[0]["agent"]), (&json!(true), &json!("tutor")), "{made:?}");
    let card = card_of(&world, BOB, "⏰ Ask a riddle").await;
    assert!(text(&card).contains("Agent: tutor"), "{card}");
    world.otherwise(ModelReply::text("What has keys and no lock?"));
    let request = runs(&world, BOB, &card).await;
    assert!(request.instructions().contains(TOLD), "{}", request.instructions());
    assert_eq!((request.tool_names(), request.model()), (vec!["add_note"], "offline-text"));

    // What a change does not name stays.
    let change = |more: Value| {
        let mut change = json!({"task_id": made[0]["task_id"]});
        change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        vec![("update_task", change)]
    };
    let told = calls(&world, (BOB, BOB), "call it fun", change(json!({"title": "Fun"}))).await;
    assert_eq!((&told[0]["title"], &told[0]["agent"]), (&json!("Fun"), &json!("tutor")), "{told:?}");
    let told = calls(&world, (BOB, BOB), "as mute", change(json!({"agent": "mute"}))).await;
    assert!(error(&told[0]).contains("there is no agent `mute`"), "{told:?}");
    assert_eq!(listed(&world, (BOB, BOB), "and now?").await[0]["agent"], "tutor");
    let told = calls(&world, (BOB, BOB), "as usual", change(json!({"agent": "scheduled"}))).await;
    assert_eq!((&told[0]["success"], &told[0]["agent"]), (&json!(true), &Value::Null), "{told:?}");
    let request = runs(&world, BOB, &card).await;
    assert!(!request.instructions().contains(TOLD), "{}", request.instructions());
    assert!(request.tool_names().contains(&"sendPoll"), "{:?}", request.tool_names());
}

#[tokio::test]
async fn the_agent_of_a_task_is_chosen_with_a_button() {
    let world = World::new().await;
    world.agent("tutor.yaml", TUTOR);
    let task = daily(ANN, ANN, RIDDLE, TimeDelta::hours(3));
    keep(&world, &[&task]).await;
    let bot = world.many().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("What has keys and no lock?"));
    let card = world.opened(ANN, ANN, RIDDLE).await;
    assert!(!text(&card).contains("Agent"), "{card}");
    world.press(ANN, &card, "Edit").await;
    world.card(&card, "Edit: ", "Agent: scheduled").await;
    world.press(ANN, &card, "Agent: scheduled").await;
    let list = world.card(&card, "Who carries out “Ask a riddle.”?", "tutor").await;
    assert_eq!(labels(&list), ["extractor", "orchestrator", "researcher", "✓ scheduled", "tutor", "‹ Back"]);
    assert!(text(&list).contains("• tutor: Never give the answer"), "{list}");
    for agent in ["agent", "agent:tutor", "agent:0123456789ab"] {
        let (verb, more) =
            agent.split_once(':').map_or((agent, String::new()), |(v, m)| (v, format!(":{m}")));
        let data = format!("tasks:{verb}:{}{more}", task.id);
        assert_eq!(world.forged(ANN, &card, &data).await, GONE, "{data}");
    }
    assert_eq!(world.press(ANN, &card, "tutor").await, "Saved.");
    world.card(&card, "Edit: ", "Agent: tutor").await;
    world.press(ANN, &card, "‹ Back").await;
    let card = world.card(&card, "Agent: tutor", "Run now").await;
    let request = runs(&world, ANN, &card).await;
    assert!(request.instructions().contains(TOLD), "{}", request.instructions());
    assert_eq!(request.tool_names(), ["add_note"]);
    bot.ends_well().await;
    assert_eq!(world.stored().await.tasks().of_chat(task.place.chat).unwrap()[0].agent, "tutor");
}

#[tokio::test]
async fn an_agent_of_a_task_that_is_gone_is_told_and_another_can_be_chosen() {
    let world = World::new().await;
    world.agent("tutor.yaml", TUTOR);
    let task = Task { agent: "tutor".to_owned(), ..daily(ANN, ANN, RIDDLE, TimeDelta::hours(3)) };
    keep(&world, &[&task]).await;
    let bot = world.many().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("What has keys and no lock?"));
    fs::remove_file(world.folder.path().join("prompts/agents/tutor.yaml")).unwrap();
    said(&world, ANN, "Your agents: none.").await;

    let card = world.opened(ANN, ANN, RIDDLE).await;
    assert!(text(&card).contains("⚠️ Agent: tutor, which is not there any more"), "{card}");
    world.press(ANN, &card, "Run now").await;
    let told = said(&world, ANN, "” failed: its agent").await;
    let words = "⏰ “Ask a riddle.” failed: its agent, tutor, is not there any more. Choose another with Edit in /tasks, or \
                 have the owner put its file back.";
    assert_eq!(text(&told), words);
    assert_eq!(world.model.requests().len(), 0, "no other agent does it instead");

    let card = world.opened(ANN, ANN, RIDDLE).await;
    world.press(ANN, &card, "Edit").await;
    let gone = "⚠️ Agent: tutor, which is not there any more";
    world.card(&card, "Edit: ", gone).await;
    world.press(ANN, &card, gone).await;
    world.card(&card, "Who carries out", "scheduled").await;
    assert_eq!(world.press(ANN, &card, "scheduled").await, "Saved.");
    world.card(&card, "Edit: ", "Agent: scheduled").await;
    world.press(ANN, &card, "‹ Back").await;
    let card = world.card(&card, "⏰ Ask a riddle", "Run now").await;
    assert!(!text(&card).contains("Agent"), "{}", number(&card["message_id"]));
    runs(&world, ANN, &card).await;
    bot.ends_well().await;
    let ended = ends(&world, task.id).await;
    let gone = (RunStatus::Failed, Some(Reason::Agent { agent: "tutor".to_owned() }));
    assert_eq!((ended.len(), &ended[1]), (2, &gone), "{ended:?}");
}
