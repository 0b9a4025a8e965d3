//! What a reader of the documents expects of context packs: fields and keys, words of two languages, reminders, rights.

use figaro_base::ids::ChatId;
use figaro_offline::model::ModelReply;
use serde_json::{Value, json};

use crate::records::{HERE, asked, choose, reminds, save, told, write};
use crate::support::calls::{call, error};
use crate::support::scene::TEAM;
use crate::support::{ANN, BOB, Bot, World};
use crate::task_tools::listed;

/// A world where Ann's chat has chosen the school class.
async fn teaching() -> (World, Bot) {
    let world = World::new().await;
    let bot = world.start_open().await;
    choose(&world, HERE, "School class").await;
    (world, bot)
}

fn homework(subject: &str, due: &str, task: &str) -> Value {
    json!({"subject": subject, "due": due, "task": task})
}

#[tokio::test]
async fn fields_take_what_their_types_say_and_all_faults_are_told_at_once() {
    let (world, _bot) = teaching().await;
    let wrong = json!({"name": "Leo", "group": "evening", "needs": (0..31).map(|at| format!("need {at}")).collect::<Vec<_>>()});
    let wrong = save(&world, "Leo comes in the evening", "pupil", wrong).await;
    assert!(error(&wrong).contains("morning") && error(&wrong).contains("afternoon"), "{wrong}");
    assert!(error(&wrong).contains("needs") && error(&wrong).contains("30"), "{wrong}");
    let pupil = json!({"name": "Leo", "group": "morning", "needs": ["glasses", "time"]});
    assert_eq!(save(&world, "Leo comes in the morning", "pupil", pupil).await["saved"], true);
    for (said, mark) in
        [("a mark of 11", json!(11)), ("a mark of -1", json!(-1)), ("a good mark", json!("good"))]
    {
        let wrong = save(&world, said, "mark", json!({"pupil": "leo", "mark": mark})).await;
        assert!(error(&wrong).contains("from 0 to 10"), "{wrong}");
    }
    let missing = save(&world, "some mark", "mark", json!({"pupil": "Leo", "subject": "Art"})).await;
    assert!(error(&missing).contains("mark"), "{missing}");
    let missing = save(&world, "maths is due", "homework", json!({"subject": "Maths"})).await;
    assert!(error(&missing).contains("due") && error(&missing).contains("task"), "{missing}");
    for (said, due) in
        [("last century", "1899-12-31"), ("late", "2201-01-01"), ("a leap", "2027-02-29"), ("soon", "soon")]
    {
        assert!(error(&save(&world, said, "homework", homework("Maths", due, "p. 4")).await).contains("due"));
    }
    let mut unclear = homework("Maths", "2030-05-02", &"x".repeat(501));
    unclear["done"] = "perhaps".into();
    let wrong = save(&world, "it is perhaps done", "homework", unclear).await;
    assert!(error(&wrong).contains("task: ") && error(&wrong).contains("done: "), "{wrong}");
    let all = call(&world, HERE, "list it all", "list_records", json!({})).await;
    assert_eq!(all["records"].as_array().unwrap().len(), 1, "{all}");
    assert_eq!(all["records"][0]["fields"]["group"], "morning", "{all}");
}

