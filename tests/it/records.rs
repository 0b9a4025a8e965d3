//! Context packs and records: packs are files, checked and read again; a chat chooses some, and then the model keeps what people say in
//! their forms, is told of it when it bears on a question, and people see, draw, remove and forget it.

use std::fs;
use std::path::Path;

use figaro::domain::record::Record;
use figaro::ids::ChatId;
use figaro::store::{PinStore, RecordStore, TaskStore};
use figaro_offline::model::{ModelRequest, Part, Reply};
use figaro_offline::telegram::{Say, View};
use serde_json::{Value, json};

use super::memories::{proposes, remembering};
use super::task_tools::{call, calls, cards, error, results, says};
use crate::check::{refused, words};
use crate::support::bot::Recipe;
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, Bot, TIMEOUT, World};

const TOOLS: [&str; 3] = ["list_records", "remove_record", "save_record"];
const HERE: (i64, i64) = (ANN, ANN);

const SHOP: &str = "name: shop
title: Shop
description: Goods of a small shop
kinds:
  product:
    fields:
      name: {type: text, key: true}
      price: {type: number, unit: EUR, min: 0}
    triggers:
      en: [product, price]
";

/// `figaro packs` with these arguments, in a folder: its exit code and what it said.
fn packs(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let recipe = arguments.iter().fold(Recipe::new(folder).arg("packs"), |recipe, arg| recipe.arg(arg));
    let output = recipe.output();
    let (said, errors) = words(&output);
    (output.status.code(), said, errors)
}

fn write(folder: &Path, file: &str, text: &str) {
    let packs = folder.join("prompts/packs");
    fs::create_dir_all(&packs).unwrap();
    fs::write(packs.join(file), text).unwrap();
}

/// Someone has a chat choose a pack.
async fn choose(world: &World, who: (i64, i64), pack: &str) {
    let card = world.told(who.0, who.1, "/records@figaro_bot").await;
    assert_eq!(world.press(who.0, &card, pack).await, "Saved.", "{card}");
    world.shows(who.1, number(&card["message_id"]), "pack").await;
}

/// A world in whose private chats the care of the elderly is chosen by Ann.
async fn caring() -> (World, Bot) {
    let world = World::new().await;
    let bot = world.start_open().await;
    choose(&world, HERE, "Care of the elderly").await;
    (world, bot)
}

async fn save(world: &World, said: &str, kind: &str, fields: Value) -> Value {
    call(world, HERE, said, "save_record", json!({"kind": kind, "fields": fields})).await
}

/// Mary with a medicine.
async fn mary(world: &World) {
    let saved = save(world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    assert_eq!(saved["saved"], true, "{saved}");
    let medicine =
        json!({"patient": "mary smith", "name": "Metformin", "dose": "500 mg", "times": "8:00, 20:00"});
    let saved = save(world, "She takes metformin twice a day", "medication", medicine).await;
    assert_eq!(saved["fields"]["times"], "08:00, 20:00", "{saved}");
}

/// The request about these words.
async fn asked(world: &World, who: (i64, i64), words: &str) -> ModelRequest {
    let answer = format!("Answer to {words}");
    world.when(words, Reply::text(&answer));
    world.say(who.0, who.1, &format!("@figaro_bot {words}"));
    says(world, who.1, &answer).await;
    world.asked().into_iter().rev().find(|request| request.user_text().contains(words)).unwrap()
}

/// The records that stand in a request.
fn told(request: &ModelRequest) -> Vec<String> {
    let text = request.user_text();
    let part = text.split("<records>\n").nth(1).and_then(|rest| rest.split("\n</records>").next());
    part.map(|part| part.lines().skip(1).map(str::to_owned).collect()).unwrap_or_default()
}

async fn stored(world: &World, chat: i64) -> Vec<Record> {
    world.stored().await.records(ChatId(chat)).await.unwrap()
}

/// Ann has the question with these words forgotten; gives what she is told then.
async fn forgets(world: &World, words: &str) -> Value {
    let card = world.told(ANN, ANN, &format!("/forget {words}")).await;
    let question = labels(&card).into_iter().find(|label| !label.contains("Dealt with")).unwrap();
    world.press(ANN, &card, &question).await;
    world.shows(ANN, number(&card["message_id"]), "Forget this message").await;
    world.press(ANN, &card, "Forget").await;
    world.shows(ANN, number(&card["message_id"]), "Forgotten").await
}

#[test]
fn files_are_checked_without_a_bot() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "shop.yaml", SHOP);
    let (code, said, errors) = packs(folder.path(), &["check"]);
    let wanted = "✓ class: pupil (3 fields), homework (4 fields), mark (3 fields, series), built in
