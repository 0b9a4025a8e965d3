//! Pins: by command, as a reply, by a button, by the model and by themselves; listed, weighed, removed, put back; told with every
//! question; and where each came from.

use chrono::DateTime;
use figaro_base::ids::{ChatId, SessionId, UserId};
use figaro_domain::pin::{MAX_PINS, Pin, PinType, SystemPin};
use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use crate::support::calls::{error, find_and_call, says};
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

/// A supergroup whose number Telegram has links for.
const CLUB: i64 = -1_000_000_004_711;
const EMPTY: &str = "No pins yet.";
const GONE: &str = "This is no longer up to date.";

/// What stands among the pins of a request, a line each.
fn pins_in(request: &ModelRequest) -> Vec<String> {
    let texts: Vec<&str> =
        request.input().iter().filter_map(|item| item["content"][0]["text"].as_str()).collect();
    let all = texts.join("\n");
    let parts = all.split("<pins>\n").skip(1).map(|part| part.split("\n</pins>").next().unwrap());
    parts.flat_map(str::lines).map(str::to_owned).collect()
}

/// The pins that a question is asked with.
async fn told(world: &World, who: (i64, i64), words: &str) -> Vec<String> {
    let answer = format!("Answer to {words}");
    world.when(words, ModelReply::text(&answer));
    world.say(who.0, who.1, &format!("@figaro_bot {words}"));
    says(world, who.1, &answer).await;
    let asked = world.asked().into_iter().rev().find(|request| request.user_text().contains(words)).unwrap();
    pins_in(&asked)
}

/// Someone gives a command as a reply; gives what the bot says to it.
async fn replies(world: &World, say: Say, chat: i64) -> Value {
    let before = world.bot_texts(chat).len();
    world.telegram.send(say).unwrap();
    world.answers(chat, before + 1).await.pop().unwrap()
}

/// The pins of people in the store of a bot that has stopped.
async fn stored(world: &World, chat: i64) -> Vec<Pin> {
    let mut pins = world.stored().await.pins().of_chat(ChatId(chat)).unwrap();
    pins.retain(|pin| pin.about.is_none());
    pins
}

async fn shows_pin(world: &World, card: &Value, words: &str) -> Value {
    world.shows(number(&card["chat"]["id"]), number(&card["message_id"]), words).await
}