#[tokio::test]
async fn the_same_keys_are_the_same_record_in_any_case_and_no_change_makes_two_of_one() {
    let (world, _bot) = teaching().await;
    let first = save(&world, "one", "homework", homework("História", "2030-05-02", "page 4")).await;
    let again = save(&world, "two", "homework", homework("HISTÓRIA", "2030-05-02", "page 5")).await;
    assert_eq!((&again["changed"], &again["record_id"]), (&json!(true), &first["record_id"]), "{again}");
    let other = save(&world, "three", "homework", homework("história", "2030-05-03", "page 6")).await;
    assert_ne!(other["record_id"], first["record_id"], "another day is another homework");
    let changes = async |said: &str, fields: Value| {
        let change = json!({"kind": "homework", "record_id": other["record_id"], "fields": fields});
        call(&world, HERE, said, "save_record", change).await
    };
    error(&changes("it is for the second", json!({"due": "2030-05-02"})).await);
    for fields in [json!({"subject": ""}), json!({"task": ""})] {
        error(&changes(&format!("without {fields}"), fields).await);
    }
    let all = call(&world, HERE, "list it all", "list_records", json!({"kind": "homework"})).await;
    let mut tasks: Vec<&str> = all["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["fields"]["task"].as_str().unwrap())
        .collect();
    tasks.sort_unstable();
    assert_eq!(tasks, ["page 5", "page 6"], "{all}");
}

#[tokio::test]
async fn words_of_both_languages_find_records_in_any_of_their_forms() {
    let (world, _bot) = teaching().await;
    save(&world, "Leo is here", "pupil", json!({"name": "Leo"})).await;
    save(&world, "maths for May", "homework", homework("Maths", "2099-05-02", "page 4")).await;
    save(&world, "maths of old", "homework", homework("Maths", "2020-05-02", "page 1")).await;
    let (leo, maths): (&[&str], &[&str]) =
        (&["pupil: Name: Leo"], &["homework: Maths, due 2099-05-02: page 4"]);
    for (words, wanted) in [
        ("tell me a story", &[][..]),
        ("how many STUDENTS are there?", leo),
        ("quantos alunos temos?", leo),
        ("e as turmas?", leo),
        ("what is to be handed in?", maths),
        ("any assignments?", maths),
        ("quais são as tarefas?", maths),
        ("quais são os prazos?", maths),
        ("quais são as lições?", maths),
        ("who holds the hand of whom?", &[]),
        ("do you like maths?", maths),
    ] {
        assert_eq!(told(&asked(&world, HERE, words).await), wanted, "{words}");
    }
    let all = call(&world, HERE, "list it all", "list_records", json!({"kind": "homework"})).await;
    assert_eq!(all["records"].as_array().unwrap().len(), 2, "what has passed is kept: {all}");
}

#[tokio::test]
async fn the_kitchen_of_the_documents_works_as_they_tell() {
    let page = include_str!("../../docs/packs.md");
    let at = page.find("name: kitchen\n").unwrap();
    let kitchen = page[at..].split("```").next().unwrap();
    let world = World::new().await;
    let kitchen = kitchen.replace("comer]\n", "comer]\n  unless: [cannot eat much]\n");
    write(world.folder.path(), "kitchen.yaml", &kitchen);
    let bot = world.start_open().await;
    choose(&world, HERE, "Kitchen").await;
    save(&world, "Zoe comes", "guest", json!({"name": "Zoe", "avoids": ["nuts", "milk"]})).await;
    save(&world, "Max comes", "guest", json!({"name": "Max"})).await;
    let mut lines = told(&asked(&world, HERE, "quem são os convidados?").await);
    lines.sort_unstable();
    assert_eq!(lines, ["guest: Max", "guest: Zoe avoids nuts, milk"]);
    let wrong = save(&world, "less than nothing", "stock", json!({"item": "Rice", "amount": -1})).await;
    assert!(error(&wrong).contains("amount"), "{wrong}");
    for (amount, at) in [(5, "2026-11-01T08:00"), (3, "2026-11-02T08:00")] {
        let reading = json!({"item": "Rice", "amount": amount, "at": at});
        assert_eq!(save(&world, &format!("{amount} of it"), "stock", reading).await["saved"], true);
    }
    let lines = told(&asked(&world, HERE, "is there enough?").await);
    assert!(lines.len() == 1 && lines[0].contains("3 kg") && lines[0].contains("−2"), "{lines:?}");
    world.otherwise(ModelReply::text("Noted."));
    let vital = [
        "Ole CANNOT EATABLE things",
        "O Ivo nao pode comer queijo",
        "Ida cannot eat much. Ida cannot eat fish",
    ];
    for words in [vital[0], vital[1], vital[2], "Una cannot eat much", "Una can eat"] {
        world.told(ANN, ANN, words).await;
    }
    bot.ends_well().await;
    let pins = world.stored().await.pins().of_chat(ChatId(ANN)).unwrap();
    let pinned = |name: &str| pins.iter().any(|pin| pin.content.contains(name));
    assert!(pinned("Ole") && pinned("Ivo") && pinned("Ida") && !pinned("Una"), "{pins:?}");
    assert!(pins.iter().all(|pin| pin.about.is_some() || (pin.importance - 10.0).abs() < 0.01), "{pins:?}");
}

#[tokio::test]
async fn a_guest_of_a_group_is_told_of_no_records_and_a_member_of_those_of_the_group_alone() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start().await;
    world.otherwise(ModelReply::text("Hello."));
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    choose(&world, (ANN, TEAM), "School class").await;
    let leo = json!({"kind": "pupil", "fields": {"name": "Leopold"}});
    call(&world, (ANN, TEAM), "he is here", "save_record", leo).await;
    world.told(ANN, ANN, "/allow 12 guest").await;
    let request = asked(&world, (BOB, TEAM), "which pupils are there?").await;
    assert!(told(&request).is_empty() && !request.user_text().contains("Leopold"), "{request:?}");
    let named = json!({"kind": "pupil", "fields": {"name": "Leonora"}});
    let refused = call(&world, (BOB, TEAM), "she is here", "save_record", named).await;
    assert_ne!(refused["saved"], true, "{refused}");
    let refused = call(&world, (BOB, TEAM), "who is kept?", "list_records", json!({})).await;
    assert!(!refused.to_string().contains("Leopold"), "{refused}");
    world.told(ANN, ANN, "/allow 12 member").await;
    let request = asked(&world, (BOB, TEAM), "and which pupils now?").await;
    assert_eq!(told(&request), ["pupil: Name: Leopold"]);
    let seen = call(&world, (BOB, TEAM), "who is kept here?", "list_records", json!({})).await;
    assert!(seen.to_string().contains("Leopold") && !seen.to_string().contains("Leonora"), "{seen}");
    choose(&world, (BOB, BOB), "School class").await;
    let own = call(&world, (BOB, BOB), "what do I keep?", "list_records", json!({})).await;
    assert_eq!(own["records"], json!([]), "{own}");
}

