//! `kill -9` at many moments of a tree of four: each child ends once, is heard once, and acts once.

use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::TelegramView;
use serde_json::json;

use super::{Scene, agent, asks, call, is_of, last_of};
use crate::support::scene::text;
use crate::support::{ANN, World};

const END: &str = "Everybody has done their part.";

/// The tree: the boss asks a scribe and a manager; the manager asks a pollster.
fn tree(request: &ModelRequest) -> ModelReply {
    let results = request.tool_results().len();
    let slowly = |reply: ModelReply| reply.paced(4, Duration::from_millis(6));
    let is = |name: &str| is_of(request, name);
    if is("scribe") {
        return slowly(match results {
            0 => ModelReply::call("add_note", json!({"key": "list", "content": "milk of the scribe"})),
            _ => ModelReply::text("Noted by the scribe, as was asked."),
        });
    }
    if is("manager") {
        return slowly(match results {
            0 => ModelReply::turn(vec![asks("pollster", "Have them vote.")]),
            _ => ModelReply::text("The manager had them vote, as was asked."),
        });
    }
    if is("pollster") {
        return slowly(match results {
            0 => ModelReply::turn(vec![
                call(
                    "sendPoll",
                    json!({"question": "Where?", "options": [{"text": "here"}, {"text": "there"}]}),
                ),
                call("add_note", json!({"key": "list", "content": "a poll was sent"})),
            ]),
            _ => ModelReply::text("The poll of the pollster is out."),
        });
    }
    slowly(match results {
        0 => ModelReply::turn(vec![asks("scribe", "Note milk."), asks("manager", "See to the vote.")]),
        _ => ModelReply::text(END),
    })
}

fn cast(world: &World) {
    agent(world, "boss", &["agents: [scribe, manager]", "tools: [{name: ask_agent}]"]);
    agent(world, "scribe", &["tools: [{name: add_note}]"]);
    agent(world, "manager", &["agents: [pollster]", "tools: [{name: ask_agent}]"]);
    agent(world, "pollster", &["tools: [{name: sendPoll}, {name: add_note}]"]);
}

/// One kill: so long after the request of this number was received.
async fn killed(at_request: usize, after: Duration) {
    let world = World::new().await;
    cast(&world);
    let scene = Scene::new(world, tree).await;
    let moment = format!("request {at_request} + {after:?}");
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Have it all done");
    let reached = |requests: &[ModelRequest]| requests.get(at_request - 1).map(drop);
    scene.model.wait_until(crate::support::TIMEOUT, reached).await.unwrap();
    tokio::time::sleep(after).await;
    bot.kill();
    let bot = scene.start().await;
    scene.says(ANN, END).await;
    scene.is_quiet(&["sendPoll"]).await;
    let log = bot.log();
    assert!(bot.stop().await.success(), "{moment}");
    let answers = scene.world.bot_texts(ANN).iter().filter(|t| t.contains(END)).count();
    // A kill between Telegram's receipt of it and its answer leaves one more copy, as the README says.
    assert!((1..=2).contains(&answers), "{moment}: {:?}", scene.world.bot_texts(ANN));
    is_settled(&scene, &moment).await;
    assert!(!log.contains("panicked"), "{moment}: {log}");
}

/// What holds however often the bot was killed.
async fn is_settled(scene: &Scene, moment: &str) {
    let children = scene.children().await;
    let mut names: Vec<&str> = children.iter().map(|c| c.agent.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["manager", "pollster", "scribe"], "{moment}: each child is on record once");
    assert!(children.iter().all(|c| c.outcome.is_some()), "{moment}: {children:?}");
    let notes = scene.world.stored().await.notes().of_chat(ChatId(ANN)).unwrap();
    for words in ["milk of the scribe", "a poll was sent"] {
        assert!(notes.iter().filter(|n| n.content == words).count() <= 1, "{moment}: {notes:?}");
    }
    let polls =
        scene.world.telegram.view(|v| v.bot_messages(ANN).iter().filter(|m| !m["poll"].is_null()).count());
    let told = super::results(&last_of(&scene.model, "pollster")).join("\n");
    let is_unknown = told.contains("not known");
    assert!(polls == 1 || (polls == 0 && is_unknown), "{moment}: {polls} polls, told {told}");
    let last = last_of(&scene.model, "boss");
    let told = super::results(&last);
    assert_eq!(told.len(), 2, "{moment}: {told:?}");
    for (agent, words) in [("scribe", "Noted by the scribe"), ("manager", "The manager had them vote")] {
        let heard = told.iter().filter(|t| t.contains(words)).count();
        assert_eq!(heard, 1, "{moment}: the outcome of {agent} is heard once: {told:?}");
    }
}

const AFTER: [u64; 7] = [0, 5, 10, 20, 40, 80, 160];

async fn killed_at(requests: &[usize]) {
    for request in requests {
        for after in AFTER {
            killed(*request, Duration::from_millis(after)).await;
        }
    }
}

#[tokio::test]
async fn a_tree_killed_as_the_boss_asks_is_whole_afterwards() {
    killed_at(&[1]).await;
}

#[tokio::test]
async fn a_tree_killed_while_the_children_work_is_whole_afterwards() {
    killed_at(&[3, 4]).await;
}

#[tokio::test]
async fn a_tree_killed_while_it_gathers_is_whole_afterwards() {
    killed_at(&[5, 7]).await;
}

/// The bot is killed again and again within one turn.
#[tokio::test]
async fn a_tree_killed_many_times_is_whole_afterwards() {
    let world = World::new().await;
    cast(&world);
    let scene = Scene::new(world, tree).await;
    let mut bot = scene.led().await;
    scene.world.say(ANN, ANN, "Have it all done");
    for after in [30, 60, 90, 120, 50, 150] {
        let before = scene.model.requests().len();
        let more = move |requests: &[ModelRequest]| (requests.len() > before).then_some(());
        // Where nothing more is asked, the turn is over.
        if scene.model.wait_until(Duration::from_secs(3), more).await.is_none() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(after)).await;
        bot.kill();
        bot = scene.start().await;
    }
    // A turn may give up after so many deaths; whatever it says, it says it once.
    let is_end = |said: &str| said.contains(END) || said.starts_with('⚠');
    let world = &scene.world;
    let find = |view: &TelegramView<'_>| view.bot_messages(ANN).iter().any(|m| is_end(text(m))).then_some(());
    world.see("an end", find).await;
    scene.is_quiet(&["sendPoll"]).await;
    bot.ends_well().await;
    let texts = world.bot_texts(ANN);
    assert_eq!(texts.iter().filter(|said| is_end(said)).count(), 1, "{texts:?}");
    let children = scene.children().await;
    assert!(children.len() <= 3 && children.iter().all(|c| c.outcome.is_some()), "{children:?}");
    let notes = world.stored().await.notes().of_chat(ChatId(ANN)).unwrap();
    assert!(notes.len() <= 2, "{notes:?}");
    let polls = world.telegram.view(|v| v.bot_messages(ANN).iter().filter(|m| !m["poll"].is_null()).count());
    assert!(polls <= 1, "{polls} polls");
}
