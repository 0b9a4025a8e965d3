//! The files of packs: checked, and read again while the bot runs.

use super::*;

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
    says(&world, ANN, "I have read the context pack files").await;
    assert_eq!(told(&asked(&world, HERE, "prices, please").await), ["product: Tea at 3.5 EUR"]);

    // A pack that is gone is not there; what was saved in it waits for it.
    fs::remove_file(world.folder.path().join("prompts/packs/shop.yaml")).unwrap();
    says(&world, ANN, "Your packs: none").await;
    let request = asked(&world, HERE, "any price?").await;
    assert!(told(&request).is_empty() && !request.tool_names().contains(&"save_record"), "{request:?}");
    let card = world.told(ANN, ANN, "/records").await;
    assert!(text(&card).contains("no longer available: shop"), "{card}");
    let config = world.told(ANN, ANN, "/config").await;
    assert!(text(&config).contains("Packs: shop ⚠️"), "{config}");
    world.press(ANN, &config, "Packs").await;
    world.shows(ANN, number(&config["message_id"]), "Records: packs of forms").await;
    choose(&world, HERE, "School class").await;
    let config = world.told(ANN, ANN, "/config").await;
    assert!(text(&config).contains("Packs: shop ⚠️, School class\n"), "{config}");
}

#[tokio::test]
async fn a_chat_takes_so_many_packs_and_a_button_does_what_it_said_however_often_it_is_pressed() {
    let world = World::new().await;
    for at in 1..=7 {
        let pack =
            SHOP.replace("name: shop", &format!("name: shop{at}")).replace("Shop", &format!("Shop{at}"));
        write(world.folder.path(), &format!("shop{at}.yaml"), &pack);
    }
    let bot = world.start_open().await;
    let card = world.told(ANN, ANN, "/records").await;
    let on_card = buttons(&card);
    let all: Vec<_> = on_card.into_iter().filter(|(_, data)| data.contains(":use:")).collect();
    assert_eq!(all.len(), 8, "the ninth is on the next page: {all:?}");
    // Two people have the same card: the second press leaves what the first has done.
    for (_, data) in &all {
        assert_eq!(world.press_data(ANN, &card, data).await, "Saved.");
        assert_eq!(world.press_data(ANN, &card, data).await, "Saved.");
    }
    let refused = world.forged(ANN, &card, "records:use:shop7:1").await;
    assert_eq!(refused, "A chat has at most 8 packs. Turn one off first.");
    bot.ends_well().await;
    let config = world.stored().await.settings().chat_config(ChatId(ANN)).unwrap();
    assert_eq!(config.packs.len(), 8, "{:?}", config.packs);
}
