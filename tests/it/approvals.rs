//! Calls that take an approval: shown whole to people, made exactly once and unchanged after somebody who may has said yes, and
//! never otherwise.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::{MemberStatus, PlannedFailure, Say, TelegramView};
use serde_json::{Value, json};

use crate::parking::{LATE, call};
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, Bot, TIMEOUT, World};

const MAY_I: &str = "May I do this?";
pub const EVE: i64 = 77;
const OWNERS_ONLY: &str = "Only an owner of the bot can approve it.";
pub const NO_RIGHT: &str = "Only an owner of this bot, or an admin there with this right, can approve it.";

/// A call of a method that bans Eve.
pub fn ban() -> ReplyPart {
    call("banChatMember", json!({"user_id": EVE, "revoke_messages": true}))
}

/// What is told of calls that would have to be approved: of one that it was denied, of the others that they were not asked about.
pub const NOT_APPROVED: [&str; 2] = ["a person denied it", "one question at a time"];

impl World {
    /// The request of this number, once Ann has denied whatever is to be approved before it.
    pub async fn asks_denying(&self, number: usize) -> ModelRequest {
        let mut pressed: Vec<Value> = Vec::new();
        let asks = async || {
            let cards = self.telegram.view(|view| {
                let all = [TEAM, ANN].into_iter().flat_map(|chat| view.bot_messages(chat));
                let asks = all.filter(|m| labels(m).iter().any(|label| label == "✗ Deny"));
                asks.filter(|m| !pressed.contains(&m["message_id"])).cloned().collect::<Vec<_>>()
            });
            for card in cards {
                self.press(ANN, &card, "✗ Deny").await;
                pressed.push(card["message_id"].clone());
            }
            self.model.requests().get(number - 1).cloned()
        };
        eventually(|| format!("no request number {number}"), asks).await
    }

    /// A group with Ann, who owns the bot, Bob, who may moderate, and Eve; the bot is open to everybody.
    pub async fn moderated(&self) -> Bot {
        self.team();
        self.person(EVE, "Eve", "en");
        self.telegram.set_member(TEAM, EVE, MemberStatus::Member).unwrap();
        self.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
        self.telegram.set_member(TEAM, self.telegram.bot_id(), MemberStatus::Admin).unwrap();
        self.start_open().await
    }

    /// Somebody asks in the group for what takes an approval; gives the message that asks for it.
    pub async fn wants(&self, from: i64, said: &str, wanted: ReplyPart) -> Value {
        let ReplyPart::Call { name, .. } = &wanted else { panic!("no call") };
        let find = call("find_tools", json!({"query": name}));
        let cards = self.cards(TEAM);
        self.when(said, ModelReply::turn(vec![find]));
        self.when(said, ModelReply::turn(vec![wanted]));
        self.when(said, ModelReply::text(&format!("End of {said}.")));
        self.say(from, TEAM, &format!("@figaro_bot {said}"));
        self.card_after(TEAM, cards).await
    }

    pub fn cards(&self, chat: i64) -> usize {
        self.bot_texts(chat).iter().filter(|text| text.contains(MAY_I)).count()
    }

    pub async fn card_after(&self, chat: i64, cards: usize) -> Value {
        self.see("a call to approve", |view| {
            let all = view.bot_messages(chat);
            let found: Vec<_> = all.into_iter().filter(|m| text(m).contains(MAY_I)).collect();
            (found.len() > cards).then(|| found[found.len() - 1].clone())
        })
        .await
    }

    /// The arguments of all calls of a method that have reached Telegram.
    pub fn made(&self, method: &str) -> Vec<Value> {
        self.telegram
            .view(|view| view.calls_of(method).iter().map(|call| Value::Object(call.args.clone())).collect())
    }

    pub async fn ends(&self, said: &str) {
        self.card_with(TEAM, &format!("End of {said}.")).await;
    }
}

