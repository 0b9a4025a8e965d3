//! A stranger's first message asks every owner, who lets them in, ignores or blocks them with a button.

use figaro_offline::model::ModelReply;
use serde_json::Value;

use crate::support::calls::says;
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, World};

const CARL: i64 = 13;
const RUI: i64 = 14;
const OLA: i64 = 15;
const EVE: i64 = 16;
const ASKED: &str = "This bot is private. I have asked its owner whether you may talk to me.";

/// Somebody writes for the first time; gives the card that Ann, the owner, is asked with.
async fn asks(world: &World, who: i64, name: &str) -> Value {
    world.say(who, who, "hello?");
    let card = says(world, ANN, &format!("{name} wants to talk to me.\n“hello?”")).await;
    assert_eq!(labels(&card), ["Allow", "Ignore", "Block"]);
    world.caught_up().await;
    card
}

#[tokio::test]
async fn whoever_is_allowed_is_greeted_in_their_language_and_may_talk() {
    let world = World::new().await;
    world.person(RUI, "Rui", "pt-br");
    world.otherwise(ModelReply::text("Hello."));
    let _bot = world.start().await;
    let card = asks(&world, RUI, "Rui").await;
    assert!(world.bot_texts(RUI)[0].starts_with("Este bot é privado."), "{:?}", world.bot_texts(RUI));
    assert_eq!(world.press(ANN, &card, "Allow").await, "Rui may talk to me now.");
    let card = world.shows(ANN, number(&card["message_id"]), "Rui may talk to me now.").await;
    assert!(labels(&card).is_empty());
    says(&world, RUI, "O dono deixou você entrar.").await;
    assert_eq!(text(&world.told(RUI, RUI, "e agora?").await), "Hello.");
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(text(&list).contains("Owners: Ann (@ann)\nPeople: Rui\n"), "{list}");
    let told = world.told(ANN, ANN, "/deny @rui").await;
    assert!(text(&told).starts_with("I do not know the username @rui."), "{told}");
}

#[tokio::test]
async fn whoever_is_ignored_or_blocked_hears_nothing_more() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let _bot = world.start().await;
    let (bobs, carls) = (asks(&world, BOB, "Bob (@bob)").await, asks(&world, CARL, "Carl").await);
    assert!(world.press(ANN, &bobs, "Ignore").await.starts_with("Bob (@bob) is not let in"));
    assert!(world.press(ANN, &carls, "Block").await.starts_with("Carl may not talk to me"));
    for who in [BOB, CARL] {
        world.say(who, who, "and now?");
    }
    world.caught_up().await;
    assert_eq!(
        (world.bot_texts(BOB), world.bot_texts(CARL)),
        (vec![ASKED.to_owned()], vec![ASKED.to_owned()])
    );
    let to_ann: Vec<String> = world.bot_texts(ANN).into_iter().filter(|text| text != "I have.").collect();
    assert_eq!(to_ann.len(), 2, "{to_ann:?}");
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(text(&list).contains("People: nobody\nGroups: nobody\nDenied: Carl\n"), "{list}");
    // An owner changes their mind, by number or by username.
    assert_eq!(text(&world.told(ANN, ANN, "/allow 12").await), "Bob (@bob) may talk to me now.");
    assert_eq!(text(&world.told(ANN, ANN, "/deny @Bob").await), "Bob (@bob) may no longer talk to me.");
    assert_eq!(text(&world.told(ANN, ANN, "/allow @bob").await), "Bob (@bob) may talk to me now.");
}

#[tokio::test]
async fn only_an_owner_decides_and_a_made_up_button_lets_nobody_in() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let _bot = world.start().await;
    asks(&world, CARL, "Carl").await;
    world.told(ANN, ANN, "/allow 12").await;
    let own = world.told(BOB, BOB, "/help").await;
    let forged = world.forged(BOB, &own, &format!("admit:allow:{CARL}")).await;
    assert_eq!(forged, "Only an owner of the bot can do that.");
    let denied = world.forged(ANN, &own, &format!("admit:block:{ANN}")).await;
    assert!(denied.starts_with("That is an owner"), "{denied}");
    for data in ["admit:", "admit:allow", "admit:allow:x", "admit:adopt:13", "admit:allow:13:en:more"] {
        assert_eq!(world.forged(ANN, &own, data).await, "This is no longer up to date.", "{data}");
    }
    world.say(CARL, CARL, "hello?");
    world.caught_up().await;
    assert_eq!(world.bot_texts(CARL), [ASKED]);
}

