//! A private chat: a message gets its answer, and it is all still there after a restart.

use figaro_offline::model::ModelReply;
use serde_json::json;

use crate::support::{ANN, World};

#[tokio::test]
async fn a_message_gets_its_answer_as_it_is_written_and_formatted() {
    let world = World::new().await;
    world.script.push(
        ModelReply::text("Hello **Ann**, how are `you`?").paced(0, std::time::Duration::from_millis(120)),
    );
    let _bot = world.start().await;
    let answer = world.ask("hello").await;
    assert_eq!(answer["text"], "Hello Ann, how are you?");
    assert_eq!(
        answer["entities"],
        json!([{"type": "bold", "offset": 6, "length": 3}, {"type": "code", "offset": 19, "length": 3}])
    );
    let drafts: Vec<String> = world.telegram.view(|view| {
        view.calls_of("sendMessageDraft")
            .iter()
            .map(|call| call.args["text"].as_str().unwrap().to_owned())
            .collect()
    });
    assert_eq!(drafts.first().map(String::as_str), Some(""), "thinking shows at once");
    assert!(drafts.iter().any(|text| text.starts_with("Hello Ann") && text.len() < 22), "{drafts:?}");
    assert!(drafts.iter().all(|text| !text.contains('*') && !text.contains('`')), "{drafts:?}");
}

#[tokio::test]
async fn the_conversation_goes_on_after_a_restart() {
    let world = World::new().await;
    world.script.push(ModelReply::text("I will keep that in mind."));
    world.script.push(ModelReply::text("Teal."));
    let bot = world.start().await;
    world.ask("My favourite colour is teal.").await;
    bot.ends_well().await;
    let _again = world.start().await;
    assert_eq!(world.ask("Which colour do I like?").await["text"], "Teal.");
    let requests = world.model.requests();
    let texts: Vec<String> = requests[1].input().iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(
        texts[0].contains("favourite colour is teal") && texts[1].contains("keep that in mind"),
        "{texts:?}"
    );
    assert_eq!(world.bot_texts(ANN).len(), 2);
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back_to_the_model() {
    let world = World::new().await;
    world.script.push(ModelReply::call("add_note", json!({"key": "Shopping", "content": "milk"})));
    world.script.push(ModelReply::text("Milk is on the list."));
    let _bot = world.start().await;
    assert_eq!(world.ask("remember milk").await["text"], "Milk is on the list.");
    let requests = world.model.requests();
    let results = requests[1].tool_results();
    assert_eq!(results.len(), 1);
    assert!(results[0].1.contains("success"), "{results:?}");
}

#[tokio::test]
async fn an_answer_that_is_there_at_once_needs_no_draft_and_a_slow_one_has_its_own() {
    let world = World::new().await;
    let bot = world.start().await;
    let drafts = || world.telegram.view(|view| view.calls_of("sendMessageDraft").len());
    let mut without = 0;
    for number in 0..8 {
        world.script.push(ModelReply::text(&format!("At once {number}.")));
        let before = drafts();
        world.ask("quick").await;
        without += usize::from(drafts() == before);
    }
    // A busy machine may take longer than that for one of them.
    assert!(without >= 4, "{without} of 8");
    let before = drafts();
    world.script.push(
        ModelReply::text("Slowly, word by word, it comes.").paced(4, std::time::Duration::from_millis(60)),
    );
    world.ask("slow").await;
    assert!(drafts() > before);
    bot.ends_well().await;
}
