//! What is known of people reaches the model where it says more than their message: how they want to be called, their own
//! zone and language, that they own the bot. What was said in private stays there.

use figaro_base::ids::UserId;
use figaro_domain::profile::PersonRole;
use figaro_offline::model::ModelReply;
use serde_json::json;

use super::task_tools::scene;
use crate::support::calls::{error, find_and_call};
use crate::support::scene::TEAM;
use crate::support::{ANN, BOB, World};

/// What the model is told of whoever asks, beside their message.
async fn told_of(world: &World, from: i64, chat: i64, words: &str) -> Option<String> {
    world.when(words, ModelReply::text(&format!("Answer to {words}")));
    world.say(from, chat, &format!("@figaro_bot {words}"));
    crate::support::calls::says(world, chat, &format!("Answer to {words}")).await;
    let asked = world.asked().into_iter().find(|request| request.user_text().contains(words)).unwrap();
    asked.user_text().lines().find(|line| line.starts_with("<asked_by")).map(str::to_owned)
}

#[tokio::test]
async fn what_a_person_asks_for_stands_in_their_later_questions_where_they_said_it() {
    let (world, bot) = scene().await;
    assert_eq!(told_of(&world, BOB, BOB, "first of all").await, None, "his message says all");
    assert_eq!(
        told_of(&world, ANN, ANN, "an owner").await.unwrap(),
        "<asked_by role=\"owner of this bot\"/>"
    );

    let wish = json!({"name": " Bobby  <b>\"B\" ", "timezone": "New York", "language": "Latvian"});
    let done = find_and_call(&world, (BOB, BOB), "call me Bobby", ("set_profile", wish)).await;
    assert_eq!(done["success"], true, "{done}");
    assert_eq!(
        (&done["name"], &done["timezone"]),
        (&json!("Bobby &lt;b>\"B\""), &json!("America/New_York")),
        "{done}"
    );
    let told = told_of(&world, BOB, BOB, "and now").await.unwrap();
    for part in [
        "call_them=\"Bobby &lt;b&gt;&quot;B&quot;\"",
        "answer_in=\"Latvian\"",
        "their_zone=\"America/New_York\"",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert!(told.contains("there_now=\"") && !told.contains("owner"), "{told}");
    assert_eq!(told_of(&world, BOB, TEAM, "in the group").await, None, "it was said in private");
    assert_eq!(
        told_of(&world, ANN, TEAM, "the owner there").await.unwrap(),
        "<asked_by role=\"owner of this bot\"/>"
    );

    let done =
        find_and_call(&world, (BOB, TEAM), "call me Chief here", ("set_profile", json!({"name": "Chief"})))
            .await;
    assert_eq!(done["name"], "Chief", "{done}");
    assert_eq!(
        told_of(&world, BOB, TEAM, "once more there").await.unwrap(),
        "<asked_by call_them=\"Chief\"/>"
    );
    let gone = json!({"name": null, "timezone": null, "language": null});
    find_and_call(&world, (BOB, BOB), "forget all that", ("set_profile", gone)).await;
    let told = told_of(&world, BOB, BOB, "what is left").await.unwrap();
    assert_eq!(told, "<asked_by call_them=\"Chief\"/>", "what he said in the group holds in his own chat");

    let long = json!({"name": "x".repeat(65)});
    let refused = find_and_call(&world, (BOB, BOB), "a long name", ("set_profile", long)).await;
    assert!(error(&refused).contains("at most 64"), "{refused}");
    bot.ends_well().await;
    let store = world.stored().await;
    let [ann, bob] = [ANN, BOB].map(UserId::telegram);
    let (ann, bob) =
        (store.profiles().find(&ann).unwrap().unwrap(), store.profiles().find(&bob).unwrap().unwrap());
    assert_eq!((ann.role, bob.role), (PersonRole::Owner, PersonRole::Member));
    assert_eq!((bob.names.shown.as_str(), bob.names.username.as_deref()), ("Bob", Some("bob")));
    assert_eq!(bob.language.as_deref(), Some("en"));
    assert!(bob.first_seen <= bob.last_seen);
}

#[tokio::test]
async fn words_of_somebody_else_change_nobodys_profile() {
    let (world, _bot) = scene().await;
    world.when("from bob", ModelReply::text("Yes, Bob."));
    world.say(BOB, TEAM, "@figaro_bot from bob");
    crate::support::calls::says(&world, TEAM, "Yes, Bob.").await;
    // Ann has Bob's question tried again: it is answered with nobody's rights.
    world.when("from bob", ModelReply::call("find_tools", json!({"query": "set_profile"})));
    world.when("from bob", ModelReply::call("set_profile", json!({"name": "Boss"})));
    world.when("from bob", ModelReply::text("Dealt with."));
    world.say(ANN, TEAM, "/retry@figaro_bot");
    let told = crate::support::calls::results(&world, "from bob", 2, (TEAM, "Dealt with.")).await;
    assert!(error(&told[1]).contains("only a person can change this"), "{told:?}");
    assert_eq!(
        told_of(&world, ANN, TEAM, "and Ann").await.unwrap(),
        "<asked_by role=\"owner of this bot\"/>"
    );
}