#[tokio::test]
async fn many_strangers_do_not_flood_the_owner() {
    let world = World::new().await;
    let strangers = 100..120;
    for who in strangers.clone() {
        world.person(who, &format!("Stranger {who}"), "en");
    }
    let _bot = world.start().await;
    for who in strangers.clone() {
        world.say(who, who, "buy my coins");
    }
    for who in strangers.clone() {
        says(&world, who, "This bot is private.").await;
    }
    let all = strangers.map(|who| world.bot_texts(who).remove(0));
    let (asked, others): (Vec<String>, Vec<String>) = all.partition(|words| words == ASKED);
    assert_eq!((asked.len(), world.bot_texts(ANN).len()), (10, 10));
    assert!(others.iter().all(|words| words.contains("send its owner this number: 1")), "{others:?}");
}

#[tokio::test]
async fn of_two_owners_the_first_decides_and_the_other_sees_what() {
    let world = World::new().await;
    let bot = world.bot().set("OWNER_IDS", &format!("{ANN},{BOB}")).spawn();
    bot.ready().await;
    for (person, name, presses) in [
        (CARL, "Carl", ["Allow", "Block"]),
        (RUI, "Rui", ["Block", "Allow"]),
        (OLA, "Ola", ["Allow", "Ignore"]),
        (EVE, "Eve", ["Ignore", "Allow"]),
    ] {
        world.person(person, name, "en");
        world.say(person, person, "hello?");
        let words = format!("{name} wants to talk to me.");
        let (anns, bobs) = (says(&world, ANN, &words).await, says(&world, BOB, &words).await);
        let first = world.press(ANN, &anns, presses[0]).await;
        let second = world.press(BOB, &bobs, presses[1]).await;
        let may = if presses.contains(&"Block") { presses[0] == "Allow" } else { true };
        let told = if may { "may talk to me now." } else { "may not talk to me, not even in groups." };
        assert!(first.contains(name) && second.contains(told), "{presses:?}: {first} / {second}");
        let is_late = presses[0] != "Ignore";
        assert_eq!(second.starts_with("That is decided already. "), is_late, "{presses:?}: {second}");
        let card = world.shows(BOB, number(&bobs["message_id"]), told).await;
        assert!(labels(&card).is_empty(), "{card}");
        let list = world.told(ANN, ANN, "/allow").await;
        let line = |begin: &str| text(&list).lines().find(|line| line.starts_with(begin)).unwrap().to_owned();
        assert_eq!(line("People: ").contains(name), may, "{presses:?}: {list}");
        assert_eq!(line("Denied: ").contains(name), !may, "{presses:?}: {list}");
        let greetings = world.bot_texts(person).iter().filter(|text| text.contains("let you in")).count();
        assert_eq!(greetings, usize::from(may), "{presses:?}");
    }
}

#[tokio::test]
async fn two_owners_who_press_in_the_same_moment_end_with_one_decision() {
    let world = World::new().await;
    let bot = world.bot().set("OWNER_IDS", &format!("{ANN},{BOB}")).spawn();
    bot.ready().await;
    for person in 100..105 {
        let name = format!("Stranger {person}");
        world.person(person, &name, "en");
        world.say(person, person, "hello?");
        let words = format!("{name} wants to talk to me.");
        let (anns, bobs) = (says(&world, ANN, &words).await, says(&world, BOB, &words).await);
        let (allow, block) = tokio::join!(world.press(ANN, &anns, "Allow"), world.press(BOB, &bobs, "Block"));
        let late = [&allow, &block].map(|toast| toast.starts_with("That is decided already. "));
        assert!(late[0] != late[1], "{allow} / {block}");
        let list = world.told(ANN, ANN, "/allow").await;
        let people = text(&list).lines().find(|line| line.starts_with("People: ")).unwrap();
        assert_eq!(people.contains(&name), !late[0], "{allow} / {block}: {people}");
        let is_greeted = world.bot_texts(person).iter().any(|text| text.contains("let you in"));
        assert_eq!(is_greeted, !late[0], "{allow} / {block}");
    }
}

