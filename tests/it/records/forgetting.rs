//! What is forgotten takes along what was saved from it.

use super::*;
use crate::support::records::holding;

#[tokio::test]
async fn what_was_saved_from_a_forgotten_message_is_forgotten() {
    let (world, bot) = caring().await;
    mary(&world).await;
    let done = forgets(&world, "metformin").await;
    assert!(text(&done).contains("• records: 1\n"), "{done}");
    let request = asked(&world, HERE, "which medicines are there?").await;
    assert!(!request.body.to_string().contains("Metformin"), "{:#}", request.body);

    // A field goes alone where the record makes sense without it.
    save(&world, "Her doctor is Dr. Young", "patient", json!({"name": "Mary Smith", "doctor": "Dr. Young"}))
        .await;
    forgets(&world, "her doctor is").await;
    assert_eq!(told(&asked(&world, HERE, "which patients are there?").await), ["patient: Mary Smith"]);

    let card = world.told(ANN, ANN, "/forget").await;
    world.press(ANN, &card, "Everything").await;
    world.shows(ANN, number(&card["message_id"]), "Forget everything about you").await;
    world.press(ANN, &card, "Forget").await;
    let done = world.shows(ANN, number(&card["message_id"]), "Forgotten").await;
    assert!(text(&done).contains("• records: 1\n"), "{done}");
    bot.ends_well().await;
    assert!(stored(&world, ANN).await.is_empty());
}

#[tokio::test]
async fn what_reminds_of_a_forgotten_record_is_forgotten_with_it() {
    let (world, bot) = caring().await;
    mary(&world).await;
    reminds(&world, HERE, "She takes metformin twice a day").await;
    let done = forgets(&world, "takes metformin").await;
    assert!(text(&done).contains("• records: 1\n") && text(&done).contains("• tasks: 1\n"), "{done}");
    bot.ends_well().await;
    assert!(world.stored().await.tasks().of_chat(ChatId(ANN)).unwrap().is_empty());
    assert_eq!(stored(&world, ANN).await.len(), 1, "Mary was told of in another message");
}

#[tokio::test]
async fn what_tools_told_of_a_forgotten_record_later_is_forgotten_too() {
    let (world, bot) = caring().await;
    mary(&world).await;
    let listed = call(&world, HERE, "what is kept?", "list_records", json!({"kind": "medication"})).await;
    assert_eq!(listed["records"][0]["fields"]["dose"], "500 mg", "{listed}");
    let changed = json!({"patient": "Mary Smith", "name": "Metformin", "reason": "diabetes"});
    let changed = save(&world, "It is for her diabetes", "medication", changed).await;
    assert_eq!(changed["changed"], true, "{changed}");
    forgets(&world, "takes metformin").await;
    let request = asked(&world, HERE, "which medicines are there?").await;
    let body = request.body.to_string();
    assert!(!body.contains("500 mg") && body.contains("It is for her diabetes"), "{body}");
    bot.ends_well().await;
    for words in ["Metformin", "500 mg"] {
        assert_eq!(holding(&world, words), [""; 0], "{words}");
    }
}

#[tokio::test]
async fn a_list_goes_with_any_of_the_messages_that_it_was_made_of() {
    let (world, bot) = caring().await;
    mary(&world).await;
    let allergies = |items: Value| json!({"name": "Mary Smith", "allergies": items});
    save(&world, "She must not have peniciline", "patient", allergies(json!(["penicillin"]))).await;
    save(&world, "And no nuts for her", "patient", allergies(json!(["penicillin", "nuts"]))).await;
    forgets(&world, "peniciline").await;
    assert_eq!(told(&asked(&world, HERE, "which patients are there?").await), ["patient: Mary Smith"]);
    bot.ends_well().await;
    assert_eq!(holding(&world, "penicillin"), [""; 0]);
}

