//! Roles and bans: what an admin, a member and a guest may do, in a chat or everywhere, and how long a ban holds.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, Person, Say, TelegramView};
use serde_json::{Value, json};

use super::audit::said;
use crate::support::calls::call;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

const OTHER: i64 = -1002;
/// Somebody who has no chat with the bot.
const ROBIN: i64 = 1002;

async fn world() -> World {
    let world = World::without_privacy().await;
    world.team();
    world.telegram.add_supergroup(OTHER, "Others");
    world.join(OTHER);
    world.otherwise(ModelReply::text("Hello."));
    world
}

/// Ann lets both groups in.
async fn let_in(world: &World) {
    for chat in [TEAM, OTHER] {
        world.told(ANN, chat, "/allow@figaro_bot").await;
    }
}

/// Ann answers a message of Bob's with a command; gives the card.
async fn as_reply(world: &World, command: &str) -> Value {
    let bobs = world.say(BOB, TEAM, "some words").message_id;
    let before = world.bot_texts(TEAM).len();
    world.telegram.send(Say::new(ANN, TEAM, command).reply_to(bobs)).unwrap();
    world.answers(TEAM, before + 1).await.remove(before)
}

/// Whether Bob may change a setting of a chat.
async fn may_set(world: &World, chat: i64) -> bool {
    let told = world.told(BOB, chat, "/config@figaro_bot answers mention").await;
    let words = text(&told);
    assert!(words.contains("Answers when") || words.starts_with("Only an admin"), "{told}");
    words.contains("Answers when")
}

#[tokio::test]
async fn each_role_may_change_what_it_may_and_where_it_holds() {
    let world = world().await;
    let bot = world.start().await;
    let_in(&world).await;
    assert!(!may_set(&world, TEAM).await, "a member");
    let card = as_reply(&world, "/allow@figaro_bot admin").await;
    assert!(text(&card).starts_with("Bob (@bob) may now change my settings in this group"), "{card}");
    assert_eq!(labels(&card), ["✓ Admin", "Member", "Guest"]);
    assert!(may_set(&world, TEAM).await, "an admin of this group");
    assert!(!may_set(&world, OTHER).await, "not of the other");
    // Only owners press, and the last press counts.
    assert_eq!(world.press(BOB, &card, "✓ Admin").await, "Only an owner of the bot can do that.");
    assert!(world.press(ANN, &card, "Guest").await.starts_with("Bob (@bob) is a guest in this group now"));
    world.shows(TEAM, number(&card["message_id"]), "is a guest in this group").await;
    let again = as_reply(&world, "/allow@figaro_bot").await;
    assert!(text(&again).starts_with("Bob (@bob) is a guest in this group now"), "{again}");
    assert_eq!(labels(&again), ["Admin", "Member", "✓ Guest"]);
    assert!(!may_set(&world, TEAM).await, "a guest");
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(text(&list).contains("\nBob (@bob): Guest (Team)\n"), "{list}");
    assert!(
        text(&world.told(ANN, ANN, "/allow 12 admin").await)
            .starts_with("Bob (@bob) may now change my settings in all")
    );
    assert!(may_set(&world, OTHER).await, "an admin everywhere");
    assert!(!may_set(&world, TEAM).await, "the role of the group counts there");
    assert!(text(&world.told(ANN, ANN, "/allow 11 guest").await).starts_with("That person is an owner"));
    assert!(text(&world.told(ANN, ANN, "/allow guest").await).starts_with("Who?"));
    bot.ends_well().await;
    let _bot = world.start().await;
    assert!(may_set(&world, OTHER).await, "after a restart");
}

