//! A group that no owner has let in: owners decide about it with a button, and nothing of it is answered or kept before.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::MemberStatus;
use serde_json::Value;

use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, Bot, World};

const CARL: i64 = 13;
const WAITS: &str = "I may talk in this group once my owner agrees. I have asked.";
const JOINED: &str = "I am Figaro.";

/// A world with a group that the bot is not in, and the bot.
async fn outside() -> (World, Bot) {
    let world = World::without_privacy().await;
    world.team();
    world.telegram.set_member(TEAM, world.telegram.bot_id(), MemberStatus::Left).unwrap();
    world.otherwise(ModelReply::text("Hello."));
    let bot = world.start().await;
    (world, bot)
}

/// Bob adds the bot; gives the card that Ann, the owner, is asked with.
async fn added(world: &World) -> Value {
    world.telegram.bot_joined(TEAM, BOB).unwrap();
    let card = says(world, ANN, "Bob (@bob) has added me to the group “Team” (3 members).").await;
    assert_eq!(labels(&card), ["Allow", "Leave", "Ignore"]);
    says(world, TEAM, WAITS).await;
    card
}

fn calls_of(world: &World, method: &str) -> usize {
    world.telegram.view(|view| view.calls_of(method).len())
}

#[tokio::test]
async fn nothing_of_a_group_is_answered_or_kept_before_an_owner_allows_it() {
    let (world, _bot) = outside().await;
    let card = added(&world).await;
    for words in ["the secret is tuna", "@figaro_bot hello", "/help@figaro_bot"] {
        world.say(BOB, TEAM, words);
    }
    world.say(ANN, TEAM, "the owner says salmon");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), [WAITS]);
    assert_eq!(world.press(ANN, &card, "Allow").await, "Everyone in “Team” may talk to me now.");
    let card = world.shows(ANN, number(&card["message_id"]), "may talk to me now.").await;
    assert!(labels(&card).is_empty());
    says(&world, TEAM, JOINED).await;
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot and now?").await), "Hello.");
    let prompt = world.asked().last().unwrap().body.to_string();
    assert!(!prompt.contains("tuna") && !prompt.contains("salmon"), "{prompt}");
}

#[tokio::test]
async fn a_group_that_is_left_stays_shut_when_somebody_adds_the_bot_again() {
    let (world, _bot) = outside().await;
    let card = added(&world).await;
    assert!(world.press(ANN, &card, "Leave").await.starts_with("I have left “Team”."));
    world.see("the bot leaves", |view| (!view.calls_of("leaveChat").is_empty()).then_some(())).await;
    world.telegram.bot_joined(TEAM, BOB).unwrap();
    world.say(BOB, TEAM, "@figaro_bot hello");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), [WAITS]);
    let asked = world.bot_texts(ANN).iter().filter(|text| text.contains("added me")).count();
    assert_eq!(asked, 0, "the card shows the decision, and no further one came");
    // An owner who adds it lets the group in.
    world.telegram.bot_removed(TEAM, ANN).unwrap();
    world.telegram.bot_joined(TEAM, ANN).unwrap();
    says(&world, TEAM, JOINED).await;
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot hello").await), "Hello.");
}

#[tokio::test]
async fn an_ignored_group_hears_nothing_and_asks_nobody_again() {
    let (world, bot) = outside().await;
    let card = added(&world).await;
    assert!(world.press(ANN, &card, "Ignore").await.starts_with("I stay in “Team”"));
    world.say(BOB, TEAM, "@figaro_bot hello");
    world.caught_up().await;
    bot.ends_well().await;
    let _bot = world.start().await;
    world.say(BOB, TEAM, "@figaro_bot hello?");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), [WAITS]);
    assert_eq!(calls_of(&world, "leaveChat"), 0);
    // The decision of the card does not bind the owner.
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot hello").await), "Hello.");
}

#[tokio::test]
async fn a_group_that_the_bot_was_in_before_asks_when_the_bot_is_spoken_to() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start().await;
    world.told(ANN, ANN, "/allow 12").await;
    world.say(BOB, TEAM, "nobody is addressed");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), [""; 0]);
    world.say(BOB, TEAM, "@figaro_bot hello");
    let words = "Bob (@bob) talks to me in the group “Team” (3 members).";
    let card = says(&world, ANN, words).await;
    says(&world, TEAM, WAITS).await;
    assert_eq!(text(&world.told(BOB, BOB, "hello").await), "Hello.", "in private Bob may");
    world.press(ANN, &card, "Allow").await;
    says(&world, TEAM, JOINED).await;
    // A second press of another kind takes nothing back.
    let late = world.press_data(ANN, &card, &format!("group:leave:{TEAM}")).await;
    assert!(late.starts_with("That is decided already. Everyone in “Team” may talk"), "{late}");
    assert_eq!(calls_of(&world, "leaveChat"), 0);
}

#[tokio::test]
async fn only_an_owner_decides_about_a_group_and_with_an_allowlist_nobody_is_asked() {
    let (world, bot) = outside().await;
    let card = added(&world).await;
    world.told(ANN, ANN, "/allow 12").await;
    let own = world.told(BOB, BOB, "/help").await;
    let forged = world.forged(BOB, &own, &format!("group:allow:{TEAM}")).await;
    assert_eq!(forged, "Only an owner of the bot can do that.");
    for data in ["group:", "group:allow", "group:allow:x", "group:adopt:-1", "group:allow:-1:more"] {
        assert_eq!(world.forged(ANN, &card, data).await, "This is no longer up to date.", "{data}");
    }
    bot.ends_well().await;
    let other = -1002;
    world.telegram.add_supergroup(other, "Strangers");
    world.join(other);
    world.telegram.set_member(other, world.telegram.bot_id(), MemberStatus::Left).unwrap();
    world.person(CARL, "Carl", "en");
    let bot = world.bot().set("ACCESS", "allowlist").spawn();
    bot.ready().await;
    let before = world.bot_texts(ANN).len();
    world.telegram.bot_joined(other, BOB).unwrap();
    says(&world, other, "I may talk in this group once my owner lets it in: they send /allow here.").await;
    assert!(text(&world.told(CARL, CARL, "hello").await).contains("send its owner this number: 13"));
    assert_eq!(world.bot_texts(ANN).len(), before, "the owner was asked nothing");
    world.told(ANN, other, "/allow@figaro_bot").await;
    assert_eq!(text(&world.told(BOB, other, "@figaro_bot hi").await), "Hello.");
}