#[tokio::test]
async fn what_others_are_reminded_of_goes_with_whom_all_is_forgotten_of() {
    let world = World::new().await;
    world.team();
    let bot = world.start_open().await;
    choose(&world, (ANN, TEAM), "Care of the elderly").await;
    let said = "Mary Smith takes it";
    let named = ("save_record", json!({"kind": "patient", "fields": {"name": "Mary Smith"}}));
    let fields =
        json!({"patient": "Mary Smith", "name": "Metformin", "dose": "500 mg", "times": "8:00, 20:30"});
    calls(&world, (ANN, TEAM), "Mary Smith needs care", vec![named]).await;
    let saved =
        call(&world, (ANN, TEAM), said, "save_record", json!({"kind": "medication", "fields": fields})).await;
    assert_eq!(saved["saved"], true, "{saved}");
    reminds(&world, (BOB, TEAM), said).await;
    let card = world.told(ANN, TEAM, "/forget@figaro_bot").await;
    world.press(ANN, &card, "Everything").await;
    world.shows(TEAM, number(&card["message_id"]), "records").await;
    world.press(ANN, &card, "Forget").await;
    let done = world.shows(TEAM, number(&card["message_id"]), "Forgotten").await;
    assert!(text(&done).contains("• tasks: 2\n"), "{done}");
    bot.ends_well().await;
    assert!(world.stored().await.tasks().of_chat(ChatId(TEAM)).unwrap().is_empty());
}

#[tokio::test]
async fn a_task_that_the_model_made_of_an_offer_is_forgotten_with_its_record() {
    offer_is_forgotten(true).await;
}

#[tokio::test]
async fn it_is_also_where_the_model_does_not_name_the_record() {
    offer_is_forgotten(false).await;
}

/// Has the model schedule what a record offers, with the record's id or without, and the source of the record forgotten.
async fn offer_is_forgotten(is_named: bool) {
    let (world, bot) = caring().await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    let fields = json!({"patient": "Mary Smith", "name": "Metformin", "dose": "500 mg", "times": "8:00"});
    let saved = save(&world, "She takes metformin at 8", "medication", fields).await;
    let mut offered = saved["reminders"][0].clone();
    if !is_named {
        offered.as_object_mut().unwrap().remove("record_id");
    }
    let made = call(&world, HERE, "yes, please", "schedule_task", offered.clone()).await;
    assert_eq!(made["success"], true, "{made}");
    let mut elsewhere = offered;
    elsewhere["record_id"] = "01ARZ3NDEKTSV4RRFFQ69G5FAV".into();
    let unknown = call(&world, HERE, "and that one", "schedule_task", elsewhere).await;
    assert!(error(&unknown).contains("no record has the id"), "{unknown}");
    forgets(&world, "takes metformin").await;
    bot.ends_well().await;
    assert!(world.stored().await.tasks().of_chat(ChatId(ANN)).unwrap().is_empty());
}

#[tokio::test]
async fn of_calls_that_failed_nothing_is_left() {
    let (world, bot) = caring().await;
    let early = json!({"patient": "Mary", "name": "Aspirin", "dose": "100 mg"});
    let failed = save(&world, "She takes her pill", "medication", early.clone()).await;
    assert!(error(&failed).contains("save the patient"), "{failed}");
    // The model tries it again in a later turn, and fails again.
    let wrong = save(&world, "And is there more?", "medicine", early).await;
    assert!(error(&wrong).contains("there is no kind"), "{wrong}");
    forgets(&world, "takes her pill").await;
    bot.ends_well().await;
    for words in ["Aspirin", "100 mg"] {
        assert_eq!(holding(&world, words), [""; 0], "{words}");
    }
}

#[tokio::test]
async fn a_field_goes_with_the_message_for_which_it_was_saved_and_not_with_others_that_say_the_same() {
    let (world, bot) = caring().await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    world.when("is a neurologist", ModelReply::text("I see."));
    world.told(ANN, ANN, "We had tea with her. Her doctor Young is a neurologist in Riga. It rained.").await;
    let doctor = json!({"name": "Mary Smith", "doctor": "Her doctor Young is a neurologist in Riga"});
    save(&world, "Keep that, please", "patient", doctor).await;
    forgets(&world, "tea with her").await;
    let told_of = told(&asked(&world, HERE, "which patients are there?").await);
    assert!(told_of[0].contains("neurologist"), "{told_of:?}");
    forgets(&world, "Keep that").await;
    bot.ends_well().await;
    let kept = stored(&world, ANN).await;
    assert_eq!(kept[0].fields.keys().collect::<Vec<_>>(), ["name"], "{kept:?}");
    assert_eq!(holding(&world, "neurologist"), [""; 0]);
}
