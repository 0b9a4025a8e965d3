//! Reminders of records.

use super::*;

#[tokio::test]
async fn a_button_reminds_of_a_record_and_its_removal_ends_that_until_it_is_undone() {
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
    world.press(ANN, &card, "Patients (1)").await;
    world.shows(ANN, id, "Patient").await;
    world.press(ANN, &card, "Mary Smith").await;
    world.shows(ANN, id, "Patient: Mary Smith").await;
    world.press(ANN, &card, "Remove").await;
    let question = world.shows(ANN, id, "Remove “Mary Smith”?").await;
    assert!(text(&question).contains("What belongs to it goes too: 1 record."), "{question}");
    world.press(ANN, &card, "Remove").await;
    let done = world.shows(ANN, id, "Removed: Mary Smith (2)").await;
    assert!(text(&done).contains("Its reminders are cancelled too: 2."), "{done}");
    assert_eq!(labels(&done), ["Undo", "‹ Back"]);
    let listed = call(&world, HERE, "and now?", "list_tasks", json!({})).await;
    assert_eq!(listed["tasks"], json!([]), "{listed}");
    assert_eq!(world.press(ANN, &card, "Undo").await, "It is back.");
    let listed = call(&world, HERE, "and after that?", "list_tasks", json!({})).await;
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
    world.shows(ANN, id, "Patient: Mary Smith").await;
    bot.ends_well().await;
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
    world.press(ANN, &card, "Appointments (1)").await;
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

/// The live tasks of Ann's chat: what each is to do, and when.
async fn scheduled(world: &World, said: &str) -> Vec<(String, String, String)> {
    let listed = call(world, HERE, said, "list_tasks", json!({})).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |task: &Value| (text(&task["task_id"]), text(&task["prompt"]), text(&task["schedule"]));
    let mut tasks: Vec<_> = listed["tasks"].as_array().unwrap().iter().map(one).collect();
    tasks.sort_by(|one, other| one.2.cmp(&other.2));
    tasks
}

fn times(tasks: &[(String, String, String)]) -> Vec<&str> {
    tasks.iter().map(|(_, _, schedule)| schedule.as_str()).collect()
}

/// Metformin for Mary with these further fields.
fn metformin(more: Value) -> Value {
    let mut fields = json!({"patient": "Mary Smith", "name": "Metformin"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fields
}

#[tokio::test]
async fn reminders_follow_a_changed_dose_and_other_times() {
    let (world, _bot) = caring().await;
    mary(&world).await;
    reminds(&world, HERE, "She takes metformin twice a day").await;
    let before = scheduled(&world, "what is there?").await;
    assert_eq!(times(&before), ["0 8,20 * * *"]);

    let said = "It is 850 mg now";
    let changed = save(&world, said, "medication", metformin(json!({"dose": "850 mg"}))).await;
    assert_eq!(changed["reminders_moved"][0]["task_id"], before[0].0.as_str(), "{changed}");
    assert_eq!((changed.get("offer"), changed.get("update_or_cancel_these")), (None, None), "{changed}");
    let now = scheduled(&world, "and with that?").await;
    assert!(now[0].1.contains("Metformin 850 mg now") && now[0].0 == before[0].0, "{now:?}");
    assert!(
        !labels(&says(&world, ANN, &format!("Dealt with: {said}")).await).contains(&"⏰ Remind".to_owned())
    );

    // More times than before make a further task; fewer end it.
    save(&world, "At 8 and half past 21", "medication", metformin(json!({"times": "8:00, 21:30"}))).await;
    let more = scheduled(&world, "and with both?").await;
    assert_eq!((times(&more), more.len()), (vec!["0 8 * * *", "30 21 * * *"], 2));
    assert!(more.iter().all(|task| task.1.contains("850 mg")), "{more:?}");
    let fewer = save(&world, "Only at 8", "medication", metformin(json!({"times": "8:00"}))).await;
    assert_eq!(fewer["reminders_ended"].as_array().unwrap().len(), 1, "{fewer}");
    assert_eq!(times(&scheduled(&world, "and with one?").await), ["0 8 * * *"]);

    // Whom it is for is said in it too.
    let patients = call(&world, HERE, "who is there?", "list_records", json!({"kind": "patient"})).await;
    let id = &patients["records"][0]["record_id"];
    let renamed = json!({"kind": "patient", "record_id": id, "fields": {"name": "Mary Jones"}});
    let renamed = call(&world, HERE, "She is called Jones", "save_record", renamed).await;
    assert_eq!(renamed["reminders_moved"].as_array().unwrap().len(), 1, "{renamed}");
    let now = scheduled(&world, "and by her name?").await;
    assert!(now[0].1.contains("Mary Jones takes Metformin"), "{now:?}");

    // What is gone leaves it free to be offered again.
    call(&world, HERE, "no more of it", "cancel_task", json!({"task_id": now[0].0})).await;
    let fields = json!({"patient": "Mary Jones", "name": "Metformin", "dose": "900 mg"});
    let free = save(&world, "It is 900 mg", "medication", fields).await;
    assert!(free.get("offer").is_some() && free.get("reminders_moved").is_none(), "{free}");
}

#[tokio::test]
async fn reminders_follow_an_appointment_that_moves_and_what_was_changed_by_hand_is_told() {
    let (world, _bot) = caring().await;
    world.told(ANN, ANN, "/timezone Europe/Riga").await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    let visit = json!({"patient": "Mary Smith", "with": "Dr. Young", "at": "2030-05-02T10:00"});
    let saved = save(&world, "She sees Dr. Young on 2 May", "appointment", visit).await;
    reminds(&world, HERE, "She sees Dr. Young on 2 May").await;
    assert_eq!(scheduled(&world, "what is there?").await.len(), 2);

    let moved =
        |at: &str| json!({"kind": "appointment", "record_id": saved["record_id"], "fields": {"at": at}});
    let to_june = call(&world, HERE, "It is in June", "save_record", moved("2030-06-11T15:30")).await;
    assert_eq!(to_june["reminders_moved"].as_array().unwrap().len(), 2, "{to_june}");
    let june = scheduled(&world, "and in June?").await;
    assert_eq!(times(&june), ["2030-06-10T15:30:00+03:00", "2030-06-11T13:30:00+03:00"]);

    let by_hand = json!({"task_id": june[1].0, "prompt": "Remind Ann to bring the papers."});
    call(&world, HERE, "Remind me of the papers", "update_task", by_hand).await;
    let to_july = call(&world, HERE, "It is in July", "save_record", moved("2030-07-11T15:30")).await;
    assert_eq!(to_july["update_or_cancel_these"][0]["task_id"], june[1].0.as_str(), "{to_july}");
    let july = scheduled(&world, "and in July?").await;
    assert!(times(&july).contains(&"2030-07-10T15:30:00+03:00"), "{july:?}");
    assert!(times(&july).contains(&"2030-06-11T13:30:00+03:00"), "by hand is by hand: {july:?}");
    assert_eq!(july.len(), 2, "nothing reminds beside what was changed by hand: {july:?}");
}
