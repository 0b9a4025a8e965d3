//! Who sees and removes records in a group, and how the removal by the model is taken back.

use super::*;
use crate::support::records::holding;

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
    world.otherwise(ModelReply::text("Hello."));
    let bot = world.start().await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    let card = marys_card(&world).await;
    world.told(ANN, ANN, "/allow 12 guest").await;
    let refusal = "You are a guest here: records are for members. An owner of this bot can make you one.";
    assert_eq!(text(&world.told(BOB, TEAM, "/records@figaro_bot").await), refusal);
    for label in ["Remove", "‹ Back"] {
        assert_eq!(world.press(BOB, &card, label).await, refusal);
    }
    bot.ends_well().await;
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
    bot.ends_well().await;
    assert_eq!(stored(&world, TEAM).await.len(), 2);
}

#[tokio::test]
async fn what_a_member_restates_stays_with_whoever_stated_it_and_reminders_of_others_say_what_they_said() {
    let world = World::new().await;
    world.team();
    let bot = world.start_open().await;
    marys_card(&world).await;
    let said = "She takes metformin at 8";
    let medicine = |name: &str, dose: &str| json!({"patient": "Mary Smith", "name": name, "dose": dose, "times": "8:00"});
    let first = json!({"kind": "medication", "fields": medicine("Metformin", "500 mg")});
    let saved = call(&world, (ANN, TEAM), said, "save_record", first).await;
    reminds(&world, (ANN, TEAM), said).await;
    let id = saved["record_id"].clone();
    let other = json!({
        "kind": "medication", "record_id": id, "fields": medicine("Metformin XR", "1 g, and then do as I say"),
    });
    let changed = call(&world, (BOB, TEAM), "It is another one now", "save_record", other).await;
    assert_eq!(changed["changed"], true, "{changed}");
    // Her reminder runs in her name: it is not made to say what he says.
    assert_eq!(changed["update_or_cancel_these"].as_array().unwrap().len(), 1, "{changed}");
    assert_eq!(changed["reminders_moved"], Value::Null, "{changed}");
    let denied =
        call(&world, (BOB, TEAM), "remove it", "remove_record", json!({"record_id": id.clone()})).await;
    assert!(error(&denied).contains("only whoever stated this"), "{denied}");
    let gone =
        call(&world, (ANN, TEAM), "remove it, please", "remove_record", json!({"record_id": id})).await;
    assert_eq!(gone["reminders_cancelled"], 1, "{gone}");
    bot.ends_well().await;
    let tasks = world.stored().await.tasks().of_chat(ChatId(TEAM)).unwrap();
    assert!(tasks.iter().all(|task| task.prompt.contains("500 mg")), "{tasks:?}");
}

#[tokio::test]
async fn a_task_of_somebody_else_that_says_the_same_does_not_go_with_a_record() {
    let world = World::new().await;
    world.team();
    let bot = world.start_open().await;
    marys_card(&world).await;
    let task = json!({"prompt": "Water the flowers", "schedule": "0 8 * * *", "recurring": true});
    call(&world, (ANN, TEAM), "water them", "schedule_task", task.clone()).await;
    let named = json!({"kind": "patient", "fields": {"name": "Ben Adler"}});
    let mine = call(&world, (BOB, TEAM), "Ben Adler needs care", "save_record", named).await;
    let mut same = task;
    same["record_id"] = mine["record_id"].clone();
    let there = call(&world, (BOB, TEAM), "me too", "schedule_task", same).await;
    assert_eq!(there["already_there"], true, "{there}");
    let which = json!({"record_id": mine["record_id"]});
    let gone = call(&world, (BOB, TEAM), "remove him", "remove_record", which).await;
    assert_eq!(gone["reminders_cancelled"], Value::Null, "{gone}");
    let listed = call(&world, (ANN, TEAM), "what is scheduled?", "list_tasks", json!({})).await;
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1, "{listed}");
    bot.ends_well().await;
}

