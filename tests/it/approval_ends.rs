//! How what waits for an approval ends and what of an approval stays: hours that are ended, calls that come to nothing, rules that
//! want two people, groups that move, and places that are kept for admins.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, PlannedFailure};
use serde_json::{Value, json};

use crate::approvals::{EVE, NO_RIGHT, ban};
use crate::parking::{LATE, call};
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, World};

#[tokio::test]
async fn what_is_approved_and_not_made_after_all_is_told_under_its_card() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let mute = call("restrictChatMember", json!({"user_id": EVE, "permissions": {}, "until_date": 1}));
    let late = world.wants(BOB, "mute her", mute).await;
    world.press(BOB, &late, "✓ Once").await;
    let said = world.card_with(TEAM, "Approved but not done").await;
    assert_eq!(said["reply_to_message"]["message_id"], late["message_id"], "{said}");
    // What Telegram refuses was approved too.
    let refused = PlannedFailure::Status { status: 400, description: "Bad Request: no".to_owned() };
    world.telegram.fail("banChatMember", refused, 1);
    let card = world.wants(BOB, "ban her", ban()).await;
    world.press(BOB, &card, "✓ Once").await;
    let said = world.card_with(TEAM, "This was approved, but it did not work").await;
    assert_eq!(said["reply_to_message"]["message_id"], card["message_id"], "{said}");
    // Of what was denied, and of what was done, nothing more is said.
    for (said, press) in [("ban her again", "✗ Deny"), ("ban her at last", "✓ Once")] {
        let card = world.wants(BOB, said, ban()).await;
        world.press(BOB, &card, press).await;
        world.ends(said).await;
    }
    world.caught_up().await;
    let told = world
        .bot_texts(TEAM)
        .into_iter()
        .filter(|text| text.contains("pproved but ") || text.contains("This was approved"));
    assert_eq!(told.count(), 2);
}

#[tokio::test]
async fn the_card_of_a_call_whose_turn_is_stopped_says_so() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    for (command, settings) in [("/stop", ""), ("/new", "/config language Português")] {
        let card = world.wants(BOB, &format!("ban her before {command}"), ban()).await;
        if !settings.is_empty() {
            world.told(ANN, TEAM, settings).await;
        }
        // The person whom it is about does not call it off; whoever asked does.
        let told = world.told(EVE, TEAM, &format!("{command}@figaro_bot")).await;
        let keeps = if settings.is_empty() {
            "Something here is waiting for approval."
        } else {
            "Algo espera uma aprovação aqui."
        };
        assert!(text(&told).starts_with(keeps), "{told}");
        world.told(BOB, TEAM, &format!("{command}@figaro_bot")).await;
        let words = if settings.is_empty() { "✗ Called off by Bob" } else { "✗ Cancelado por Bob" };
        let shown = world.shows(TEAM, number(&card["message_id"]), words).await;
        assert!(labels(&shown).is_empty(), "{shown}");
        assert!(!text(&shown).contains("approve it"), "{shown}");
    }
    world.all_well();
}

#[tokio::test]
async fn an_hour_is_ended_by_a_button_and_from_then_on_it_is_asked_again() {
    let world = World::new().await;
    let bot = world.moderated().await;
    let first = world.say(EVE, TEAM, "one").message_id;
    let pin = || call("pinChatMessage", json!({"message_id": first}));
    let pins = async |world: &World, said: &str, count: usize| {
        world.when(said, ModelReply::turn(vec![pin()]));
        world.when(said, ModelReply::text(&format!("End of {said}.")));
        world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
        world.ends(said).await;
        assert_eq!(world.made("pinChatMessage").len(), count, "{said}");
    };
    // Under the card, by whoever gave it.
    let card = world.wants(BOB, "pin one", pin()).await;
    world.press(BOB, &card, "✓ For 1 h").await;
    world.ends("pin one").await;
    pins(&world, "pin two", 2).await;
    let shown = world.shows(TEAM, number(&card["message_id"]), "✓ Approved by Bob for an hour").await;
    let (_, end) = buttons(&shown).swap_remove(0);
    assert_eq!(world.press(EVE, &card, "✗ End the hour").await, NO_RIGHT);
    pins(&world, "pin three", 3).await;
    assert_eq!(world.press(BOB, &card, "✗ End the hour").await, "✗ Ended by Bob: from now on I ask again.");
    assert_eq!(world.forged(BOB, &card, &end).await, LATE);
    let card = world.wants(BOB, "pin four", pin()).await;
    // In the list, by an owner.
    world.press(BOB, &card, "✓ For 1 h").await;
    world.ends("pin four").await;
    let list = world.told(ANN, ANN, "/approve").await;
    assert!(text(&list).contains("Approved for an hour"), "{list}");
    let (_, data) = buttons(&list).swap_remove(0);
    assert_eq!(world.forged(EVE, &card, &data).await, NO_RIGHT);
    world.press(ANN, &list, "✗ End the hour: Bob, Pin a message").await;
    world.shows(ANN, number(&list["message_id"]), "Nothing waits").await;
    world.wants(BOB, "pin five", pin()).await;
    assert_eq!(world.made("pinChatMessage").len(), 4);
    bot.ends_well().await;
    let log = crate::audit::said(&world, &["--json"]).await;
    assert_eq!(log.matches("approval_ended").count(), 2, "{log}");
}

