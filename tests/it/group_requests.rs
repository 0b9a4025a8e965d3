//! Topics, polls and checklists of a group: made, changed and ended on request, and read as words.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, Say};
use serde_json::json;

use crate::support::calls::{call, calls, find_and_call, says};
use crate::support::scene::{TEAM, number};
use crate::support::{ANN, BOB, World};

const FORUM: i64 = -1_001_234_567_890;

#[tokio::test]
async fn a_topic_is_opened_and_renamed_once_an_admin_has_approved_it() {
    let world = World::new().await;
    world.telegram.add_forum(FORUM, "Forum");
    world.join(FORUM);
    world.telegram.set_member(FORUM, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let _bot = world.start_open().await;
    let approved = async |said: &str, tool: &str, arguments| {
        world.when(said, ModelReply::call("find_tools", json!({"query": tool})));
        world.when(said, ModelReply::call(tool, arguments));
        world.when(said, ModelReply::text(&format!("Done: {said}")));
        let cards = world.cards(FORUM);
        world.say(ANN, FORUM, &format!("@figaro_bot {said}"));
        let card = world.card_after(FORUM, cards).await;
        world.press(ANN, &card, "✓ Once").await;
        says(&world, FORUM, &format!("Done: {said}")).await;
    };
    approved("open a topic for the fair", "createForumTopic", json!({"name": "Fair"})).await;
    let topic = world.telegram.view(|view| {
        let made = view.calls_of("createForumTopic").into_iter().find(|call| call.ok)?;
        assert_eq!(made.args["name"], "Fair");
        let named = |m: &&serde_json::Value| m["forum_topic_created"]["name"] == "Fair";
        view.messages(FORUM).into_iter().find(named).map(|m| number(&m["message_thread_id"]))
    });
    let rename = json!({"message_thread_id": topic.unwrap(), "name": "Autumn fair"});
    approved("call it the autumn fair", "editForumTopic", rename).await;
    let renamed = world.telegram.view(|view| view.calls_of("editForumTopic").into_iter().any(|call| call.ok));
    assert!(renamed);
}

#[tokio::test]
async fn a_poll_is_made_and_closed_and_its_votes_are_told() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let poll = json!({"question": "Where do we eat?", "options": [{"text": "Mill"}, {"text": "Harbour"}], "is_anonymous": false});
    let sent = calls(&world, (BOB, TEAM), "a poll about lunch", vec![("sendPoll", poll)]).await.remove(0);
    let id = &sent["result"]["message_id"];
    let closed =
        find_and_call(&world, (BOB, TEAM), "close it", ("stopPoll", json!({"message_id": id}))).await;
    let result = &closed["result"];
    assert_eq!(
        (&result["is_closed"], &result["options"][1]["text"]),
        (&json!(true), &json!("Harbour")),
        "{closed}"
    );
    assert_eq!(result["options"][1]["voter_count"], 0, "{closed}");
}

#[tokio::test]
async fn polls_and_checklists_of_people_are_read_as_words() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start_open().await;
    let poll = json!({"id": "1", "question": "Lunch?", "total_voter_count": 3, "is_closed": true, "type": "regular",
        "options": [{"text": "Soup", "voter_count": 2}, {"text": "Rye", "voter_count": 1}]});
    let poll = world.telegram.send(Say::new(ANN, TEAM, "").field("poll", poll)).unwrap();
    let list = json!({"title": "Fair", "tasks": [{"id": 1, "text": "Borrow a tent"}, {"id": 2, "text": "Print signs"}]});
    let sent = world.telegram.send(Say::new(ANN, TEAM, "").field("checklist", list.clone())).unwrap();
    let message = json!({"message_id": sent.message_id, "date": 5, "chat": {"id": TEAM, "type": "supergroup"}, "checklist": list});
    let done = json!({"checklist_message": message, "marked_as_done_task_ids": [2]});
    world.telegram.send(Say::new(BOB, TEAM, "").field("checklist_tasks_done", done)).unwrap();
    let ask = Say::new(BOB, TEAM, "@figaro_bot what won?").reply_to(poll.message_id);
    world.telegram.send(ask).unwrap();
    world.answers(TEAM, 1).await;
    let prompt = world.asks(1).await.user_text();
    let poll = "poll\" name=\"Lunch? (Soup: 2 / Rye: 1) closed, votes: 3\"";
    assert_eq!(prompt.matches(poll).count(), 2, "around the question, and as what it replies to: {prompt}");
    assert!(prompt.contains("Checklist: Fair") && prompt.contains("Borrow a tent"), "{prompt}");
    assert!(prompt.contains("now done: Print signs"), "{prompt}");
}

#[tokio::test]
async fn a_checklist_is_made_in_a_business_chat_and_elsewhere_the_model_is_told_why_not() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let list = json!({"title": "Fair", "tasks": [{"id": 1, "text": "Borrow a tent"}]});
    let wanted = ("sendChecklist", json!({"checklist": list}));
    let told = find_and_call(&world, (ANN, TEAM), "a checklist for the fair", wanted).await;
    assert_eq!(told["success"], false, "{told}");
    assert!(told["error"].as_str().unwrap().contains("business_connection_id"), "{told}");
    // Figaro's own lists do.
    let told = call(
        &world,
        (ANN, TEAM),
        "then a list",
        "add_note",
        json!({"key": "fair", "content": "Borrow a tent"}),
    )
    .await;
    assert_eq!(told["success"], true, "{told}");
}