#[tokio::test]
async fn for_a_guest_nothing_is_changed_or_sent() {
    let world = world().await;
    let bot = world.start().await;
    let_in(&world).await;
    let note = json!({"key": "list", "content": "milk"});
    let denied = "whoever asks is a guest here";
    let cases = [("guest", TEAM, true), ("member", TEAM, false), ("guest", BOB, true)];
    for (number, (role, chat, refused)) in cases.into_iter().enumerate() {
        world.told(ANN, ANN, &format!("/allow 12 {role}")).await;
        // What is sent in its place would end the turn without an answer.
        if refused {
            let words = json!({"text": format!("psst {number}")});
            let result = call(&world, (BOB, chat), &format!("whisper {number}"), "sendMessage", words).await;
            assert!(result.to_string().contains(denied), "{role} in {chat}: {result}");
        }
        let tools = [("add_note", note.clone(), refused), ("list_notes", json!({}), false)];
        for (tool, arguments, refused) in tools {
            let words = format!("please {tool} {number}");
            let result = call(&world, (BOB, chat), &words, tool, arguments).await;
            assert_eq!(result.to_string().contains(denied), refused, "{role} {tool} in {chat}: {result}");
        }
    }
    let sent = |chat: i64| world.bot_texts(chat).iter().filter(|text| text.starts_with("psst")).count();
    assert_eq!((sent(TEAM), sent(BOB)), (0, 0));
    bot.ends_well().await;
    let lines = said(&world, &[]).await;
    assert!(lines.contains(" role_given by=tg:11 method=guest target=tg:12"), "{lines}");
    let refused = |method: &str| {
        let of_method =
            lines.lines().filter(|line| line.contains(&format!("call_denied by=model method={method} ")));
        of_method.filter(|line| line.contains(" rule=limit/guest ")).count()
    };
    assert_eq!((refused("sendMessage"), refused("add_note"), refused("list_notes")), (2, 2, 0), "{lines}");
}

#[tokio::test]
async fn somebody_seen_in_a_group_alone_is_named_and_found_and_mistakes_are_told() {
    let world = world().await;
    world.telegram.add_user(Person::new(ROBIN, "Robin").username("robin"));
    world.telegram.set_member(TEAM, ROBIN, MemberStatus::Member).unwrap();
    let _bot = world.start().await;
    let_in(&world).await;
    world.told(ROBIN, TEAM, "@figaro_bot hello").await;
    let cases = [
        ("/deny @robin", "Robin (@robin) may no longer talk to me."),
        ("/deny", "Who may not talk to me: Robin (@robin)"),
        ("/allow 1002 king", "I know no role “king”. There are: admin, member, guest."),
        ("/deny @robin 5x", "I do not understand the time “5x”. Write 30m, 2h, 3d or 1w"),
        ("/allow nobody", "Who? "),
        ("/allow 1002", "Robin (@robin) may talk to me now."),
    ];
    for (said, wanted) in cases {
        let told = world.told(ANN, ANN, said).await;
        assert!(text(&told).starts_with(wanted), "{said}: {told}");
    }
}

#[tokio::test]
async fn a_ban_holds_in_its_chat_and_until_its_end() {
    let world = world().await;
    let bot = world.start().await;
    let_in(&world).await;
    let help = world.told(BOB, TEAM, "/help@figaro_bot").await;
    let card = as_reply(&world, "/deny@figaro_bot here 2h").await;
    assert!(text(&card).starts_with("Bob (@bob) may not talk to me in this group for 2h."), "{card}");
    let before = world.bot_texts(TEAM).len();
    world.say(BOB, TEAM, "@figaro_bot the secret is tuna");
    assert_eq!(world.forged(BOB, &help, "help:all").await, "I talk only to people whom my owner has let in.");
    assert_eq!(text(&world.told(BOB, OTHER, "@figaro_bot hello").await), "Hello.", "elsewhere he may");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM).len(), before);
    world.told(ANN, TEAM, "@figaro_bot what was said?").await;
    assert!(!world.asked().last().unwrap().body.to_string().contains("tuna"), "it is not kept");
    let list = world.told(ANN, ANN, "/deny").await;
    let told = ["(Team) until today ", "(Team) until tomorrow "].map(|until| format!("Bob (@bob) {until}"));
    assert!(told.iter().any(|told| text(&list).contains(told)), "{list}");
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(!text(&list).contains("Denied: nobody") && !text(&list).contains("UTC"), "{list}");
    // Everywhere, and its end comes.
    assert!(
        text(&world.told(ANN, ANN, "/deny 12 3d").await)
            .starts_with("Bob (@bob) may not talk to me anywhere for 3d.")
    );
    assert!(text(&world.told(ANN, ANN, "/deny 11 3d").await).starts_with("That is an owner"));
    assert!(text(&world.told(ANN, ANN, "/deny 12 here").await).starts_with("Send that in the group"));
    let before = world.bot_texts(OTHER).len();
    world.say(BOB, OTHER, "@figaro_bot hello");
    world.caught_up().await;
    bot.ends_well().await;
    let records = world.records();
    let (key, list) = records.all("access").into_iter().next().expect("the list");
    let mut list: Value = serde_json::from_slice(&list).unwrap();
    assert_eq!(list["bans"].as_array().unwrap().len(), 2);
    list["bans"][1]["until"] = "2020-01-01T00:00:00Z".into();
    records.put("access", &key, list.to_string());
    drop(records);
    let _bot = world.start().await;
    assert_eq!(text(&world.told(BOB, OTHER, "@figaro_bot hello again").await), "Hello.");
    assert_eq!(world.bot_texts(OTHER).len(), before + 1, "what was said meanwhile is not answered");
    // Allowing somebody ends every ban.
    world.told(ANN, ANN, "/allow 12").await;
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot hello").await), "Hello.");
}