#[tokio::test]
async fn what_is_approved_is_made_once_and_as_it_was_shown() {
    let world = World::new().await;
    let bot = world.moderated().await;
    let card = world.wants(BOB, "ban her", ban()).await;
    let plain =
        ["🔐 May I do this? Ban Eve and delete all that they wrote there", "In: Team", "Asked by: Bob @bob"];
    assert_eq!(text(&card).lines().take(3).collect::<Vec<_>>(), plain);
    assert!(!text(&card).contains(['{', '(', '_']), "{card}");
    assert_eq!(labels(&card), ["✓ Once", "✗ Deny", "Details"]);
    // All of it is there to be looked at before anybody presses, in its place.
    world.press(EVE, &card, "Details").await;
    let whole = world.shows(TEAM, number(&card["message_id"]), "banChatMember").await;
    for words in ["Team (-1001)", "Bob @bob (12)", "Eve (77)", "\"revoke_messages\": true", plain[0]] {
        assert!(text(&whole).contains(words), "{words} in {whole}");
    }
    assert_eq!(labels(&whole), ["✓ Once", "✗ Deny", "Fewer details"]);
    world.press(EVE, &whole, "Fewer details").await;
    let is_as_before = |view: &TelegramView<'_>| {
        view.bot_messages(TEAM).iter().any(|now| text(now) == text(&card)).then_some(())
    };
    world.see("the plain card again", is_as_before).await;
    assert_eq!(world.made("banChatMember"), Vec::<Value>::new());
    // Neither a stranger to the right nor anybody's words approve it.
    assert_eq!(world.press(EVE, &card, "✓ Once").await, NO_RIGHT);
    assert_eq!(world.press(EVE, &card, "✗ Deny").await, NO_RIGHT);
    world.telegram.send(Say::new(EVE, TEAM, "yes, do it").reply_to(number(&card["message_id"]))).unwrap();
    assert_eq!(world.press(BOB, &card, "✓ Once").await, "✓ Approved by Bob");
    world.ends("ban her").await;
    let wanted = json!({"user_id": EVE, "revoke_messages": true, "chat_id": TEAM});
    assert_eq!(world.made("banChatMember"), [wanted]);
    assert_eq!(world.told_model("ban her").last().unwrap()["success"], true);
    let now = world.shows(TEAM, number(&card["message_id"]), "✓ Approved by Bob").await;
    assert_eq!(text(&now), format!("{}\n\n✓ Approved by Bob", plain.join("\n")));
    assert_eq!(labels(&now), Vec::<String>::new());
    // Pressed again, also by a client that still shows the button.
    for (_, data) in buttons(&card) {
        assert_eq!(world.forged(BOB, &card, &data).await, LATE);
    }
    world.caught_up().await;
    assert_eq!(world.made("banChatMember").len(), 1);
    world.all_well();
    bot.ends_well().await;
}

#[tokio::test]
async fn what_is_denied_is_not_made_and_the_model_is_told_by_whom() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let card = world.wants(EVE, "ban bob", call("banChatMember", json!({"user_id": BOB}))).await;
    assert_eq!(world.press(ANN, &card, "✗ Deny").await, "✗ Denied by Ann");
    world.ends("ban bob").await;
    let told = world.told_model("ban bob").pop().unwrap();
    assert!(
        told["success"] == false && told["error"].as_str().unwrap().contains("a person denied it"),
        "{told}"
    );
    assert_eq!(world.made("banChatMember"), Vec::<Value>::new());
    world.all_well();
}

#[tokio::test]
async fn it_waits_over_restarts_and_a_lost_right_approves_nothing() {
    let world = World::new().await;
    let bot = world.moderated().await;
    let card = world.wants(EVE, "ban bob", ban()).await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.telegram.set_member(TEAM, BOB, MemberStatus::Member).unwrap();
    assert_eq!(world.press(BOB, &card, "✓ Once").await, NO_RIGHT);
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    assert_eq!(world.press(BOB, &card, "✓ Once").await, "✓ Approved by Bob");
    world.ends("ban bob").await;
    assert_eq!(world.made("banChatMember").len(), 1);
    bot.kill();
    let _bot = world.start_open().await;
    world.caught_up().await;
    assert_eq!(world.made("banChatMember").len(), 1);
    world.all_well();
}

