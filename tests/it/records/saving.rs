//! What people say is saved in the forms of packs.

use super::*;

#[tokio::test]
async fn what_people_state_is_saved_in_the_forms_of_the_pack_that_the_chat_has_chosen() {
    let world = World::new().await;
    let bot = world.start_open().await;
    let before = asked(&world, HERE, "is there something?").await;
    assert!(TOOLS.iter().all(|tool| !before.tool_names().contains(tool)), "without a pack none is offered");
    choose(&world, HERE, "Care of the elderly").await;
    let after = asked(&world, HERE, "and now?").await;
    assert!(TOOLS.iter().all(|tool| after.tool_names().contains(tool)), "{:?}", after.tool_names());
    assert_eq!(after.instructions(), before.instructions(), "the system prompt stays");
    let tools = after.body["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "save_record").unwrap();
    let kinds = json!(["patient", "medication", "vitals", "appointment", "caregiver"]);
    assert_eq!(tool["parameters"]["properties"]["kind"]["enum"], kinds);

    // What does not fit comes back with all that is wrong, to be mended.
    let early =
        save(&world, "She takes aspirin", "medication", json!({"patient": "Mary", "name": "Aspirin"})).await;
    assert_eq!(
        error(&early),
        "nothing was saved; mend this:\npatient: there is no patient yet: save the patient \"Mary\" first"
    );
    mary(&world).await;
    let wrong = json!({"patient": "Marie Smith", "systolic": 400, "diastolic": "low", "puls": 70, "at": "2099-01-01"});
    let wrong = save(&world, "Her pressure is 400", "vitals", wrong).await;
    insta::assert_snapshot!(error(&wrong));
    let missing = save(&world, "She sees a doctor", "appointment", json!({"patient": "Mary Smith"})).await;
    assert_eq!(
        error(&missing),
        "nothing was saved: of appointment these are missing: with, at; ask for what was not said"
    );
    let unknown = save(&world, "A pet", "patiant", json!({"name": "Rex"})).await;
    assert!(error(&unknown).starts_with("there is no kind `patiant`: did you mean patient?"), "{unknown}");

    // The same keys change it.
    let more = json!({"patient": "Mary Smith", "name": "metformin", "dose": "850 mg"});
    let changed = save(&world, "It is 850 mg now", "medication", more.clone()).await;
    assert_eq!((&changed["changed"], &changed["fields"]["dose"]), (&json!(true), &json!("850 mg")));
    let again = save(&world, "As I said, 850 mg", "medication", more).await;
    assert_eq!(again["already_there"], true, "{again}");
    let listed = call(&world, HERE, "list it all", "list_records", json!({"kind": "medication"})).await;
    assert_eq!(listed["records"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["records"][0]["fields"]["patient"], "Mary Smith");
    let patients = call(&world, HERE, "who is there?", "list_records", json!({"about": "smith"})).await;
    let id = |list: &Value| list["records"][0]["record_id"].clone();
    let refused =
        call(&world, HERE, "remove Mary", "remove_record", json!({"record_id": id(&patients)})).await;
    assert!(
        error(&refused).contains("other records belong to this one") && error(&refused).contains("metformin")
    );
    let gone = call(&world, HERE, "remove it", "remove_record", json!({"record_id": id(&listed)})).await;
    assert_eq!(gone["removed"]["fields"]["dose"], "850 mg", "{gone}");
    bot.ends_well().await;
    assert_eq!(stored(&world, ANN).await.len(), 1);
}

#[tokio::test]
async fn a_record_is_added_by_a_button_and_a_reply_in_ones_own_words() {
    let (world, _bot) = caring().await;
    let card = world.told(ANN, ANN, "/records").await;
    assert!(labels(&card).contains(&"Add".to_owned()), "{card}");
    world.press(ANN, &card, "Patients").await;
    let kind = world.shows(ANN, number(&card["message_id"]), "Patients\n").await;
    world.press(ANN, &kind, "Add").await;
    let question = says(&world, ANN, "Patient: what should I save?").await;
    let wanted = json!({"kind": "patient", "fields": {"name": "Mary"}});
    world.when("Mary needs care", ModelReply::call("save_record", wanted));
    world.when("Mary needs care", ModelReply::text("Saved Mary."));
    let reply = Say::new(ANN, ANN, "Mary needs care").reply_to(number(&question["message_id"]));
    world.telegram.send(reply).unwrap();
    says(&world, ANN, "Saved Mary.").await;
    assert!(labels(&world.told(ANN, ANN, "/records").await).contains(&"Patients (1)".to_owned()));
}

#[tokio::test]
async fn several_records_of_one_message_are_saved_in_one_step() {
    let (world, _bot) = caring().await;
    let patient = |name: &str| ("save_record", json!({"kind": "patient", "fields": {"name": name}}));
    let saved = calls(&world, HERE, "Mary and Ben need care", vec![patient("Mary"), patient("Ben")]).await;
    assert!(saved.iter().all(|saved| saved["saved"] == true), "{saved:?}");
    let card = world.told(ANN, ANN, "/records").await;
    assert!(labels(&card).contains(&"Patients (2)".to_owned()), "{card}");
    // With the pack put back nothing is removed.
    world.press(ANN, &card, "Packs").await;
    world.shows(ANN, number(&card["message_id"]), "Records: packs of forms").await;
    assert_eq!(world.press(ANN, &card, "✓ Care of the elderly").await, "Saved.");
    assert!(!asked(&world, HERE, "which patients?").await.tool_names().contains(&"save_record"));
    assert_eq!(world.press(ANN, &card, "Care of the elderly").await, "Saved.");
    assert_eq!(
        told(&asked(&world, HERE, "which patients are there?").await),
        ["patient: Ben", "patient: Mary"]
    );
}

#[tokio::test]
async fn in_a_group_admins_choose_packs() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let card = world.told(ANN, TEAM, "/records@figaro_bot").await;
    assert!(text(&card).starts_with("Records: packs of forms"), "{card}");
    assert_eq!(world.press(BOB, &card, "School class").await, "Only an admin of this chat can do that.");
    assert_eq!(world.press(ANN, &card, "School class").await, "Saved.");
    let saved = call(
        &world,
        (BOB, TEAM),
        "Leo is a pupil",
        "save_record",
        json!({"kind": "pupil", "fields": {"name": "Leo"}}),
    );
    assert_eq!(saved.await["saved"], true);
    assert_eq!(told(&asked(&world, (BOB, TEAM), "which pupils are there?").await), ["pupil: Name: Leo"]);
    // It moves with the group.
    let new = world.telegram.migrate(TEAM);
    if let Ok(new) = new {
        assert_eq!(told(&asked(&world, (BOB, new), "and which pupils now?").await), ["pupil: Name: Leo"]);
    }
}

#[tokio::test]
async fn a_reading_is_given_another_time_alone() {
    let (world, _bot) = caring().await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    let reading = json!({"patient": "Mary Smith", "weight": 61, "at": "2026-11-01T08:00"});
    let saved = save(&world, "She weighs 61", "vitals", reading).await;
    let moved =
        json!({"kind": "vitals", "record_id": saved["record_id"], "fields": {"at": "2026-11-02T09:30"}});
    let moved = call(&world, HERE, "That was on the second", "save_record", moved).await;
    assert_eq!((&moved["changed"], &moved["at"]), (&json!(true), &json!("2026-11-02T09:30")), "{moved}");
    let nothing = json!({"kind": "vitals", "record_id": saved["record_id"], "fields": {}});
    let nothing = call(&world, HERE, "That was so", "save_record", nothing).await;
    assert_eq!(error(&nothing), "fields is empty: give what was stated");
}