#[tokio::test]
async fn a_rule_of_two_people_wants_another_one_wherever_it_is_pressed() {
    const RULES: &str = "rules:
  - {name: bans, method: banChatMember, chat: here, then: ask, people: 2, reason: two people look at a ban}
";
    let world = World::new().await;
    std::fs::write(world.folder.path().join("policy.yaml"), RULES).unwrap();
    let _bot = world.moderated().await;
    let other = "Somebody else has to approve it.";
    // An admin who asked, an owner who asked: neither by the card, nor from the list, nor by a made-up press.
    for (at, (who, another)) in [(BOB, ANN), (ANN, BOB)].into_iter().enumerate() {
        let said = format!("ban her, number {at}");
        let card = world.wants(who, &said, ban()).await;
        assert!(text(&card).contains("Somebody other than the person who asked has to approve it"), "{card}");
        assert_eq!(labels(&card), ["✓ Once", "✗ Deny", "Details"]);
        assert_eq!(world.press(who, &card, "✓ Once").await, other);
        let (_, once) = buttons(&card).swap_remove(0);
        assert_eq!(world.forged(who, &card, &once.replace("once", "hour")).await, LATE);
        assert_eq!(world.forged(who, &card, &format!("{once}:0")).await, other);
        assert_eq!(world.made("banChatMember").len(), at);
        assert!(world.press(another, &card, "✓ Once").await.starts_with("✓ Approved by"));
        world.ends(&said).await;
        assert_eq!(world.made("banChatMember").len(), at + 1);
    }
    // Whoever asked may take it back.
    let card = world.wants(BOB, "ban her once more", ban()).await;
    assert_eq!(world.press(BOB, &card, "✗ Deny").await, "✗ Denied by Bob");
}

#[tokio::test]
async fn members_leave_room_for_admins_and_owners() {
    let world = World::new().await;
    let bot = world.moderated().await;
    const MORE: [i64; 2] = [78, 79];
    for id in MORE {
        world.person(id, &format!("Person {id}"), "en");
        world.telegram.set_member(TEAM, id, MemberStatus::Member).unwrap();
    }
    let bans = |at: usize| call("banChatMember", json!({"user_id": 100 + at}));
    // Two members take what there is; a third gets no place.
    for at in 0..5 {
        let who = if at < 3 { EVE } else { MORE[0] };
        world.wants(who, &format!("ban number {at}"), bans(at)).await;
    }
    for (at, who) in [(5, MORE[1]), (6, EVE)] {
        let (said, cards) = (format!("ban number {at}"), world.cards(TEAM));
        world.when(&said, ModelReply::turn(vec![bans(at)]));
        world.when(&said, ModelReply::text(&format!("End of {said}.")));
        world.say(who, TEAM, &format!("@figaro_bot {said}"));
        world.ends(&said).await;
        assert_eq!(world.cards(TEAM), cards, "{said}");
    }
    // An admin and an owner still do.
    world.wants(BOB, "ban number 7", bans(7)).await;
    let card = world.wants(ANN, "ban number 8", bans(8)).await;
    assert!(world.press(ANN, &card, "✓ Once").await.starts_with("✓ Approved by"));
    world.ends("ban number 8").await;
    assert_eq!(world.made("banChatMember").len(), 1);
    assert_eq!(world.parked(bot).await.len(), 6);
}

#[tokio::test]
async fn what_waits_moves_with_its_group_unless_it_names_a_message() {
    const GROUP: i64 = -500;
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Team");
    world.join(GROUP);
    for user in [ANN, world.telegram.bot_id()] {
        world.telegram.set_member(GROUP, user, MemberStatus::Admin).unwrap();
    }
    let _bot = world.start_open().await;
    let wants = async |said: &str, wanted: ReplyPart| {
        let ReplyPart::Call { name, .. } = &wanted else { panic!() };
        let cards = world.cards(GROUP);
        world.when(said, ModelReply::turn(vec![call("find_tools", json!({"query": name}))]));
        world.when(said, ModelReply::turn(vec![wanted]));
        world.when(said, ModelReply::text(&format!("End of {said}.")));
        world.say(BOB, GROUP, &format!("@figaro_bot {said}"));
        world.card_after(GROUP, cards).await
    };
    let title = wants("name it", call("setChatTitle", json!({"title": "Lunch"}))).await;
    let named =
        wants("call it tea", call("setChatTitle", json!({"chat_id": GROUP.to_string(), "title": "Tea"})))
            .await;
    let message = world.say(BOB, GROUP, "pin me").message_id;
    let pin = wants("pin it", call("pinChatMessage", json!({"message_id": message}))).await;
    let new = world.telegram.migrate(GROUP).unwrap();
    world.card_with(new, "Not done: this group was upgraded").await;
    // The admin's rights are those in the group as it is now.
    for (card, wanted) in [(title, "Lunch"), (named, "Tea")] {
        assert!(world.press(ANN, &card, "✓ Once").await.starts_with("✓ Approved by"), "{wanted}");
        world
            .see("the title", |view| {
                let made = view.calls_of("setChatTitle");
                made.iter()
                    .find(|call| call.args["title"] == wanted && call.args["chat_id"] == new)
                    .map(|_| ())
            })
            .await;
    }
    assert_eq!(world.forged(ANN, &pin, &buttons(&pin)[0].1).await, LATE);
    assert_eq!(world.made("pinChatMessage"), Vec::<Value>::new());
}