#[tokio::test]
async fn words_and_messages_are_pinned_and_told_with_every_question() {
    let world = World::new().await;
    let bot = world.start().await;
    assert!(told(&world, (ANN, ANN), "a plain question").await.is_empty());
    assert!(!world.asked()[0].body.to_string().contains("<kept>"), "without pins nothing is told");
    assert!(text(&world.told(ANN, ANN, "/pin").await).starts_with("Reply to a message with /pin"));
    let unseen = world.told(ANN, ANN, "/pin \u{202e}\u{200b}").await;
    assert!(text(&unseen).starts_with("There are no words in that message"), "{unseen}");
    assert!(text(&world.told(ANN, ANN, "/pins").await).starts_with(EMPTY));

    let card = world.told(ANN, ANN, "/PIN@figaro_bot   The code is <4711>  ").await;
    assert_eq!((text(&card), labels(&card)), ("📌 Pinned: The code is <4711>", vec!["Undo".to_owned()]));
    let again = world.told(ANN, ANN, "/pin the code is <4711>.").await;
    assert!(text(&again).starts_with("That is pinned already."), "{again}");
    assert_eq!(told(&world, (ANN, ANN), "what is the code?").await, ["- The code is &lt;4711>"]);

    // Of an answer in several messages all of it, whichever is replied to.
    let long = format!("It begins here. {} It ends here.", "A long story goes on. ".repeat(300));
    world.when("tell me a story", ModelReply::text(&long));
    world.say(ANN, ANN, "tell me a story");
    let last = says(&world, ANN, "It ends here.").await;
    // The bot has to know by which messages its answer was carried.
    world.caught_up().await;
    let card = replies(&world, Say::new(ANN, ANN, "/pin").reply_to(number(&last["message_id"])), ANN).await;
    assert!(text(&card).starts_with("📌 Pinned: It begins here."), "{card}");
    assert_eq!(world.press(ANN, &card, "Undo").await, "");
    shows_pin(&world, &card, "Not pinned any more: It begins here.").await;
    let pinned = replies(&world, Say::new(ANN, ANN, "/pin").reply_to(number(&last["message_id"])), ANN).await;
    assert!(text(&pinned).starts_with("📌 Pinned: It begins here."));

    let own = world.say(ANN, ANN, "Meet me at noon, by the lake").message_id;
    world.otherwise(ModelReply::text("Fine."));
    says(&world, ANN, "Fine.").await;
    let part = replies(&world, Say::new(ANN, ANN, "/pin").reply_to(own).quote("by the lake"), ANN).await;
    assert_eq!(text(&part), "📌 Pinned: by the lake");
    let photo = world.telegram.send(Say::new(ANN, ANN, "").photo(b"x".to_vec())).unwrap().message_id;
    says(&world, ANN, "cannot see pictures").await;
    let card = replies(&world, Say::new(ANN, ANN, "/pin").reply_to(photo), ANN).await;
    assert_eq!(text(&card), "There are no words in that message that I could pin.");
    let lines = told(&world, (ANN, ANN), "and now?").await;
    assert_eq!(
        (lines.len(), lines[0].as_str(), lines[2].as_str()),
        (3, "- The code is &lt;4711>", "- by the lake")
    );
    let story = &lines[1];
    assert!(story.contains("- It begins here.") && story.contains(" … [session-"), "{story}");
    assert!(story.ends_with("It ends here."), "{story}");
    let asked = world.asked().pop().unwrap();
    assert!(asked.tool_names().contains(&"lookup"), "the rest of it can be looked up");
    bot.ends_well().await;
    let pins = stored(&world, ANN).await;
    assert_eq!(pins.len(), 3);
    assert_eq!(
        (&pins[0].author, &pins[1].author),
        (&Some(UserId::telegram(ANN)), &None),
        "the bot has no account"
    );
    assert!(pins[1].content.contains("It ends here.") && pins[2].is_part);
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn pins_are_listed_weighed_removed_and_put_back() {
    let world = World::new().await;
    let bot = world.start().await;
    for words in ["buy milk", "call Ann"] {
        world.told(ANN, ANN, &format!("/pin {words}")).await;
    }
    let (card, stale) = (world.told(ANN, ANN, "/pins").await, world.told(ANN, ANN, "/pins").await);
    assert_eq!(labels(&card), ["call Ann", "buy milk"], "of equal ones the newest comes first");
    for card in [&card, &stale] {
        world.press(ANN, card, "buy milk").await;
        let open = shows_pin(&world, card, "📌 buy milk").await;
        let wanted = ["▲ More important", "▼ Less important", "See original", "Remove", "‹ Back"];
        assert_eq!(labels(&open), wanted);
        assert!(
            text(&open).contains("Importance: 5 of 10\n") && text(&open).contains("Words of Ann"),
            "{open}"
        );
    }
    let late = buttons(&shows_pin(&world, &stale, "📌 buy milk").await);
    for (button, wanted) in [("▲", 6), ("▲", 7), ("▼", 6), ("▲", 7), ("▲", 8), ("▲", 9), ("▲", 10)]
    {
        world.press(ANN, &card, button).await;
        shows_pin(&world, &card, &format!("Importance: {wanted} of 10")).await;
    }
    assert!(
        text(&shows_pin(&world, &card, "of 10").await).contains("I keep it in mind in all conversations")
    );
    assert_eq!(world.press(ANN, &card, "▲").await, "Nothing has changed.");
    world.press(ANN, &card, "‹ Back").await;
    let list = shows_pin(&world, &card, "the most important first").await;
    assert_eq!(labels(&list), ["buy milk", "call Ann"]);
    world.told(ANN, ANN, "/new").await;
    assert_eq!(told(&world, (ANN, ANN), "elsewhere").await, ["- buy milk"], "only the vital one goes along");

    world.press(ANN, &card, "buy milk").await;
    shows_pin(&world, &card, "📌 buy milk").await;
    assert_eq!(world.press(ANN, &card, "Remove").await, "Removed: buy milk");
    let left = shows_pin(&world, &card, "the most important first").await;
    assert_eq!(labels(&left), ["call Ann", "Undo"]);
    assert!(told(&world, (ANN, ANN), "without it").await.is_empty());
    for (button, data) in late.into_iter().filter(|(button, _)| button != "‹ Back") {
        assert_eq!(world.forged(ANN, &stale, &data).await, GONE, "{button}");
    }
    assert_eq!(world.press(ANN, &card, "Undo").await, "Pinned again: buy milk");
    assert_eq!(told(&world, (ANN, ANN), "with it again").await, ["- buy milk"]);
    for nonsense in [
        "pins:",
        "pins:open:x",
        "pins:more",
        "pin:yes:x",
        "pin:maybe",
        "pins:undo:01K9ZW5T3V8Q2N4M6P7R8S9TAB",
    ] {
        assert_eq!(world.forged(ANN, &card, nonsense).await, GONE, "{nonsense}");
    }
    bot.ends_well().await;
    let bot = world.start().await;
    assert_eq!(told(&world, (ANN, ANN), "after a restart").await, ["- buy milk"]);
    drop(bot);
}

#[tokio::test]
async fn a_full_chat_takes_no_more_and_its_list_has_pages() {
    let world = World::new().await;
    let store = world.stored().await;
    let session = SessionId::new();
    for at in 0..MAX_PINS {
        let pin = Pin::new(ChatId(ANN), session, format!("thing {at:03}"), DateTime::UNIX_EPOCH);
        store.pins().add(&Pin { importance: if at == 42 { 9.0 } else { 5.0 }, ..pin }).await.unwrap();
    }
    drop(store);
    let _bot = world.start().await;
    let full = world.told(ANN, ANN, "/pin one more").await;
    assert!(text(&full).starts_with("There are 100 pins here"), "{full}");
    let card = world.told(ANN, ANN, "/pins").await;
    assert_eq!((labels(&card).len(), labels(&card)[0].as_str()), (9, "thing 042"));
    world.press(ANN, &card, "Next ▶").await;
    let second = world
        .see("the second page", |view| {
            let card = view.messages(ANN).into_iter().find(|m| m["message_id"] == card["message_id"])?;
            labels(card).contains(&"◀ Previous".to_owned()).then(|| card.clone())
        })
        .await;
    let first = labels(&second)[0].clone();
    world.press(ANN, &second, &first).await;
    shows_pin(&world, &second, "📌 thing").await;
    world.press(ANN, &second, "‹ Back").await;
    let again = shows_pin(&world, &second, "the most important first").await;
    assert_eq!(labels(&again), labels(&second), "it goes back to the page that it came from");
}

#[tokio::test]
async fn the_original_is_replied_to_or_linked() {
    let world = World::new().await;
    world.telegram.add_supergroup(CLUB, "Club");
    world.join(CLUB);
    world.otherwise(ModelReply::text("Fine."));
    let _bot = world.start_open().await;
    let own = world.say(ANN, ANN, "The key is under the mat").message_id;
    says(&world, ANN, "Fine.").await;
    replies(&world, Say::new(ANN, ANN, "/pin").reply_to(own), ANN).await;
    let card = world.told(ANN, ANN, "/pins").await;
    world.press(ANN, &card, "The key").await;
    shows_pin(&world, &card, "📌 The key").await;
    assert_eq!(world.press(ANN, &card, "See original").await, "");
    let pointer = says(&world, ANN, "📌 This was pinned.").await;
    assert_eq!(pointer["reply_to_message"]["message_id"], own);
    world.telegram.delete(ANN, own).unwrap();
    assert_eq!(world.press(ANN, &card, "See original").await, "The original message is gone.");
    assert_eq!(
        told(&world, (ANN, ANN), "where is it?").await,
        ["- The key is under the mat"],
        "it stays pinned"
    );

    let said = world.say(BOB, CLUB, "We meet on Fridays").message_id;
    replies(&world, Say::new(ANN, CLUB, "/pin@figaro_bot").reply_to(said), CLUB).await;
    let card = world.told(BOB, CLUB, "/pins@figaro_bot").await;
    world.press(BOB, &card, "We meet").await;
    let open = shows_pin(&world, &card, "📌 We meet on Fridays").await;
    assert!(text(&open).contains("Words of Bob"), "{open}");
    let rows = open["reply_markup"]["inline_keyboard"].as_array().unwrap();
    let link =
        rows.iter().flat_map(|row| row.as_array().unwrap()).find(|button| button["text"] == "See original");
    assert_eq!(link.unwrap()["url"], format!("https://t.me/c/4711/{said}"));
    assert_eq!(told(&world, (ANN, CLUB), "when?").await, ["- Bob: We meet on Fridays"]);
}

#[tokio::test]
async fn the_model_pins_and_unpins_what_people_then_see() {
    let world = World::new().await;
    world.person(13, "Rui", "pt-br");
    let bot = world.start_open().await;
    assert!(!world.asked().iter().any(|request| request.tool_names().contains(&"unpin")));
    let ann = (ANN, ANN);
    let pinned = find_and_call(
        &world,
        ann,
        "keep the wifi name",
        ("pin", json!({"content": " Wifi: Nest ", "importance": 8})),
    )
    .await;
    assert_eq!(pinned["success"], true, "{pinned}");
    assert_eq!(told(&world, ann, "which wifi?").await, ["- Wifi: Nest"]);
    let card = world.told(ANN, ANN, "/pins").await;
    assert_eq!(labels(&card), ["Wifi: Nest"]);
    let calls = |said: &'static str, name: &'static str, arguments: Value| {
        let world = &world;
        async move { crate::support::calls::call(world, ann, said, name, arguments).await }
    };
    let again = calls("the same once more", "pin", json!({"content": "Wifi: Nest"})).await;
    assert_eq!((&again["already_there"], &again["pin_id"]), (&json!(true), &pinned["pin_id"]), "{again}");
    let vital = calls("of the highest rank", "pin", json!({"content": "x", "importance": 10})).await;
    assert!(error(&vital).contains("only people make a pin more important"), "{vital}");
    let long = calls("a very long one", "pin", json!({"content": "x".repeat(2001)})).await;
    assert!(error(&long).contains("1 to 2000 characters"), "{long}");
    assert!(error(&calls("an empty one", "pin", json!({"content": "  "})).await).contains("1 to 2000"));
    let list = find_and_call(&world, ann, "what have I pinned?", ("unpin", json!({"pin_id": "list"}))).await;
    assert!(error(&list).contains("no pin of this chat has this id"), "{list}");
    assert_eq!(list["pins"], json!([{"pin_id": pinned["pin_id"], "content": "Wifi: Nest"}]));
    let id = json!({"pin_id": pinned["pin_id"]});
    let elsewhere = find_and_call(&world, (BOB, BOB), "remove Ann's", ("unpin", id.clone())).await;
    assert_eq!((&elsewhere["success"], &elsewhere["pins"]), (&json!(false), &json!([])), "{elsewhere}");

    world.press(ANN, &card, "Wifi").await;
    let open = shows_pin(&world, &card, "📌 Wifi: Nest").await;
    assert!(
        !labels(&open).contains(&"See original".to_owned()) && !text(&open).contains("Words of"),
        "{open}"
    );
    for _ in 0..2 {
        world.press(ANN, &card, "▲").await;
    }
    shows_pin(&world, &card, "Importance: 10 of 10").await;
    let kept = calls("remove the wifi", "unpin", id.clone()).await;
    assert!(error(&kept).contains("only people remove it"), "{kept}");
    world.press(ANN, &card, "▼").await;
    shows_pin(&world, &card, "Importance: 9 of 10").await;
    let removed = calls("now remove it", "unpin", id).await;
    assert_eq!(removed["removed"]["content"], "Wifi: Nest", "{removed}");
    assert!(told(&world, ann, "which wifi now?").await.is_empty());
    bot.ends_well().await;
    assert!(stored(&world, ANN).await.is_empty());
}

#[tokio::test]
async fn what_is_vital_is_pinned_by_itself_and_follows_an_edit() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let bot = world.start_open().await;
    let said = world.say(ANN, ANN, "I am allergic to nuts. What can I cook?").message_id;
    says(&world, ANN, "I see.").await;
    assert_eq!(world.bot_texts(ANN), ["I see."], "nothing is said of it");
    for words in
        ["the allergy season is bad this year", "Is Bob allergic to anything?", "i am allergic to nuts"]
    {
        told(&world, (ANN, ANN), words).await;
    }
    world.telegram.send(Say::new(ANN, ANN, "I am allergic to cats, says Bob").forward_from(BOB)).unwrap();
    world.caught_up().await;
    world.told(ANN, ANN, "/new").await;
    assert_eq!(told(&world, (ANN, ANN), "and in a new conversation?").await, ["- i am allergic to nuts"]);
    let card = world.told(ANN, ANN, "/pins").await;
    assert_eq!(labels(&card), ["i am allergic to nuts"]);
    world.press(ANN, &card, "i am allergic").await;
    let open = shows_pin(&world, &card, "📌 i am allergic").await;
    assert!(text(&open).contains("Pinned automatically"), "{open}");

    // The latest message that says so is the source.
    world.telegram.edit(ANN, ANN, said, "I am allergic to fish").unwrap();
    assert_eq!(told(&world, (ANN, ANN), "the first one was edited").await, ["- i am allergic to nuts"]);
    let peanuts = world.say(ANN, ANN, "My emergency contact is Bob, 555-0100").message_id;
    world.caught_up().await;
    world.telegram.edit(ANN, ANN, peanuts, "My emergency contact is Carol, 555-0199").unwrap();
    let lines = told(&world, (ANN, ANN), "the second one was edited").await;
    assert_eq!(lines, ["- i am allergic to nuts", "- My emergency contact is Carol, 555-0199"]);
    world.telegram.edit(ANN, ANN, peanuts, "Never mind").unwrap();
    assert_eq!(told(&world, (ANN, ANN), "it says no more").await, ["- i am allergic to nuts"]);

    // While the answer is being written a question begins again with its new text.
    let gate = Gate::new();
    world.when("allergic to bees", ModelReply::text("Oh.").behind(&gate));
    let bees = world.say(ANN, ANN, "I am allergic to bees").message_id;
    let is_asked =
        |all: &[ModelRequest]| all.iter().any(|asked| asked.user_text().contains("bees")).then_some(());
    world.model.wait_until(TIMEOUT, is_asked).await.unwrap();
    world.when("I like bees", ModelReply::text("So do I."));
    world.telegram.edit(ANN, ANN, bees, "I like bees").unwrap();
    says(&world, ANN, "So do I.").await;
    gate.open();
    assert_eq!(told(&world, (ANN, ANN), "and the bees?").await, ["- i am allergic to nuts"]);

    let noted = world.say(ANN, ANN, "/pin Lunch at noon").message_id;
    says(&world, ANN, "📌 Pinned: Lunch at noon").await;
    world.telegram.edit(ANN, ANN, noted, "/pin Lunch at one").unwrap();
    assert!(told(&world, (ANN, ANN), "when is lunch?").await.contains(&"- Lunch at one".to_owned()));

    world.say(ANN, TEAM, "@figaro_bot I am allergic to nuts");
    says(&world, TEAM, "I see.").await;
    world.say(BOB, TEAM, "@figaro_bot I am allergic to nuts");
    let lines = told(&world, (BOB, TEAM), "who is allergic?").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("- Ann: ") && lines[1].starts_with("- Bob: "), "{lines:?}");
    bot.ends_well().await;
    assert!(stored(&world, TEAM).await.iter().all(|pin| pin.pin_type == PinType::Auto));
}

