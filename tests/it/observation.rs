//! What a model notes about its answer: stored with it, told by `/why`, gone with it; and the name it gives the session.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::Say;
use serde_json::{Value, json};

use crate::support::scene::{labels, number, text};
use crate::support::{ANN, World};

fn observation(payload: Value) -> ReplyPart {
    ReplyPart::Call {
        name: "action".to_owned(),
        arguments: json!({"type": "observation", "payload": payload}),
    }
}

/// Ann asks, and the model notes these before it answers; gives the answer.
async fn noted(world: &World, words: &str, noted: &[Value]) -> Value {
    for payload in noted {
        world.when(words, ModelReply::turn(vec![observation(payload.clone())]));
    }
    world.when(words, ModelReply::text(&format!("Answer to {words}")));
    world.told(ANN, ANN, words).await
}

/// What `/why` tells of an answer, once it is on record that it was delivered.
async fn why(world: &World, about: &Value) -> String {
    world.caught_up().await;
    let before = world.bot_texts(ANN).len();
    let say = Say::new(ANN, ANN, "/why").reply_to(number(&about["message_id"]));
    world.telegram.send(say).unwrap();
    text(&world.answers(ANN, before + 1).await[before]).to_owned()
}

async fn is_called(world: &World, name: &str) -> bool {
    let card = world.told(ANN, ANN, "/sessions").await;
    labels(&card).iter().any(|label| label.contains(name))
}

#[tokio::test]
async fn what_was_noted_is_told_by_why_and_names_the_session_unless_a_person_did() {
    for provider in ["openai", "compatible", "ollama", "gemini"] {
        let world = World::new().await;
        let bot = world.bot_of(provider).spawn();
        bot.ready().await;
        let first = json!({"confidence": 0.2, "sources": ["the manual"], "session_name": "Pumps\nof Riga"});
        let second = json!({"confidence": 0.85, "risk_level": "high", "sources": ["a.example"], "extra": {"team": "red"}});
        let answer = noted(&world, "is it safe?", &[first, second]).await;
        let told = why(&world, &answer).await;
        for part in [
            "What I noted about the answer:",
            "I am 85 % sure",
            "risk: high",
            "rests on: the manual, a.example",
        ] {
            assert!(told.contains(part), "{provider}, {part}: {told}");
        }
        assert!(is_called(&world, "Pumps of Riga").await, "{provider}");
        noted(&world, "and now?", &[json!({"session_name": "Pumps of Rome"})]).await;
        assert!(is_called(&world, "Pumps of Rome").await, "{provider}: a later one replaces it");

        world.told(ANN, ANN, "/new My own name").await;
        noted(&world, "and here?", &[json!({"session_name": "Not this"})]).await;
        assert!(is_called(&world, "My own name").await && !is_called(&world, "Not this").await, "{provider}");

        let plain = noted(&world, "nothing noted", &[]).await;
        assert!(!why(&world, &plain).await.contains("What I noted"), "{provider}");
        assert_eq!(world.refused(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_was_noted_before_a_kill_is_kept() {
    let world = World::new().await;
    let bot = world.start().await;
    world.when(
        "is it safe?",
        ModelReply::turn(vec![observation(json!({"confidence": 0.5, "flags": ["check"]}))]),
    );
    world.when("is it safe?", ModelReply::text("Yes.").hang_after(0));
    world.when("is it safe?", ModelReply::text("Yes."));
    world.say(ANN, ANN, "is it safe?");
    world.asks(2).await;
    bot.kill();
    let bot = world.start().await;
    let answer = world.answers(ANN, 1).await.remove(0);
    let told = why(&world, &answer).await;
    assert!(told.contains("I am 50 % sure") && told.contains("marked: check"), "{told}");
    bot.ends_well().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_note_is_told_to_the_model_and_nothing_is_kept() {
    let world = World::new().await;
    let _bot = world.start().await;
    let answer = noted(&world, "is it safe?", &[json!({"confidence": 2}), json!({"mood": "good"})]).await;
    let told = world.asks(3).await.body.to_string();
    for complaint in ["confidence is 2; it takes 0 to 1", "unknown field `mood`"] {
        assert!(told.contains(complaint), "{complaint}: {told}");
    }
    assert!(!why(&world, &answer).await.contains("What I noted"));
}

/// An agent that names the tool.
const JUDGE: &str = "type: object
description: Judge.
json_schema_extra: {kind: agent, name: judge, version: 1, tools: [{name: action}]}
";

#[tokio::test]
async fn an_agent_that_names_the_tool_reads_what_can_be_noted_and_a_plain_turn_does_not_pay_for_it() {
    for provider in ["openai", "compatible", "ollama", "gemini"] {
        let world = World::new().await;
        let folder = world.folder.path().join("prompts/agents");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("judge.yaml"), JUDGE).unwrap();
        let bot = world.bot_of(provider).spawn();
        bot.ready().await;
        noted(&world, "in a plain turn", &[]).await;
        world.told(ANN, ANN, "/config agent judge").await;
        noted(&world, "is it safe?", &[json!({"confidence": 1})]).await;
        let tools = |request: usize| world.model.requests()[request - 1].body["tools"].to_string();
        assert!(!tools(1).contains("risk_level"), "{provider}");
        assert!(tools(2).contains("risk_level") && tools(2).contains("moderate"), "{provider}: {}", tools(2));
    }
}

#[tokio::test]
async fn a_name_that_was_noted_is_forgotten_with_its_own_question_and_no_other() {
    let world = World::new().await;
    let _bot = world.start().await;
    noted(&world, "is it safe?", &[json!({"session_name": "Pumps of Riga"})]).await;
    noted(&world, "what else is there?", &[]).await;
    world.caught_up().await;
    for (words, is_kept) in [("what else", true), ("it safe", false)] {
        let card = world.told(ANN, ANN, &format!("/forget {words}")).await;
        let question = labels(&card).into_iter().find(|label| !label.contains("Answer to")).unwrap();
        world.press(ANN, &card, &question).await;
        world.shows(ANN, number(&card["message_id"]), "Forget this message").await;
        world.press(ANN, &card, "Forget").await;
        world.shows(ANN, number(&card["message_id"]), "Forgotten").await;
        assert_eq!(is_called(&world, "Pumps of Riga").await, is_kept, "{words}");
    }
}
