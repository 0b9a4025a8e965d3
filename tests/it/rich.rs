//! What people say and do outside of texts and captions: rich messages, checklists, stories, notes of Telegram's own. The model
//! reads it, and a mention in it counts.

use figaro_offline::model::{ModelReply, ReplyPart};
use serde_json::{Value, json};

use crate::support::calls::says;
use crate::support::scene::TEAM;
use crate::support::{ANN, BOB, World};

fn now() -> i64 {
    super::task_tools::now().timestamp()
}

/// Somebody's message with this content, as Telegram sends it.
fn sends(world: &World, (from, chat): (i64, i64), id: i64, content: Value) {
    let chat = match chat {
        TEAM => json!({"id": TEAM, "type": "supergroup", "title": "Team"}),
        private => json!({"id": private, "type": "private", "first_name": "Ann"}),
    };
    let name = if from == BOB { "Bob" } else { "Ann" };
    let from = json!({"id": from, "is_bot": false, "first_name": name, "language_code": "en"});
    let mut message = json!({"message_id": id, "date": now(), "chat": chat, "from": from});
    message.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
    world.telegram.push_raw(json!({ "message": message }));
}

fn paragraph(text: Value) -> Value {
    json!({"rich_message": {"blocks": [{"type": "paragraph", "text": text}]}})
}

#[tokio::test]
async fn a_rich_message_is_a_question_with_its_words() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.when("Rye on Mondays", ModelReply::text("Noted the hours."));
    let blocks = json!([
        {"type": "heading", "size": 1, "text": "Bakery hours"},
        {"type": "paragraph", "text": ["Open from ", {"type": "bold", "text": "six"}, " to noon."]},
        {"type": "list", "items": [
            {"label": "1.", "blocks": [{"type": "paragraph", "text": "Rye on Mondays"}]},
            {"label": "2.", "has_checkbox": true, "is_checked": true, "blocks": [{"type": "paragraph", "text": "Order flour"}]},
        ]},
        {"type": "table", "cells": [[{"text": "Rye", "is_header": true}], [{"text": "4.20"}]]},
    ]);
    sends(&world, (ANN, ANN), 900, json!({"rich_message": {"blocks": blocks}}));
    says(&world, ANN, "Noted the hours.").await;
    let prompt = world.asks(1).await.user_text();
    let words =
        "# Bakery hours\nOpen from six to noon.\n1. Rye on Mondays\n2. [x] Order flour\n| Rye |\n| 4.20 |";
    assert!(prompt.contains(words), "{prompt}");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_mention_in_a_rich_message_addresses_the_bot_in_a_group() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    world.when("3 dozen", ModelReply::text("36 loaves."));
    sends(&world, (BOB, TEAM), 900, paragraph(json!("Rich words to nobody")));
    let mention = json!({"type": "mention", "text": "@figaro_bot", "username": "figaro_bot"});
    sends(&world, (ANN, TEAM), 901, paragraph(json!([mention, " how many loaves are 3 dozen?"])));
    says(&world, TEAM, "36 loaves.").await;
    let prompt = world.asks(1).await.user_text();
    assert!(
        prompt.contains("how many loaves are 3 dozen?") && prompt.contains(">Rich words to nobody"),
        "{prompt}"
    );
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn a_checklist_and_what_is_ticked_on_it_are_known() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    let tasks = json!([{"id": 1, "text": "Borrow a tent"}, {"id": 2, "text": "Print signs"}]);
    let list = json!({"title": "For the fair", "tasks": tasks});
    world.when("For the fair", ModelReply::text("I see the list."));
    sends(&world, (ANN, ANN), 900, json!({ "checklist": list }));
    says(&world, ANN, "I see the list.").await;
    let prompt = world.asks(1).await.user_text();
    assert!(prompt.contains("Checklist: For the fair\n[ ] Borrow a tent\n[ ] Print signs"), "{prompt}");

    world.when("What is left to do?", ModelReply::text("The tent."));
    let message = json!({"message_id": 900, "date": now(), "chat": {"id": ANN, "type": "private"},
        "from": {"id": ANN, "is_bot": false, "first_name": "Ann"}, "checklist": list});
    let done = json!({"checklist_message": message, "marked_as_done_task_ids": [2]});
    sends(&world, (ANN, ANN), 901, json!({ "checklist_tasks_done": done }));
    sends(&world, (ANN, ANN), 902, json!({"text": "What is left to do?"}));
    says(&world, ANN, "The tent.").await;
    let request = world.asks(2).await;
    let (all, prompt) = (super::history::texts(&request).join("\n"), request.user_text());
    assert!(
        prompt.contains("kind=\"checklist tasks done\" name=\"For the fair, now done: Print signs\""),
        "{prompt}"
    );
    assert!(all.contains("[ ] Borrow a tent\n[x] Print signs (done by Ann)"), "{all}");
    assert_eq!(world.asked().len(), 2, "nobody is answered for a tick");
}