#[tokio::test]
async fn a_button_under_an_answer_worth_keeping_asks_back_and_pins_it() {
    let world = World::new().await;
    let bot = world.start().await;
    let code = format!("```python\n{}```", "total = total + price\n".repeat(6));
    for at in 0..2 {
        world.when("write the loop", ModelReply::text(&format!("{code}\nNumber {at}")));
        world.say(ANN, ANN, &format!("write the loop {at}"));
        let answer = says(&world, ANN, &format!("Number {at}")).await;
        assert_eq!(labels(&answer), ["📌 Pin"]);
        world.press(ANN, &answer, "📌 Pin").await;
        let asks = says(&world, ANN, "Pin this answer?").await;
        let is_bare = |view: &TelegramView<'_>| {
            let now = view.messages(ANN).into_iter().find(|m| m["message_id"] == answer["message_id"])?;
            labels(now).is_empty().then_some(())
        };
        world.see("the answer without its button", is_bare).await;
        assert_eq!(labels(&asks), ["Yes", "No"]);
        world.press(ANN, &asks, if at == 0 { "No" } else { "Yes" }).await;
        shows_pin(&world, &asks, if at == 0 { "Not pinned." } else { "📌 Pinned: " }).await;
        if at == 0 {
            world.telegram.delete(ANN, number(&asks["message_id"])).unwrap();
        }
    }
    let lines = told(&world, (ANN, ANN), "what was it?").await;
    assert_eq!((lines.len(), lines[1].as_str()), (9, "  total = total + price"), "{lines:?}");
    world.when("just talk", ModelReply::text("Some plain words."));
    world.say(ANN, ANN, "just talk");
    assert!(labels(&says(&world, ANN, "Some plain words.").await).is_empty());
    bot.ends_well().await;
    let pins = stored(&world, ANN).await;
    assert_eq!((pins.len(), pins[0].pin_type), (1, PinType::Code));
    assert!(pins[0].content.contains("Number 1") && pins[0].source.is_some());
}