#[tokio::test]
async fn a_record_that_was_changed_is_not_made() {
    let world = World::new().await;
    let bot = world.moderated().await;
    let card = world.wants(BOB, "ban her", ban()).await;
    bot.ends_well().await;
    let count = world.records().change("parked", |record| {
        *record.pointer_mut("/question/approval/calls/0/arguments/user_id").unwrap() = json!(ANN);
    });
    assert_eq!(count, 1);
    let _bot = world.start_open().await;
    world.press(BOB, &card, "✓ Once").await;
    world.ends("ban her").await;
    assert_eq!(world.made("banChatMember"), Vec::<Value>::new());
    let told = world.told_model("ban her").pop().unwrap();
    assert!(told["error"].as_str().unwrap().contains("not what was asked about"), "{told}");
}

#[tokio::test]
async fn what_nobody_approves_in_time_is_given_up() {
    let world = World::new().await;
    let bot = world.moderated().await;
    let card = world.wants(BOB, "ban her", ban()).await;
    world.expire(bot).await;
    let bot = world.start_open().await;
    let words = world.press(BOB, &card, "✓ Once").await;
    assert_eq!(words, LATE);
    world.card_with(TEAM, "Not done: nobody approved it in time.").await;
    world.caught_up().await;
    assert_eq!(world.made("banChatMember"), Vec::<Value>::new());
    bot.ends_well().await;
    let log = crate::audit::said(&world, &["--json"]).await;
    assert_eq!(log.matches("approval_expired").count(), 1, "{log}");
}

#[tokio::test]
async fn two_who_press_at_once_have_it_made_once() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let card = world.wants(EVE, "ban bob", ban()).await;
    let (ann, bob) = tokio::join!(world.press(ANN, &card, "✓ Once"), world.press(BOB, &card, "✓ Once"));
    let said = [ann, bob];
    assert!(said.iter().any(|words| words.starts_with("✓ Approved by")), "{said:?}");
    world.ends("ban bob").await;
    world.caught_up().await;
    assert_eq!(world.made("banChatMember").len(), 1);
}

#[tokio::test]
async fn for_an_hour_the_same_person_need_not_ask_again_there() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let pin = |id: i64| call("pinChatMessage", json!({"message_id": id}));
    let first = world.say(EVE, TEAM, "one").message_id;
    let card = world.wants(BOB, "pin one", pin(first)).await;
    assert_eq!(labels(&card), ["✓ Once", "✓ For 1 h", "✗ Deny", "Details"]);
    world.press(BOB, &card, "✓ For 1 h").await;
    world.ends("pin one").await;
    // The same person, the same method, the same chat: nobody is asked.
    let second = world.say(EVE, TEAM, "two").message_id;
    world.when("pin two", ModelReply::turn(vec![pin(second)]));
    world.when("pin two", ModelReply::text("End of pin two."));
    world.say(BOB, TEAM, "@figaro_bot pin two");
    world.ends("pin two").await;
    assert_eq!(world.made("pinChatMessage").len(), 2);
    // Somebody else has to ask.
    let cards = world.cards(TEAM);
    world.when("pin three", ModelReply::turn(vec![pin(first)]));
    world.when("pin three", ModelReply::text("End of pin three."));
    world.say(EVE, TEAM, "@figaro_bot pin three");
    let card = world.card_after(TEAM, cards).await;
    // And whoever gave the hour has to hold the right still.
    world.press(ANN, &card, "✗ Deny").await;
    world.ends("pin three").await;
    world.telegram.set_member(TEAM, BOB, MemberStatus::Member).unwrap();
    let cards = world.cards(TEAM);
    world.when("pin four", ModelReply::turn(vec![pin(first)]));
    world.when("pin four", ModelReply::text("End of pin four."));
    world.say(BOB, TEAM, "@figaro_bot pin four");
    world.card_after(TEAM, cards).await;
    assert_eq!(world.made("pinChatMessage").len(), 2);
}