#[tokio::test]
async fn a_day_is_reminded_of_at_nine_and_the_reminder_follows_its_record() {
    let (world, _bot) = teaching().await;
    world.told(ANN, ANN, "/timezone Europe/Riga").await;
    let first = save(&world, "maths for 2 May", "homework", homework("Maths", "2030-05-02", "page 4")).await;
    assert_eq!(first["reminders"][0]["schedule"], "2030-05-01T09:00", "{first}");
    reminds(&world, HERE, "maths for 2 May").await;
    let change = async |said: &str, fields: Value| {
        let change = json!({"kind": "homework", "record_id": first["record_id"], "fields": fields});
        call(&world, HERE, said, "save_record", change).await
    };
    let moved = change("it is for 9 May", json!({"due": "2030-05-09"})).await;
    assert_eq!(moved["reminders_moved"].as_array().unwrap().len(), 1, "{moved}");
    change("it is page 7", json!({"task": "page 7"})).await;
    let tasks = listed(&world, HERE, "what is scheduled?").await;
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    let shown = tasks[0].to_string();
    assert!(
        shown.contains("2030-05-08T09:00") && shown.contains("Maths is due on 2030-05-09: page 7."),
        "{shown}"
    );
    let which = json!({"record_id": first["record_id"]});
    assert_eq!(call(&world, HERE, "no homework", "remove_record", which).await["reminders_cancelled"], 1);
    assert_eq!(listed(&world, HERE, "and now?").await, [json!(null); 0]);
}
