//! Records are told to the model, drawn, and weigh on memory.

use super::*;

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
    let photo = |view: &TelegramView<'_>| {
        let mut all = view.bot_messages(ANN).into_iter();
        let photo = all.rfind(|message| message.get("photo").is_some())?;
        let id = photo["photo"].as_array()?.last()?["file_id"].as_str()?;
        Some((photo["caption"].clone(), view.file(id)?.to_vec()))
    };
    let (caption, png) = world.see("the chart", photo).await;
    assert_eq!(caption, "📈 Mary Smith: Systolic / Diastolic (mmHg)");
    assert!(png.starts_with(b"\x89PNG") && png.len() < 100_000, "{} bytes", png.len());
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn the_rules_of_a_pack_pin_what_is_vital_in_the_chats_that_have_chosen_it() {
    let (world, bot) = caring().await;
    world.otherwise(ModelReply::text("Noted."));
    world.told(ANN, ANN, "My father has a pacemaker since May").await;
    world.told(ANN, ANN, "O preço? A ficha caiu ontem para todos").await;
    world.told(BOB, BOB, "My uncle has a pacemaker since May").await;
    bot.ends_well().await;
    let store = world.stored().await;
    let pins = async |chat| {
        let mut pins = store.pins().of_chat(ChatId(chat)).unwrap();
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
    let part = ReplyPart::Call {
        name: "save_record".to_owned(),
        arguments: json!({"kind": "patient", "fields": {"name": "Mary Smith"}}),
    };
    world.when("Mary Smith needs care", ModelReply::turn(vec![part]));
    world.when("Mary Smith needs care", ModelReply::text("Dealt with: it"));
    world.say(BOB, BOB, "Mary Smith needs care");
    results(&world, "Mary Smith needs care", 1, (BOB, "Dealt with: it")).await;
    world.script.extract_when("I live in Riga", proposes(&[]));
    world.when("I live in Riga", ModelReply::text("Noted."));
    world.telegram.send(Say::new(BOB, BOB, "I live in Riga")).unwrap();
    says(&world, BOB, "Noted.").await;
    let asked = world.asked_for(OfflineModel::extraction_requests, "I live in Riga", 1).await;
    let told = asked[0].user_text();
    assert!(told.contains("patient: Mary Smith"), "{told}");
}
