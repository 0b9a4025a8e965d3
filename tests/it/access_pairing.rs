//! Codes that an owner makes for people: good once, for a day, by message or by link, and not to be guessed.

use figaro_offline::model::ModelReply;
use serde_json::Value;

use super::audit::said;
use crate::support::calls::says;
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, World};

const CARL: i64 = 13;
const IN: &str = "The owner has let you in.";
const WRONG: &str = "This code does not work. Each code works once";

/// Ann has a code made; gives it as it is shown and as it stands in the link.
async fn code(world: &World) -> (String, String) {
    let card = world.told(ANN, ANN, "/allow code").await;
    read(&card)
}

fn read(card: &Value) -> (String, String) {
    let words = text(card);
    let shown = words.strip_prefix("Code: ").unwrap().lines().next().unwrap();
    let (_, link) = words.split_once("https://t.me/figaro_bot?start=").unwrap();
    assert_eq!(shown.replace('-', ""), link);
    assert_eq!(link.len(), 8);
    (shown.to_owned(), link.to_owned())
}

#[tokio::test]
async fn a_code_lets_one_person_in_and_the_owner_is_told_who() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    world.otherwise(ModelReply::text("Hello."));
    let bot = world.start().await;
    let (shown, link) = code(&world).await;
    assert!(text(&world.told(BOB, BOB, &shown.to_lowercase()).await).starts_with(IN));
    says(&world, ANN, "Bob (@bob) came in with a code and may talk to me now.").await;
    assert_eq!(text(&world.told(BOB, BOB, "hello").await), "Hello.");
    for words in [shown.clone(), format!("/start {link}")] {
        assert!(text(&world.told(CARL, CARL, &words).await).starts_with(WRONG), "{words}");
    }
    // Another one, made with the button and opened as a link.
    let list = world.told(ANN, ANN, "/allow").await;
    let before = world.bot_texts(ANN).len();
    assert_eq!(world.press(ANN, &list, "Make a code").await, "");
    let card = world.answers(ANN, before + 1).await.pop().unwrap();
    let (_, link) = read(&card);
    assert!(text(&world.told(CARL, CARL, &format!("/start {link}")).await).starts_with(IN));
    assert_eq!(text(&world.told(CARL, CARL, "hello").await), "Hello.");
    bot.ends_well().await;
    let lines = said(&world, &[]).await;
    assert_eq!(lines.matches(" code_made by=tg:11 method=code").count(), 2, "{lines}");
    assert!(lines.contains(" access_allowed by=tg:12 method=code target=tg:12"), "{lines}");
    let stored = world.records().all("access").into_iter().map(|(_, value)| value).collect::<Vec<_>>();
    assert!(stored.iter().all(|value| !String::from_utf8_lossy(value).contains(&link)));
}

#[tokio::test]
async fn a_code_is_void_after_a_day_and_holds_over_a_restart() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let bot = world.start().await;
    let (first, _) = code(&world).await;
    bot.ends_well().await;
    let bot = world.start().await;
    assert!(text(&world.told(BOB, BOB, &first).await).starts_with(IN));
    says(&world, ANN, "Bob (@bob) came in with a code").await;
    let (second, _) = code(&world).await;
    bot.ends_well().await;
    let records = world.records();
    let (key, list) = records.all("access").into_iter().next().expect("the list");
    let mut list: Value = serde_json::from_slice(&list).unwrap();
    assert_eq!(list["codes"].as_array().unwrap().len(), 1);
    list["codes"][0]["expires_at"] = "2020-01-01T00:00:00Z".into();
    records.put("access", &key, list.to_string());
    drop(records);
    let _bot = world.start().await;
    assert!(text(&world.told(CARL, CARL, &second).await).starts_with(WRONG));
}

#[tokio::test]
async fn whoever_guesses_is_not_looked_at_any_more() {
    let world = World::new().await;
    let _bot = world.start().await;
    let (good, _) = code(&world).await;
    let wrong = if good == "CCCC-CCCC" { "DDDD-DDDD" } else { "CCCC-CCCC" };
    for guess in 1..=5 {
        let told = world.told(BOB, BOB, wrong).await;
        let last = "This code does not work either. You can try again in an hour.";
        assert_eq!(text(&told) == last, guess == 5, "{guess}: {told}");
    }
    world.say(BOB, BOB, wrong);
    world.say(BOB, BOB, &good);
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB).len(), 5);
    // The code is still good for somebody else, and what is no code asks the owner as ever.
    assert!(text(&world.told(BOB, BOB, "hello?").await).starts_with("This bot is private. I have asked"));
    world.person(CARL, "Carl", "en");
    assert!(text(&world.told(CARL, CARL, &good).await).starts_with(IN));
}

#[tokio::test]
async fn a_mistyped_code_is_answered_in_words_and_counts_as_a_guess() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let _bot = world.start().await;
    let (shown, link) = code(&world).await;
    let typed = [shown[..8].to_owned(), format!("{shown}C"), format!("/start {}", &link[1..])];
    for words in typed {
        let told = world.told(BOB, BOB, &words).await;
        assert!(text(&told).starts_with("I do not know this code. A code has 8"), "{words}: {told}");
    }
    assert!(text(&world.told(BOB, BOB, &shown.replace('-', " ")).await).starts_with(IN));
    // Few answers, however many are sent; and whoever says something else is asked about as ever.
    for _ in 0..7 {
        world.say(CARL, CARL, "CCCC-CCC");
    }
    world.see("the last answer", |view| (view.bot_messages(CARL).len() >= 5).then_some(())).await;
    world.caught_up().await;
    assert_eq!(world.bot_texts(CARL).len(), 5);
    assert!(text(&world.told(CARL, CARL, "hello?").await).starts_with("This bot is private. I have asked"));
}

#[tokio::test]
async fn a_code_is_made_by_owners_in_private_and_lets_nobody_in_who_is_denied() {
    let world = World::new().await;
    world.team();
    world.person(CARL, "Carl", "en");
    let bot = world.start().await;
    let told = world.told(ANN, TEAM, "/allow@figaro_bot code").await;
    assert!(text(&told).starts_with("Ask for a code in our private chat"), "{told}");
    world.told(ANN, ANN, "/allow 12").await;
    assert_eq!(text(&world.told(BOB, BOB, "/allow code").await), "Only an owner of the bot can do that.");
    let own = world.told(BOB, BOB, "/help").await;
    assert_eq!(world.forged(BOB, &own, "code:new").await, "Only an owner of the bot can do that.");
    world.told(ANN, ANN, "/deny 13").await;
    let (good, _) = code(&world).await;
    world.say(CARL, CARL, &good);
    world.caught_up().await;
    assert_eq!(world.bot_texts(CARL), [""; 0]);
    bot.ends_well().await;
    let bot = world.bot().set("ACCESS", "allowlist").spawn();
    bot.ready().await;
    assert!(text(&world.told(ANN, ANN, "/allow code").await).starts_with("Codes work only if"));
    world.told(ANN, ANN, "/deny 12").await;
}