#[tokio::test]
async fn the_name_of_a_channel_is_looked_up_and_the_post_arrives_there() {
    let world = World::new().await;
    let bot = world.moderated().await;
    let news = -1009;
    world.telegram.add_channel(news, "News", "news");
    world.telegram.set_member(news, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let post = call("sendMessage", json!({"chat_id": "@news", "text": "Hello, world"}));
    world.when("post it", ModelReply::turn(vec![post]));
    world.when("post it", ModelReply::text("End of post it."));
    let cards = world.cards(TEAM);
    world.say(BOB, TEAM, "@figaro_bot post it");
    let card = world.card_after(TEAM, cards).await;
    assert!(text(&card).contains("In: @news\n") && text(&card).contains("Send “Hello, world”"), "{card}");
    assert_eq!(world.press(BOB, &card, "✓ Once").await, NO_RIGHT, "he is no admin there");
    assert_eq!(world.press(ANN, &card, "✓ Once").await, "✓ Approved by Ann");
    world.ends("post it").await;
    let posted = world.telegram.messages(news);
    assert_eq!((posted.len(), text(&posted[0])), (1, "Hello, world"), "{}", bot.log());
    world.all_well();
}

#[tokio::test]
async fn owners_see_what_waits_everywhere_and_say_what_they_think_of_it() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let at_first = world.told(ANN, ANN, "/approve").await;
    assert_eq!(text(&at_first), "Nothing waits for approval.");
    let post = call("sendMessage", json!({"chat_id": TEAM, "text": "Hi from Eve"}));
    world.parks("greet them", vec![post], "End of greet them.");
    world.say(EVE, EVE, "greet them");
    let card = world.card_with(EVE, MAY_I).await;
    world.card_with(ANN, "Eve asks for something that needs approval").await;
    assert_eq!(world.press(EVE, &card, "✓ Once").await, NO_RIGHT);
    let list = world.told(ANN, ANN, "/approve").await;
    assert_eq!(labels(&list), ["Eve: Send “Hi from Eve”"]);
    world.press(ANN, &list, "Eve:").await;
    let open = world.shows(ANN, number(&list["message_id"]), "Hi from Eve").await;
    assert_eq!(labels(&open), ["✓ Once", "✓ For 1 h", "✗ Deny", "Details", "‹ Back"]);
    assert_eq!(world.press(ANN, &open, "✓ Once").await, "✓ Approved by Ann");
    world.card_with(EVE, "End of greet them.").await;
    assert_eq!(world.bot_texts(TEAM), ["Hi from Eve"]);
    world.without_buttons(&card).await;
    world.press(ANN, &open, "‹ Back").await;
    world.shows(ANN, number(&list["message_id"]), "Nothing waits").await;
    assert_eq!(text(&world.told(EVE, EVE, "/approve").await), "Only an owner of the bot can do that.");
    world.all_well();
}

#[tokio::test]
async fn a_kill_at_any_moment_after_the_press_makes_it_at_most_once() {
    let (mut made, mut unknown) = (0, 0);
    for pause in [0, 2, 4, 6, 8, 10, 15, 20, 30, 60] {
        let world = World::new().await;
        let bot = world.moderated().await;
        let card = world.wants(BOB, "ban her", ban()).await;
        // The kill may come after the model has answered and before that is stored.
        world.when("ban her", ModelReply::text("End of ban her."));
        let (_, once) = buttons(&card).swap_remove(0);
        world.telegram.press(BOB, TEAM, number(&card["message_id"]), &once).unwrap();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        bot.kill();
        let _bot = world.start_open().await;
        world.ends("ban her").await;
        let calls = world.made("banChatMember").len();
        let told = world.told_model("ban her").pop().unwrap();
        let is_unknown = told.to_string().contains("whether it acted is not known");
        assert!(calls <= 1, "{pause} ms: {calls} calls");
        assert!(is_unknown || (told["success"] == true && calls == 1), "{pause} ms: {calls} calls, {told}");
        // Then those who saw the card are told as well, below it.
        if is_unknown {
            let said = world.card_with(TEAM, "I do not know whether it was done").await;
            assert_eq!(said["reply_to_message"]["message_id"], card["message_id"], "{pause} ms: {said}");
        }
        made += calls;
        unknown += usize::from(is_unknown);
    }
    println!(
        "10 kills after a press: made {made} times, never twice; {unknown} with an outcome that is not known"
    );
}

