//! Who may talk to the bot: owners, those an owner allowed, everybody where it is open, and the first to open the link.

use figaro::demo::model::Reply;
use figaro::demo::telegram::Say;

use crate::support::scene::text;
use crate::support::{ANN, BOB, World};

const CARL: i64 = 13;

#[tokio::test]
async fn a_stranger_is_told_once_and_then_nothing_until_an_owner_allows_them() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    world.otherwise(Reply::text("Hello."));
    let _bot = world.start().await;
    let told = world.told(BOB, BOB, "hello?").await;
    assert_eq!(text(&told), "This bot is private. If you know its owner, give them this number: 12");
    for words in ["hello??", "/start", "/allow 12"] {
        world.say(BOB, BOB, words);
    }
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB).len(), 1);
    assert!(world.asked().is_empty());

    assert_eq!(text(&world.told(ANN, ANN, "/allow 12").await), "12 may talk to me now.");
    assert_eq!(text(&world.told(BOB, BOB, "and now?").await), "Hello.");
    assert_eq!(text(&world.told(BOB, BOB, "/allow 13").await), "Only an owner of the bot can do that.");
    assert_eq!(text(&world.told(ANN, ANN, "/Deny  12").await), "12 may no longer talk to me.");
    world.say(BOB, BOB, "still there?");
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB).len(), 3);
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn allow_and_deny_explain_themselves() {
    let world = World::new().await;
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/allow").await;
    assert!(text(&card).contains("Owners: 11\nPeople: nobody\nGroups: nobody\nMode: allowlist"), "{card}");
    let card = world.told(ANN, ANN, "/allow Bob").await;
    assert_eq!(text(&card), "Say whom: /allow NUMBER, the number the stranger was told.");
    assert_eq!(text(&world.told(ANN, ANN, "/deny 12").await), "Nothing to change: that was so already.");
}

#[tokio::test]
async fn an_open_bot_talks_to_everybody() {
    let world = World::new().await;
    world.otherwise(Reply::text("Hello."));
    let _bot = world.start_open().await;
    assert_eq!(text(&world.told(BOB, BOB, "hello?").await), "Hello.");
    assert_eq!(text(&world.told(BOB, BOB, "/deny 11").await), "Only an owner of the bot can do that.");
}

#[tokio::test]
async fn the_first_to_open_the_link_owns_the_bot_and_nobody_after() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let recipe = world.bot().unset("OWNER_IDS");
    let bot = recipe.spawn();
    bot.ready().await;
    bot.logged("to become its owner.").await;
    let log = bot.log();
    let (_, link) = log.split_once("https://t.me/figaro_bot?start=").unwrap();
    let code = link.split_whitespace().next().unwrap().to_owned();
    assert_eq!(log.matches("https://t.me/").count(), 1);

    let told = world.told(CARL, CARL, "/start 00112233445566778899aabbccddeeff").await;
    assert!(text(&told).starts_with("This bot is private."), "{told}");
    // Two open it at the same moment.
    for user in [ANN, BOB] {
        world.say(user, user, &format!("/start {code}"));
    }
    let card = world.answers(ANN, 1).await.remove(0);
    assert!(text(&card).starts_with("You own this bot now."), "{card}");
    assert!(text(&world.answers(BOB, 1).await[0]).starts_with("This bot is private."));
    world.told(ANN, ANN, "/allow 12").await;
    assert_eq!(
        text(&world.told(BOB, BOB, &format!("/start {code}")).await),
        "This link is no longer good. A new one is in the bot's log."
    );

    assert!(bot.stop().success());
    let bot = recipe.spawn();
    bot.ready().await;
    assert!(text(&world.told(ANN, ANN, "/status").await).starts_with("Figaro "), "owners see it all");
    assert_eq!(bot.log().matches("https://t.me/").count(), 1, "an owned bot offers no link");
}

#[tokio::test]
async fn a_bot_whose_settings_name_an_owner_offers_no_link() {
    let world = World::new().await;
    let bot = world.start().await;
    world.told(ANN, ANN, "/status").await;
    assert!(!bot.log().contains("t.me/"), "{}", bot.log());
}

#[tokio::test]
async fn a_forwarded_command_is_a_text_to_read_and_no_order() {
    let world = World::new().await;
    world.otherwise(Reply::text("That would let someone in."));
    let _bot = world.start().await;
    world.telegram.send(Say::new(ANN, ANN, "/allow 12").forward_from(BOB)).unwrap();
    assert_eq!(text(&world.answers(ANN, 1).await[0]), "That would let someone in.");
    world.say(BOB, BOB, "hello?");
    assert!(text(&world.answers(BOB, 1).await[0]).starts_with("This bot is private."));
}
