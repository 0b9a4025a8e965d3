//! Who sees and removes records in a group.

use super::*;

/// The group with the pack for the elderly, in which Ann has stated Mary, and a card of Ann's that shows her.
async fn marys_card(world: &World) -> Value {
    choose(world, (ANN, TEAM), "Care of the elderly").await;
    let named = json!({"kind": "patient", "fields": {"name": "Mary Smith"}});
    call(world, (ANN, TEAM), "Mary Smith needs care", "save_record", named).await;
    opened(world, ANN, "Mary Smith").await
}

/// Somebody opens a patient in the group.
async fn opened(world: &World, who: i64, name: &str) -> Value {
    let card = world.told(who, TEAM, "/records@figaro_bot").await;
    let id = number(&card["message_id"]);
    world.press(who, &card, "Patient").await;
    world.shows(TEAM, id, "Patient").await;
    world.press(who, &card, name).await;
    world.shows(TEAM, id, &format!("Patient: {name}")).await
}

#[tokio::test]
async fn guests_of_a_group_see_no_records_and_change_none() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(Reply::text("Hello."));
    let bot = world.start().await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    let card = marys_card(&world).await;
    world.told(ANN, ANN, "/allow 12 guest").await;
    let refusal = "You are a guest here: records are for members. An owner of this bot can make you one.";
    assert_eq!(text(&world.told(BOB, TEAM, "/records@figaro_bot").await), refusal);
    for label in ["Remove", "‹ Back"] {
        assert_eq!(world.press(BOB, &card, label).await, refusal);
    }
    assert!(bot.stop().success());
    assert_eq!(stored(&world, TEAM).await.len(), 1);
}

#[tokio::test]
async fn in_a_group_whoever_stated_a_record_or_an_admin_removes_it() {
    let world = World::new().await;
    world.team();
    let bot = world.start_open().await;
    let card = marys_card(&world).await;
    let refusal = "Only whoever said this, or an admin of this chat, can remove it.";
    assert_eq!(world.press(BOB, &card, "Remove").await, refusal);
    let id = number(&card["message_id"]);
    // The question is Ann's; who presses is judged anew.
    world.press(ANN, &card, "Remove").await;
    let question = world.shows(TEAM, id, "Remove “Mary Smith”?").await;
    assert_eq!(world.press(BOB, &question, "Remove").await, refusal);
    let listed = call(&world, (BOB, TEAM), "who is there?", "list_records", json!({})).await;
    let which = json!({"record_id": listed["records"][0]["record_id"]});
    let denied = call(&world, (BOB, TEAM), "remove her", "remove_record", which).await;
    assert!(error(&denied).contains("only whoever stated this"), "{denied}");

    let named = json!({"kind": "patient", "fields": {"name": "Ben Adler"}});
    call(&world, (BOB, TEAM), "Ben Adler needs care", "save_record", named).await;
    let card = opened(&world, BOB, "Ben Adler").await;
    world.press(BOB, &card, "Remove").await;
    let question = world.shows(TEAM, number(&card["message_id"]), "Remove “Ben Adler”?").await;
    world.press(BOB, &question, "Remove").await;
    let done = world.shows(TEAM, number(&card["message_id"]), "Removed: Ben Adler").await;
    world.press(ANN, &done, "Undo").await;
    world.shows(TEAM, number(&card["message_id"]), "Patient: Ben Adler").await;
    assert!(bot.stop().success());
    assert_eq!(stored(&world, TEAM).await.len(), 2);
}