#[tokio::test]
async fn figaro_keeps_the_zone_and_the_session_which_people_see_and_no_prompt_has() {
    let world = World::new().await;
    world.telegram.add_group(-5, "Lunch");
    world.join(-5);
    let bot = world.start_open().await;
    for zone in ["Europe/Riga", "Europe/Lisbon"] {
        world.told(ANN, ANN, &format!("/timezone {zone}")).await;
    }
    world.told(ANN, ANN, "/new Trip").await;
    assert!(told(&world, (ANN, ANN), "a plain question").await.is_empty());
    assert!(!world.asked()[0].body.to_string().contains("<kept>"));
    world.told(ANN, ANN, "/pin bring a tent").await;
    let card = world.told(ANN, ANN, "/pins").await;
    assert!(
        text(&card).contains("Time zone: Europe/Lisbon\n") && text(&card).contains("Conversation: Trip ("),
        "{card}"
    );
    assert!(!text(&card).contains("UTC"), "times are told by the clock of the chat: {card}");
    assert_eq!(labels(&card), ["bring a tent"]);

    // A group that becomes a supergroup takes its pins along; its old messages have other numbers there.
    world.told(ANN, -5, "/pin@figaro_bot Lunch is at noon").await;
    world.told(ANN, -5, "/timezone@figaro_bot Europe/Riga").await;
    let club = world.telegram.migrate(-5).unwrap();
    let card = world.told(ANN, club, "/pins@figaro_bot").await;
    assert!(text(&card).contains("Time zone: Europe/Riga"), "{card}");
    world.press(ANN, &card, "Lunch").await;
    let open = shows_pin(&world, &card, "📌 Lunch is at noon").await;
    assert!(!labels(&open).contains(&"See original".to_owned()), "{open}");
    bot.ends_well().await;
    let pins = world.stored().await.pins().of_chat(ChatId(ANN)).unwrap();
    let own = |about: SystemPin| pins.iter().filter(|pin| pin.about == Some(about)).count();
    assert_eq!((own(SystemPin::Zone), own(SystemPin::Session(None))), (1, 1), "each is kept once");
}