#[tokio::test]
async fn a_story_that_is_answered_and_kinds_of_which_only_the_name_is_known_are_told() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.otherwise(ModelReply::text("I cannot see it."));
    let story = json!({"chat": {"id": 12, "type": "private", "first_name": "Ida"}, "id": 9});
    sends(&world, (ANN, ANN), 900, json!({"text": "how was that made?", "reply_to_story": story}));
    let prompt = world.asks(1).await.user_text();
    assert!(prompt.contains("<replies_to from=\"Ida\">\n<attached kind=\"story\"/>"), "{prompt}");
    sends(&world, (ANN, ANN), 901, json!({"hologram": {"title": "Old mill", "depth": 3}}));
    let prompt = world.asks(2).await.user_text();
    assert!(prompt.contains("<attached kind=\"hologram\" name=\"Old mill, depth 3\"/>"), "{prompt}");
    sends(&world, (ANN, ANN), 902, json!({"dice": {"emoji": "🎲", "value": 4}}));
    let prompt = world.asks(3).await.user_text();
    assert!(prompt.contains("<attached kind=\"dice\" name=\"🎲, value 4\"/>"), "{prompt}");
}

#[tokio::test]
async fn emphasis_beside_full_width_punctuation_is_bold() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let answer = "请看**通知：**明天停电。\n\n他说**“好的”**就走了。\n\n**注意！**别忘了带伞。\n\nControl: **bold** stays.";
    let pieces = answer.chars().collect::<Vec<_>>();
    let pieces = pieces.chunks(7).map(|piece| ReplyPart::Text(piece.iter().collect())).collect();
    world.when("会停电吗", ModelReply::text(answer));
    world.when("再说一遍", ModelReply::turn(pieces));
    for (chat, words) in [(ANN, "会停电吗?"), (TEAM, "@figaro_bot 再说一遍")] {
        world.say(ANN, chat, words);
        let said = says(&world, chat, "stays.").await;
        let text = said["text"].as_str().unwrap();
        assert!(!text.contains('*'), "{text}");
        let units: Vec<u16> = text.encode_utf16().collect();
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let bold = said["entities"].as_array().unwrap().iter().filter(|entity| entity["type"] == "bold");
        let bold = bold.map(|entity| {
            let start = number(&entity["offset"]);
            String::from_utf16(&units[start..start + number(&entity["length"])]).unwrap()
        });
        assert_eq!(bold.collect::<Vec<_>>(), ["通知：", "“好的”", "注意！", "bold"]);
    }
}

#[tokio::test]
async fn what_people_do_in_a_group_is_background_and_nothing_to_answer() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    let eve = json!({"id": 77, "is_bot": false, "first_name": "Eve"});
    sends(&world, (BOB, TEAM), 900, json!({ "new_chat_members": [eve] }));
    let pinned = json!({"message_id": 3, "date": now(), "chat": {"id": TEAM, "type": "supergroup"},
        "from": {"id": BOB, "first_name": "Bob"}, "text": "Buns on Friday"});
    sends(&world, (BOB, TEAM), 901, json!({ "pinned_message": pinned }));
    sends(&world, (BOB, TEAM), 902, json!({"new_chat_title": "Team of five"}));
    world.when("what happened", ModelReply::text("Eve came."));
    world.say(ANN, TEAM, "@figaro_bot what happened?");
    says(&world, TEAM, "Eve came.").await;
    let prompt = world.asks(1).await.user_text();
    for told in [
        "kind=\"new chat members\" name=\"Eve\"",
        "kind=\"pinned message\" name=\"Buns on Friday (by Bob)\"",
        "kind=\"new chat title\" name=\"Team of five\"",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!((world.asked().len(), world.bot_texts(TEAM).len()), (1, 1));
    let pinned = json!({"message_id": 5, "date": now(), "chat": {"id": -77, "type": "group"}, "text": "x"});
    sends(&world, (ANN, ANN), 903, json!({ "pinned_message": pinned }));
    world.caught_up().await;
    assert_eq!(world.asked().len(), 1);
}