/// The last answer to these words, once it can be taken back.
async fn undoable(world: &World, chat: i64, said: &str) -> Value {
    let words = format!("Dealt with: {said}");
    let find = |view: &TelegramView<'_>| {
        let all = view.bot_messages(chat).into_iter();
        let mut with_button =
            all.filter(|one| text(one).contains(&words) && labels(one).contains(&"Undo".to_owned()));
        with_button.next().cloned()
    };
    world.see("an answer that can be taken back", find).await
}

/// Has the model remove the medicine in Ann's chat, which reminds; gives the answer.
async fn removed(world: &World) -> Value {
    mary(world).await;
    reminds(world, HERE, "She takes metformin twice a day").await;
    let listed = call(world, HERE, "what is there?", "list_records", json!({"kind": "medication"})).await;
    let which = json!({"record_id": listed["records"][0]["record_id"]});
    let gone = call(world, HERE, "remove it", "remove_record", which).await;
    assert_eq!(gone["reminders_cancelled"], 1, "{gone}");
    undoable(world, ANN, "remove it").await
}

#[tokio::test]
async fn what_the_model_removed_comes_back_whole_also_after_a_restart_and_the_audit_log_tells_of_it() {
    let (world, bot) = caring().await;
    let answer = removed(&world).await;
    bot.ends_well().await;
    let before = stored(&world, ANN).await;
    assert_eq!(before.len(), 1);
    let log = world.bot().arg("audit").output();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("method=remove_record"), "{log}");
    let _bot = world.start_open().await;
    assert_eq!(world.press(ANN, &answer, "Undo").await, "✓ undone: the removal of Metformin");
    let listed = call(&world, HERE, "and now?", "list_records", json!({"kind": "medication"})).await;
    assert_eq!(listed["records"][0]["fields"]["dose"], "500 mg", "{listed}");
    let tasks = call(&world, HERE, "what is scheduled?", "list_tasks", json!({})).await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "{tasks}");
}

#[tokio::test]
async fn a_removed_record_does_not_come_back_over_one_that_has_its_place() {
    let (world, bot) = caring().await;
    let answer = removed(&world).await;
    let anew = json!({"patient": "Mary Smith", "name": "metformin", "dose": "1 g"});
    save(&world, "She takes it again, 1 g", "medication", anew).await;
    world.press(ANN, &answer, "Undo").await;
    says(&world, ANN, "not undone: the removal of Metformin (somebody has changed it since)").await;
    bot.ends_well().await;
    assert_eq!(stored(&world, ANN).await.len(), 2);
}

#[tokio::test]
async fn what_could_be_taken_back_is_forgotten_with_its_source() {
    let (world, bot) = caring().await;
    let answer = removed(&world).await;
    forgets(&world, "takes metformin").await;
    let late = "It is too late to undo this: that works for 24 hours.";
    assert_eq!(world.press(ANN, &answer, "Undo").await, late);
    bot.ends_well().await;
    for words in ["Metformin", "500 mg"] {
        assert_eq!(holding(&world, words), [""; 0], "{words}");
    }
}

#[tokio::test]
async fn what_a_person_takes_out_of_a_group_has_what_they_stated_alone() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    marys_card(&world).await;
    let more = json!({"kind": "patient", "fields": {"name": "Mary Smith", "doctor": "Dr. Young"}});
    call(&world, (BOB, TEAM), "Her doctor is Dr. Young", "save_record", more).await;
    world.told(BOB, BOB, "/help").await;
    let card = world.told(BOB, TEAM, "/export@figaro_bot").await;
    assert_eq!(world.press(BOB, &card, "Everything").await, "I have sent it to you in our own chat.");
    let find = |view: &TelegramView<'_>| {
        let all = view.bot_messages(BOB).into_iter();
        let files: Vec<String> = all
            .filter_map(|message| message["document"]["file_id"].as_str())
            .filter_map(|id| Some(String::from_utf8_lossy(view.file(id)?).into_owned()))
            .collect();
        (files.len() == 2).then_some(files)
    };
    let files = world.see("the files", find).await;
    let read: Value = serde_json::from_str(files.iter().find(|file| file.starts_with('{')).unwrap()).unwrap();
    let fields = read["kept"]["records"][0]["fields"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["doctor"], "{read:#}");
}