✓ eldercare: patient (6 fields), medication (7 fields), vitals (8 fields, series), appointment (5 fields), caregiver (5 fields), built in
✓ shop: product (2 fields)
";
    assert_eq!((code, said.as_str(), errors.as_str()), (Some(0), wanted, ""));
    write(folder.path(), "shop.yaml", &SHOP.replace("type: number", "type: nmber"));
    let (code, said, errors) = packs(folder.path(), &["check", "prompts/packs/"]);
    let fault = "prompts/packs/shop.yaml:8:21: there is no type `nmber`: did you mean number?";
    assert_eq!((code, said.as_str()), (Some(2), ""));
    assert!(errors.contains("one thing is wrong") && errors.contains(fault), "{errors}");
    let (code, _, errors) = packs(folder.path(), &["check", "nowhere"]);
    assert_eq!((code, errors.trim()), (Some(2), "figaro: there is no folder nowhere"));
    let (code, said, _) = packs(folder.path(), &["schema"]);
    let schema: Value = serde_json::from_str(&said).unwrap();
    let field = &schema["properties"]["kinds"]["additionalProperties"]["properties"]["fields"];
    let types = field["additionalProperties"]["properties"]["type"]["enum"].as_array().unwrap();
    assert!(code == Some(0) && types.contains(&json!("schedule")), "{schema:#}");
}

#[tokio::test]
async fn a_wrong_file_stops_the_start_and_while_it_runs_the_last_good_packs_hold() {
    let world = World::new().await;
    let wrong = SHOP.replace("key: true", "key: yes please");
    write(world.folder.path(), "shop.yaml", &wrong);
    let message = refused(&world, &world.bot()).await;
    assert!(message.contains("prompts/packs/shop.yaml:7:"), "{message}");

    write(world.folder.path(), "shop.yaml", SHOP);
    let _bot = world.start_open().await;
    choose(&world, HERE, "Shop").await;
    let saved = save(&world, "Tea is 3.50", "product", json!({"name": "Tea", "price": 3.5})).await;
    assert_eq!(saved["saved"], true, "{saved}");
    assert_eq!(
        told(&asked(&world, HERE, "which products do we have?").await),
        ["product: name: Tea; price: 3.5 EUR"]
    );

    write(world.folder.path(), "shop.yaml", &wrong);
    let warning = says(&world, ANN, "I cannot use the files of context packs").await;
    assert!(text(&warning).contains("prompts/packs/shop.yaml:7:"), "{warning}");
    let request = asked(&world, HERE, "and what is the price of tea?").await;
    assert_eq!(told(&request), ["product: name: Tea; price: 3.5 EUR"], "the last good ones hold");

    let mended = format!("{SHOP}    render: \"{{{{ name }}}} at {{{{ price }}}}\"\n");
    write(world.folder.path(), "shop.yaml", &mended);
    says(&world, ANN, "The files of context packs were read").await;
    assert_eq!(told(&asked(&world, HERE, "prices, please").await), ["product: Tea at 3.5 EUR"]);

    // A pack that is gone is not there; what was saved in it waits for it.
    fs::remove_file(world.folder.path().join("prompts/packs/shop.yaml")).unwrap();
    says(&world, ANN, "Packs of yours: none").await;
    let request = asked(&world, HERE, "any price?").await;
    assert!(told(&request).is_empty() && !request.tool_names().contains(&"save_record"), "{request:?}");
    let card = world.told(ANN, ANN, "/records").await;
    assert!(text(&card).contains("not there any more: shop"), "{card}");
}

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
    assert!(bot.stop().success());
    assert_eq!(stored(&world, ANN).await.len(), 1);
}

