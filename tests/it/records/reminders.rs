//! Reminders of records.

use super::*;

#[tokio::test]
async fn a_button_reminds_of_a_record_and_what_is_removed_offers_to_cancel_it() {
    let (world, bot) = caring().await;
    world.told(ANN, ANN, "/timezone Europe/Riga").await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    let medicine =
        json!({"patient": "Mary Smith", "name": "Metformin", "dose": "500 mg", "times": "8:00, 20:30"});
    let said = "She takes it at 8 and half past 20";
    let saved = save(&world, said, "medication", medicine).await;
    let offered = saved["reminders"].as_array().unwrap();
    let schedules: Vec<&str> = offered.iter().map(|one| one["schedule"].as_str().unwrap()).collect();
    assert_eq!(schedules, ["0 8 * * *", "30 20 * * *"], "{saved}");
    let prompt =
        "Remind the people of this chat in one short sentence that Mary Smith takes Metformin 500 mg now.";
    assert_eq!(offered[0]["prompt"], prompt);
    // The button under the answer makes the tasks, and goes.
    let answer = says(&world, ANN, &format!("Dealt with: {said}")).await;
    assert_eq!(labels(&answer), ["⏰ Remind"]);
    assert_eq!(world.press(ANN, &answer, "⏰ Remind").await, "⏰ I will remind (2). /tasks shows it.");
    let listed = call(&world, HERE, "what is scheduled?", "list_tasks", json!({})).await;
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(listed["tasks"][0]["title"], "Metformin", "{listed}");

    let card = world.told(ANN, ANN, "/records").await;
    let id = number(&card["message_id"]);
    world.press(ANN, &card, "Patient (1)").await;
    world.shows(ANN, id, "Patient").await;
    world.press(ANN, &card, "Mary Smith").await;
    world.shows(ANN, id, "Patient: Mary Smith").await;
    world.press(ANN, &card, "Remove").await;
    let question = world.shows(ANN, id, "Remove “Mary Smith”?").await;
    assert!(text(&question).contains("What belongs to it goes too: 1."), "{question}");
    world.press(ANN, &card, "Remove").await;
    let done = world.shows(ANN, id, "Removed: Mary Smith (2)").await;
    assert_eq!(labels(&done), ["Undo", "Cancel its reminders (2)", "‹ Back"]);
    assert_eq!(world.press(ANN, &card, "Cancel its reminders").await, "Reminders cancelled: 2");
    let listed = call(&world, HERE, "and now?", "list_tasks", json!({})).await;
    assert_eq!(listed["tasks"], json!([]), "{listed}");
    assert_eq!(world.press(ANN, &card, "Undo").await, "It is back.");
    world.shows(ANN, id, "Patient: Mary Smith").await;
    assert!(bot.stop().success());
    assert_eq!(stored(&world, ANN).await.len(), 2);
}

#[tokio::test]
async fn an_appointment_reminds_before_its_time() {
    let (world, _bot) = caring().await;
    world.told(ANN, ANN, "/timezone Europe/Riga").await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    let visit = json!({"patient": "Mary Smith", "with": "Dr. Young", "at": "2030-05-02T10:00"});
    let saved = save(&world, "She sees Dr. Young on 2 May", "appointment", visit).await;
    let times: Vec<&str> =
        saved["reminders"].as_array().unwrap().iter().map(|one| one["schedule"].as_str().unwrap()).collect();
    assert_eq!(times, ["2030-05-01T10:00", "2030-05-02T08:00"], "{saved}");
    let card = world.told(ANN, ANN, "/records").await;
    let id = number(&card["message_id"]);
    world.press(ANN, &card, "Appointment (1)").await;
    world.shows(ANN, id, "Appointment").await;
    let (label, _) = buttons(&world.shows(ANN, id, "Appointment").await).remove(0);
    world.press(ANN, &card, &label).await;
    let shown = world.shows(ANN, id, "With: Dr. Young").await;
    assert!(labels(&shown).contains(&"⏰ Remind".to_owned()), "{shown}");
    assert_eq!(world.press(ANN, &card, "⏰ Remind").await, "⏰ I will remind (2). /tasks shows it.");
    let past = json!({"patient": "Mary Smith", "with": "Dr. Old", "at": "2020-05-02T10:00"});
    let saved = save(&world, "She saw Dr. Old", "appointment", past).await;
    assert_eq!(saved.get("offer"), None, "{saved}");
    assert!(cards(&world, ANN, "Dr. Young").is_empty(), "a press shows no card of its own");
}