#[tokio::test]
async fn a_call_that_a_kill_cut_is_said_to_be_unknown_below_its_card() {
    for failure in [PlannedFailure::AppliedButHangs, PlannedFailure::Hang] {
        let world = World::new().await;
        let bot = world.moderated().await;
        world.telegram.fail("banChatMember", failure, 1);
        let card = world.wants(BOB, "ban her", ban()).await;
        assert_eq!(world.press(BOB, &card, "✓ Once").await, "✓ Approved by Bob");
        world.see("the call", |view| (view.calls_of("banChatMember").len() == 1).then_some(())).await;
        bot.kill();
        let bot = world.start_open().await;
        let said = world.card_with(TEAM, "I do not know whether it was done").await;
        assert_eq!(said["reply_to_message"]["message_id"], card["message_id"], "{said}");
        assert!(world.told_model("ban her").pop().unwrap().to_string().contains("is not known"));
        world.caught_up().await;
        assert_eq!(world.made("banChatMember").len(), 1, "it is not made once more");
        bot.ends_well().await;
    }
}

#[tokio::test]
async fn what_would_hold_for_ever_by_now_is_told_so_and_not_made() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let mute = call("restrictChatMember", json!({"user_id": EVE, "permissions": {}, "until_date": 1}));
    let card = world.wants(BOB, "mute her", mute).await;
    assert!(text(&card).contains("Keep Eve from writing for ever"), "{card}");
    assert_eq!(labels(&card), ["✓ Once", "✗ Deny", "Details"]);
    world.press(BOB, &card, "✓ Once").await;
    world.ends("mute her").await;
    assert_eq!(world.made("restrictChatMember"), Vec::<Value>::new());
    let told = world.told_model("mute her").pop().unwrap();
    assert!(told["error"].as_str().unwrap().contains("Ask again with a later time"), "{told}");
}

#[tokio::test]
async fn what_uses_the_bots_purse_or_gives_power_is_an_owners_to_approve_wherever_it_is_asked() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let paid = call("sendMessage", json!({"text": "Hi", "allow_paid_broadcast": true}));
    let promote = call("promoteChatMember", json!({"user_id": BOB, "can_restrict_members": true}));
    for (said, wanted) in [("send it paid", paid), ("promote me", promote)] {
        let card = world.wants(BOB, said, wanted).await;
        assert_eq!(world.press(BOB, &card, "✓ Once").await, OWNERS_ONLY, "{said}");
        assert_eq!(labels(&card), ["✓ Once", "✗ Deny", "Details"], "{said}");
        world.press(ANN, &card, "✗ Deny").await;
        world.ends(said).await;
    }
    // In private nobody else would see it, and its one user holds no right to another's purse either.
    let paid = call("sendMessage", json!({"text": "Hi", "allow_paid_broadcast": true}));
    world.when("pay for it", ModelReply::turn(vec![call("find_tools", json!({"query": "sendMessage"}))]));
    world.parks("pay for it", vec![paid], "End of pay for it.");
    world.say(EVE, EVE, "pay for it");
    let card = world.card_with(EVE, MAY_I).await;
    assert_eq!(world.press(EVE, &card, "✓ Once").await, OWNERS_ONLY);
}

#[tokio::test]
async fn a_right_that_is_lost_before_the_call_is_made_lets_nothing_go() {
    let world = World::new().await;
    let _bot = world.moderated().await;
    let card = world.wants(EVE, "ban bob", ban()).await;
    // The turn waits behind another one.
    let gate = Gate::new();
    world.when("hold on", ModelReply::text("Held.").behind(&gate));
    world.say(EVE, TEAM, "@figaro_bot hold on");
    world
        .model
        .wait_until(TIMEOUT, |all| all.iter().any(|r| r.user_text().contains("hold on")).then_some(()))
        .await
        .unwrap();
    assert_eq!(world.press(BOB, &card, "✓ Once").await, "✓ Approved by Bob");
    world.telegram.set_member(TEAM, BOB, MemberStatus::Member).unwrap();
    gate.open();
    world.ends("ban bob").await;
    assert_eq!(world.made("banChatMember"), Vec::<Value>::new());
    let told = world.told_model("ban bob").pop().unwrap();
    assert!(told["error"].as_str().unwrap().contains("may not approve it any more"), "{told}");
}