#[tokio::test]
async fn records_are_told_when_their_words_or_names_stand_in_a_question() {
    let (world, _bot) = caring().await;
    mary(&world).await;
    let ben = json!({"name": "Ben Adler", "allergies": ["penicillin"]});
    save(&world, "Ben Adler cannot have penicillin", "patient", ben).await;
    for (at, systolic) in [("2026-11-01T08:00", 150), ("2026-11-03T08:00", 142)] {
        let reading = json!({"patient": "Mary Smith", "systolic": systolic, "diastolic": 85, "at": at});
        save(&world, &format!("measured {systolic} that day"), "vitals", reading).await;
    }
    let past = json!({"patient": "Mary Smith", "with": "Dr. Old", "at": "2020-05-01T10:00"});
    save(&world, "She saw Dr. Old once", "appointment", past).await;
    let next = json!({"patient": "Mary Smith", "with": "Dr. Young", "at": "2099-05-01T10:00"});
    save(&world, "She will see Dr. Young", "appointment", next).await;
    let medication = "medication: Metformin 500 mg for Mary Smith, at 08:00, 20:00";
    let cases: [(&str, &[&str]); 7] = [
        ("how is the weather?", &[]),
        ("which medicines are there?", &[medication]),
        ("quais remédios ela toma?", &[medication]),
        ("and which pills, tablets or drugs?", &[medication]),
        ("who has an allergy?", &["patient: Ben Adler; ALLERGIES: penicillin", "patient: Mary Smith"]),
        ("does Ben like tea?", &["patient: Ben Adler; ALLERGIES: penicillin"]),
        ("any doctors to see?", &["appointment: 2099-05-01 10:00: Mary Smith with Dr. Young"]),
    ];
    for (words, wanted) in cases {
        assert_eq!(told(&asked(&world, HERE, words).await), wanted, "{words}");
    }
    let lines = told(&asked(&world, HERE, "how does the blood pressure of Mary go?").await);
    let pressure = lines.iter().find(|line| line.starts_with("vitals: ")).unwrap();
    let trend = "Systolic: 142 mmHg (2026-11-03 08:00; −8 since the reading before; 142 to 150 in 30 days, 2 readings)";
    assert!(pressure.contains(trend), "{lines:?}");
    assert!(
        lines[0].starts_with("patient: Mary") || lines[0].starts_with("vitals"),
        "what bears most is first: {lines:?}"
    );
    assert!(lines.iter().all(|line| !line.contains("Dr. Old")), "what has passed is not told: {lines:?}");
    // Elsewhere nothing of it is told.
    let request = asked(&world, (BOB, BOB), "which medicines are there?").await;
    assert!(told(&request).is_empty() && !request.body.to_string().contains("Metformin"), "{request:?}");
}

#[tokio::test]
async fn readings_are_drawn_as_a_picture() {
    let (world, _bot) = caring().await;
    save(&world, "Mary Smith needs care", "patient", json!({"name": "Mary Smith"})).await;
    for (day, systolic) in [(1, 150), (2, 142), (3, 138), (4, 145)] {
        let at = format!("2026-11-{day:02}T08:00");
        let fields =
            json!({"patient": "Mary Smith", "systolic": systolic, "diastolic": 85, "weight": 61.5, "at": at});
        save(&world, &format!("measured {systolic} on that day"), "vitals", fields).await;
    }
    let card = world.told(ANN, ANN, "/records").await;
    world.press(ANN, &card, "Readings (1)").await;
    world.shows(ANN, number(&card["message_id"]), "Readings").await;
    world.press(ANN, &card, "Mary Smith (4)").await;
    let shown = world.shows(ANN, number(&card["message_id"]), "Systolic").await;
    assert!(text(&shown).contains("Systolic: 145 mmHg (138–150 in 30 days)"), "{shown}");
    assert!(text(&shown).contains("readings: 4"), "{shown}");
    world.press(ANN, &card, "📈 Systolic / Diastolic").await;
    let photo = |view: &View<'_>| {
        let mut all = view.bot_messages(ANN).into_iter();
        let photo = all.rfind(|message| message.get("photo").is_some())?;
        let id = photo["photo"].as_array()?.last()?["file_id"].as_str()?;
        Some((photo["caption"].clone(), view.file(id)?.to_vec()))
    };
    let (caption, png) = world.see("the chart", photo).await;
    assert_eq!(caption, "📈 Mary Smith: Systolic / Diastolic");
    assert!(png.starts_with(b"\x89PNG") && png.len() < 100_000, "{} bytes", png.len());
    assert_eq!(world.refused(), Vec::<String>::new());
}

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

#[tokio::test]
async fn in_a_group_admins_choose_packs() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let card = world.told(BOB, TEAM, "/records@figaro_bot").await;
    assert!(text(&card).starts_with("Context packs"), "{card}");
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
    world.shows(ANN, number(&card["message_id"]), "notes, records, tasks").await;
    world.press(ANN, &card, "Forget").await;
    let done = world.shows(ANN, number(&card["message_id"]), "Forgotten").await;
    assert!(text(&done).contains("• records: 1\n"), "{done}");
    assert!(bot.stop().success());
    assert!(stored(&world, ANN).await.is_empty());
}

/// Somebody presses the button for reminders under the answer to these words.
async fn reminds(world: &World, (who, chat): (i64, i64), words: &str) {
    let answer = says(world, chat, &format!("Dealt with: {words}")).await;
    let toast = world.press(who, &answer, "⏰ Remind").await;
    assert!(toast.starts_with("⏰ I will remind"), "{toast}");
}