#[tokio::test]
async fn a_button_of_before_takes_back_no_later_decision() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let bot = world.start().await;
    world.otherwise(ModelReply::text("Hello, Carl."));
    let card = asks(&world, CARL, "Carl").await;
    world.told(ANN, ANN, &format!("/allow {CARL}")).await;
    // A question from before is answered now.
    says(&world, CARL, "Hello, Carl.").await;
    let before = world.bot_texts(CARL);
    world.told(ANN, ANN, &format!("/deny {CARL}")).await;
    bot.ends_well().await;
    let _bot = world.start().await;
    let toast = world.press(ANN, &card, "Allow").await;
    assert!(toast.starts_with("That is decided already. Carl may not talk to me"), "{toast}");
    world.say(CARL, CARL, "hello again?");
    world.caught_up().await;
    assert_eq!(world.bot_texts(CARL), before);
    assert_eq!(text(&world.told(ANN, ANN, &format!("/allow {CARL}")).await), "Carl may talk to me now.");
}

#[tokio::test]
async fn a_stranger_who_writes_thirty_times_is_told_once_and_asked_about_once() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let bot = world.start().await;
    let card = asks(&world, CARL, "Carl").await;
    for number in 0..15 {
        world.say(CARL, CARL, &format!("hello number {number}"));
    }
    world.caught_up().await;
    bot.ends_well().await;
    let _bot = world.start().await;
    for number in 15..30 {
        world.say(CARL, CARL, &format!("hello number {number}"));
    }
    world.caught_up().await;
    assert_eq!(world.bot_texts(CARL), [ASKED]);
    let asked = world.bot_texts(ANN).into_iter().filter(|text| text.contains("Carl")).count();
    assert_eq!((asked, world.asked().len()), (1, 0));
    // Of what came before the decision one is answered after it.
    world.otherwise(ModelReply::text("Hello, Carl."));
    assert_eq!(world.press(ANN, &card, "Allow").await, "Carl may talk to me now.");
    says(&world, CARL, "The owner has let you in.").await;
    says(&world, CARL, "Hello, Carl.").await;
    world.caught_up().await;
    assert_eq!((world.bot_texts(CARL).len(), world.asked().len()), (3, 1));
}

#[tokio::test]
async fn the_first_question_of_a_stranger_is_answered_once_they_are_let_in() {
    let world = World::new().await;
    world.person(CARL, "Carl", "en");
    let _bot = world.start().await;
    world.when("are you open on Mondays?", ModelReply::text("From six to noon."));
    world.told(CARL, CARL, "/start").await;
    world.say(CARL, CARL, "are you open on Mondays?");
    world.say(CARL, CARL, "hello?");
    world.caught_up().await;
    assert_eq!(world.asked().len(), 0);
    world.told(ANN, ANN, &format!("/allow {CARL}")).await;
    says(&world, CARL, "From six to noon.").await;
    assert_eq!(world.asked().len(), 1);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn an_owner_cannot_be_blocked_not_even_by_themselves() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes, Bob?"));
    let bot = world.start().await;
    let card = asks(&world, BOB, "Bob (@bob)").await;
    bot.ends_well().await;
    // He has become an owner since.
    let bot = world.bot().set("OWNER_IDS", &format!("{ANN},{BOB}")).spawn();
    bot.ready().await;
    let own = world.told(BOB, BOB, "/start").await;
    for (who, toast) in [
        (ANN, world.press(ANN, &card, "Block").await),
        (BOB, world.forged(BOB, &own, &format!("admit:block:{BOB}")).await),
    ] {
        assert!(toast.starts_with("That is an owner, and owners cannot be denied."), "{who}: {toast}");
    }
    let denied = world.told(BOB, BOB, &format!("/deny {BOB}")).await;
    assert!(text(&denied).starts_with("That is an owner"), "{denied}");
    assert_eq!(text(&world.told(BOB, BOB, "are you there?").await), "Yes, Bob?");
}