/// Waits until a card of Ann's has a button that begins so, or has none.
async fn labelled(world: &World, card: i64, label: &str, is_there: bool) -> Value {
    let find = |view: &TelegramView<'_>| {
        let found = view.messages(ANN).into_iter().find(|m| m["message_id"] == card)?;
        (labels(found).iter().any(|one| one.starts_with(label)) == is_there).then(|| found.clone())
    };
    world.see(label, find).await
}

#[tokio::test]
async fn the_list_of_people_changes_and_lifts_each_thing_by_itself() {
    let world = world().await;
    let bot = world.start().await;
    let_in(&world).await;
    let empty = world.told(ANN, ANN, "/allow").await;
    world.press(ANN, &empty, "People").await;
    let list = world.shows(ANN, number(&empty["message_id"]), "Nobody but the owners").await;
    assert_eq!(labels(&list), ["‹ Back"]);
    as_reply(&world, "/allow@figaro_bot guest").await;
    as_reply(&world, "/deny@figaro_bot here 2h").await;
    world.told(ANN, ANN, "/deny 12 3d").await;
    for number in 100..110 {
        world.told(ANN, ANN, &format!("/allow {number}")).await;
    }
    // Eleven people on two pages, owners left out.
    let card = world.told(ANN, ANN, "/allow").await;
    let id = number(&card["message_id"]);
    assert_eq!(world.press(BOB, &card, "People").await, "I talk only to people whom my owner has let in.");
    world.press(ANN, &card, "People").await;
    let list = world.shows(ANN, id, "Press a person").await;
    assert_eq!(labels(&list).len(), 10, "{list}");
    world.press(ANN, &list, "Next ▶").await;
    let list = labelled(&world, id, "Bob", true).await;
    assert!(labels(&list).contains(&"Bob (@bob) · ignored".to_owned()), "{list}");
    world.press(ANN, &list, "Bob").await;
    let person = world.shows(ANN, id, "Is not on the list of those").await;
    let words = text(&person);
    assert!(words.contains("\nEverywhere: ignored until "), "{words}");
    assert!(words.contains("\nTeam: Guest, ignored until to"), "{words}");
    let shown = ["Admin", "Member", "Guest", "Deny", "Lift: Everywhere", "Lift: Team", "‹ Back"];
    assert_eq!(labels(&person), shown);
    // What holds in the group goes; the ban of everywhere stays, and the other way round.
    assert_eq!(world.press(ANN, &person, "Lift: Everywhere").await, "Saved.");
    let person = labelled(&world, id, "Lift: Everywhere", false).await;
    assert_eq!(text(&world.told(BOB, OTHER, "@figaro_bot hello").await), "Hello.", "elsewhere he may again");
    let before = world.bot_texts(TEAM).len();
    world.say(BOB, TEAM, "@figaro_bot hello");
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM).len(), before, "in the group he may not yet");
    assert_eq!(world.press(ANN, &person, "Lift: Team").await, "Saved.");
    let person = labelled(&world, id, "Lift: Team", false).await;
    assert_eq!(text(&world.told(BOB, TEAM, "@figaro_bot hello").await), "Hello.");
    assert!(!may_set(&world, TEAM).await);
    // A role everywhere, and shut out.
    assert_eq!(world.press(ANN, &person, "Admin").await, "Saved.");
    let person = labelled(&world, id, "✓ Admin", true).await;
    assert!(text(&person).contains("May talk to me.\nEverywhere: Admin"), "{person}");
    assert!(may_set(&world, TEAM).await);
    assert_eq!(world.press(ANN, &person, "Deny").await, "Saved.");
    let person = world.shows(ANN, id, "May not talk to me anywhere.").await;
    assert_eq!(labels(&person), ["Admin", "Member", "Guest", "Allow", "‹ Back"]);
    assert_eq!(
        world.forged(ANN, &person, "people:deny:11:0").await,
        "That person is an owner, and owners may do everything."
    );
    bot.ends_well().await;
    let lines = said(&world, &[]).await;
    assert_eq!(lines.matches(" access_lifted by=tg:11 ").count(), 2, "{lines}");
}