#[tokio::test]
async fn what_reminds_of_a_forgotten_record_is_forgotten_with_it() {
    let (world, bot) = caring().await;
    mary(&world).await;
    reminds(&world, HERE, "She takes metformin twice a day").await;
    let done = forgets(&world, "takes metformin").await;
    assert!(text(&done).contains("• records: 1\n") && text(&done).contains("• tasks: 1\n"), "{done}");
    assert!(bot.stop().success());
    assert!(world.stored().await.tasks(ChatId(ANN)).await.unwrap().is_empty());
    assert_eq!(stored(&world, ANN).await.len(), 1, "Mary was told of in another message");
}

/// How many of the stored entries hold these words.
fn holding(world: &World, words: &str) -> Vec<String> {
    let all = world.records().everything();
    let is_in = |value: &[u8]| String::from_utf8_lossy(value).contains(words);
    let hits = all.into_iter().flat_map(|(table, all)| all.into_iter().map(move |one| (table.clone(), one)));
    hits.filter(|(_, (_, value))| is_in(value))
        .map(|(table, (_, value))| format!("{table}: {}", String::from_utf8_lossy(&value)))
        .collect()
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
    assert!(bot.stop().success());
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
    assert!(bot.stop().success());
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
    assert!(bot.stop().success());
    assert!(world.stored().await.tasks(ChatId(TEAM)).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_rules_of_a_pack_pin_what_is_vital_in_the_chats_that_have_chosen_it() {
    let (world, bot) = caring().await;
    world.otherwise(Reply::text("Noted."));
    world.told(ANN, ANN, "My father has a pacemaker since May").await;
    world.told(ANN, ANN, "O preço? A ficha caiu ontem para todos").await;
    world.told(BOB, BOB, "My uncle has a pacemaker since May").await;
    assert!(bot.stop().success());
    let store = world.stored().await;
    let pins = async |chat| {
        let mut pins = store.pins(ChatId(chat)).await.unwrap();
        pins.retain(|pin| pin.about.is_none());
        pins.into_iter().map(|pin| pin.content).collect::<Vec<_>>()
    };
    assert_eq!(pins(ANN).await, ["My father has a pacemaker since May"]);
    assert!(pins(BOB).await.is_empty(), "another chat has not chosen the pack");
}

#[tokio::test]
async fn facts_are_seen_together_with_the_records_of_the_chat() {
    let (world, _bot) = remembering(&[]).await;
    let card = world.told(BOB, BOB, "/records").await;
    world.press(BOB, &card, "Care of the elderly").await;
    world.script.extract_when("Mary Smith needs care", proposes(&[]));
    let part = Part::Call {
        name: "save_record".to_owned(),
        arguments: json!({"kind": "patient", "fields": {"name": "Mary Smith"}}),
    };
    world.when("Mary Smith needs care", Reply::turn(vec![part]));
    world.when("Mary Smith needs care", Reply::text("Dealt with: it"));
    world.say(BOB, BOB, "Mary Smith needs care");
    results(&world, "Mary Smith needs care", 1, (BOB, "Dealt with: it")).await;
    world.script.extract_when("I live in Riga", proposes(&[]));
    world.when("I live in Riga", Reply::text("Noted."));
    world.telegram.send(Say::new(BOB, BOB, "I live in Riga")).unwrap();
    says(&world, BOB, "Noted.").await;
    let deadline = std::time::Instant::now() + TIMEOUT;
    loop {
        let asked = world.model.extraction_requests();
        let found = asked.iter().find(|request| request.user_text().contains("I live in Riga"));
        if let Some(request) = found {
            assert!(request.user_text().contains("patient: Mary Smith"), "{}", request.user_text());
            return;
        }
        assert!(std::time::Instant::now() < deadline, "facts were never asked for");
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
}

#[tokio::test]
async fn several_records_of_one_message_are_saved_in_one_step() {
    let (world, _bot) = caring().await;
    let patient = |name: &str| ("save_record", json!({"kind": "patient", "fields": {"name": name}}));
    let saved = calls(&world, HERE, "Mary and Ben need care", vec![patient("Mary"), patient("Ben")]).await;
    assert!(saved.iter().all(|saved| saved["saved"] == true), "{saved:?}");
    let card = world.told(ANN, ANN, "/records").await;
    assert!(labels(&card).contains(&"Patient (2)".to_owned()), "{card}");
    // With the pack put back nothing is removed.
    world.press(ANN, &card, "Packs").await;
    world.shows(ANN, number(&card["message_id"]), "Context packs").await;
    assert_eq!(world.press(ANN, &card, "✓ Care of the elderly").await, "Saved.");
    assert!(!asked(&world, HERE, "which patients?").await.tool_names().contains(&"save_record"));
    assert_eq!(world.press(ANN, &card, "Care of the elderly").await, "Saved.");
    assert_eq!(
        told(&asked(&world, HERE, "which patients are there?").await),
        ["patient: Ben", "patient: Mary"]
    );
}
