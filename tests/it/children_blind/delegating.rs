//! `action` of type `delegate`: the named agent answers the person in place of the turn.

use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::TelegramView;

use super::{Scene, agent, asks, hands_over, is_of, last_of, results};
use crate::support::scene::text;
use crate::support::{ANN, World};

fn cast(world: &World) {
    agent(world, "boss", &["agents: [expert, helper]", "tools: [{name: ask_agent}, {name: action}]"]);
    agent(world, "expert", &[]);
    agent(world, "helper", &["agents: [expert]", "tools: [{name: action}]"]);
    agent(world, "stranger", &[]);
}

/// Whether these words were on the screen of Ann, in a draft that is there or a message.
fn is_shown(view: &TelegramView<'_>, words: &str) -> bool {
    let drafts = view.calls_of("sendMessageDraft");
    let in_draft = drafts.iter().any(|c| serde_json::to_string(&c.args).unwrap().contains(words));
    in_draft || view.bot_messages(ANN).iter().any(|m| text(m).contains(words))
}

/// The words of the first agent come before its call; they are not the answer.
#[tokio::test]
async fn the_named_agent_answers_in_place_of_the_turn() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        if is_of(request, "expert") {
            return ModelReply::text("The expert answers you.");
        }
        match request.tool_results().len() {
            0 => ModelReply::turn(vec![hands_over("expert", "Take over, please.")]),
            _ => ModelReply::text("The boss speaks after all."),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    let before = scene.world.bot_texts(ANN).len();
    scene.world.say(ANN, ANN, "Who knows?");
    scene.says(ANN, "The expert answers you.").await;
    scene.is_quiet(&["sendMessage"]).await;
    assert_eq!(scene.world.bot_texts(ANN)[before..], ["The expert answers you."]);
    assert!(!scene.world.telegram.view(|view| is_shown(view, "The boss speaks")));
    assert!(
        scene.model.requests().iter().any(|r| is_of(r, "expert") && r.body.to_string().contains("Take over"))
    );
    // The next message is the boss's again, and knows what was answered.
    scene.world.say(ANN, ANN, "And now?");
    scene.asked("boss", 2).await;
    let next = last_of(&scene.model, "boss");
    assert!(next.body.to_string().contains("The expert answers you."), "{}", next.body);
    bot.ends_well().await;
}

#[tokio::test]
async fn where_the_named_agent_fails_the_first_one_answers() {
    for fails in [ModelReply::status(400, "broken"), ModelReply::empty()] {
        let world = World::new().await;
        cast(&world);
        let brain = move |request: &ModelRequest| {
            if is_of(request, "expert") {
                return fails.clone();
            }
            match request.tool_results().len() {
                0 => ModelReply::turn(vec![hands_over("expert", "Take over.")]),
                _ => ModelReply::text("The boss answers instead."),
            }
        };
        let scene = Scene::new(world, brain).await;
        let bot = scene.led().await;
        scene.world.say(ANN, ANN, "Who knows?");
        scene.says(ANN, "The boss answers instead.").await;
        let told = results(&last_of(&scene.model, "boss"));
        assert!(told[0].contains("false"), "{told:?}");
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn only_agents_that_are_listed_can_take_over() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| match request.tool_results().len() {
        0 => ModelReply::turn(
            ["stranger", "boss", "nobody", "", "../boss", "Expert"].map(|n| hands_over(n, "Go.")).to_vec(),
        ),
        _ => ModelReply::text("None of them could."),
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Who knows?");
    scene.says(ANN, "None of them could.").await;
    for told in results(&last_of(&scene.model, "boss")) {
        assert!(told.contains("\"success\":false"), "{told}");
    }
    assert_eq!(super::count(&scene.model, "stranger") + super::count(&scene.model, "expert"), 0);
    bot.ends_well().await;
    assert_eq!(scene.children().await.len(), 0);
}

/// Nobody can take over a child's place before the person: whatever the call comes to, the boss answers, once.
#[tokio::test]
async fn a_delegate_inside_a_child_does_not_answer_the_person() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        if is_of(request, "expert") {
            return ModelReply::text("The expert's words for nobody.");
        }
        let first = request.tool_results().is_empty();
        match (is_of(request, "helper"), first) {
            (true, true) => ModelReply::turn(vec![hands_over("expert", "Take over.")]),
            (true, false) => ModelReply::text("The helper could not hand over."),
            (false, true) => ModelReply::turn(vec![asks("helper", "Help.")]),
            (false, false) => ModelReply::text("That is what came of it."),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    let before = scene.world.bot_texts(ANN).len();
    scene.world.say(ANN, ANN, "Help me");
    scene.says(ANN, "That is what came of it.").await;
    scene.is_quiet(&["sendMessage"]).await;
    assert_eq!(scene.world.bot_texts(ANN)[before..], ["That is what came of it."]);
    assert!(!scene.world.telegram.view(|view| is_shown(view, "for nobody")));
    bot.ends_well().await;
}

/// Two at once, and one beside a plain call: one answer, of one agent.
#[tokio::test]
async fn two_that_take_over_at_once_give_one_answer() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        let says = |words: &str| ModelReply::text(words);
        if is_of(request, "expert") {
            return says("One answer: of the expert.");
        }
        if is_of(request, "helper") {
            return says("One answer: of the helper.");
        }
        match request.tool_results().len() {
            0 => {
                let both: Vec<ReplyPart> = vec![hands_over("expert", "Go."), hands_over("helper", "Go.")];
                ModelReply::turn(both)
            }
            _ => says("One answer: of the boss."),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "Who knows?");
    scene.says(ANN, "One answer").await;
    scene.is_quiet(&["sendMessage"]).await;
    let all = scene.world.bot_texts(ANN).join("\n");
    assert_eq!(all.matches("One answer").count(), 1, "{all}");
    bot.ends_well().await;
}
