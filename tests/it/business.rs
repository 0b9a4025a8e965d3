//! Replies to customers of people who connected the bot to their own account: drafted, shown, and sent by a press or a rule.

use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{Person, PlannedFailure, Say, TelegramView};
use serde_json::Value;

use super::pictures::png;
use crate::support::records::holding;
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

const MIA: i64 = 21;
const NOA: i64 = 22;
const ALL: [&str; 2] = ["can_reply", "can_read_messages"];
const MARK: &str = "— written with Figaro 🤖";

/// A world with two customers.
async fn world() -> World {
    let world = World::new().await;
    for (id, name) in [(MIA, "Mia"), (NOA, "Noa")] {
        world.telegram.add_user(Person::new(id, name).language("en"));
    }
    world
}

impl World {
    /// Ann's newest card with these words and a button that begins with `label`.
    async fn draft_card(&self, who: i64, words: &str, label: &str) -> Value {
        let find = |view: &TelegramView<'_>| {
            let is_it =
                |m: &&&Value| text(m).contains(words) && labels(m).iter().any(|one| one.starts_with(label));
            view.bot_messages(who).iter().rev().find(is_it).map(|m| (*m).clone())
        };
        let found = self.telegram.wait_until(TIMEOUT, find).await;
        found.unwrap_or_else(|| panic!("no card: {words}; there are {:?}", self.bot_texts(who)))
    }

    /// The text of the bot in a private chat that begins with these words.
    async fn news(&self, who: i64, start: &str) -> String {
        let find = |view: &TelegramView<'_>| {
            view.bot_messages(who).iter().map(|m| text(m).to_owned()).find(|text| text.starts_with(start))
        };
        self.see(start, find).await
    }

    /// What the customer sees of the account's messages.
    fn replies(&self, connection: &str, customer: i64) -> Vec<String> {
        self.telegram.view(|view| {
            let all = view.business_messages(connection, customer).iter();
            all.filter(|m| m.get("sender_business_bot").is_some()).map(|m| text(m).to_owned()).collect()
        })
    }

    /// A customer writes, and the draft is shown to the person.
    async fn drafted(&self, words: &str, reply: &str) -> Value {
        self.when(words, ModelReply::text(reply));
        self.telegram.customer_says("link", MIA, words).unwrap();
        self.draft_card(ANN, reply, "Send").await
    }

    /// A card without buttons has these words.
    async fn closed(&self, card: &Value, words: &str) {
        let (chat, id) = (number(&card["chat"]["id"]), &card["message_id"]);
        self.see(words, |view| {
            let now = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
            (text(now).contains(words) && labels(now).is_empty()).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_draft_is_shown_and_sent_by_a_press_once() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    world.telegram.customer_says("link", MIA, "hello").unwrap();
    let id = world.telegram.customer_says("link", MIA, "are you <open> on Sunday?").unwrap();
    world.when("on Sunday", ModelReply::text("Yes, from **ten** on."));
    let card = world.draft_card(ANN, "Yes, from ten on.", "Send").await;
    assert_eq!(text(&card), "✉️ Mia writes to you\n\nhello\nare you <open> on Sunday?\n\nYes, from ten on.");
    assert_eq!(labels(&card), ["Send", "Again", "Skip", "Always answer here"]);
    assert_eq!(world.asked().len(), 1, "several messages make one draft");
    let asked = format!("{:?}", world.asked()[0].body);
    assert!(asked.contains("&lt;open>") && asked.contains("no reply"), "{asked}");
    assert_eq!(world.replies("link", MIA), [""; 0], "nothing is sent before the press");
    assert_eq!(world.press(ANN, &card, "Send").await, "✅ Sent.");
    assert_eq!(world.replies("link", MIA), [format!("Yes, from ten on.\n\n{MARK}")]);
    world.closed(&card, "✅ Sent.").await;
    world.see("the mark as read", |view| (view.business_read("link") == [(MIA, id)]).then_some(())).await;
    assert_eq!(world.refused(), [""; 0]);
    // The old button does nothing more, and the bot's own message is no question.
    world.forged(ANN, &card, "business:send:21:1").await;
    world.caught_up().await;
    assert_eq!(world.replies("link", MIA).len(), 1);
    assert_eq!(world.asked().len(), 1);
    // The next draft knows what was written before.
    world.drafted("and at what price?", "It is free.").await;
    let asked = format!("{:?}", world.asked()[1].body);
    assert!(asked.contains("Yes, from ten on.") && asked.contains("hello"), "{asked}");
}

#[tokio::test]
async fn only_the_person_presses_and_strangers_have_no_connection() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    world.telegram.connect_account("bobs", BOB, &ALL).unwrap();
    world.telegram.customer_says("bobs", MIA, "is Bob here?").unwrap();
    let card = world.drafted("is Ann here?", "She is.").await;
    world.forged(BOB, &card, "business:send:21:1").await;
    world.caught_up().await;
    assert_eq!(world.replies("link", MIA), [""; 0]);
    assert_eq!(world.asked().len(), 1, "a stranger's customers get no draft");
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    world.forged(BOB, &card, "business:send:21:1").await;
    world.forged(BOB, &card, "business:always:21:1").await;
    assert_eq!(world.replies("link", MIA), [""; 0]);
    assert!(text(&world.told(BOB, BOB, "/business").await).contains("I am not connected to your account"));
    assert_eq!(world.press(ANN, &card, "Send").await, "✅ Sent.");
}

#[tokio::test]
async fn without_the_right_to_reply_there_is_a_draft_alone() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &[]).unwrap();
    world.when("open on Sunday", ModelReply::text("Yes."));
    world.telegram.customer_says("link", MIA, "open on Sunday?").unwrap();
    let card = world.draft_card(ANN, "Yes.", "Again").await;
    assert_eq!(labels(&card), ["Again", "Skip"]);
    assert!(text(&card).ends_with("allow it in Settings › Business › Chatbots."), "{card}");
    assert!(world.forged(ANN, &card, "business:send:21:1").await.starts_with("I may not reply"));
    // The rights count as they are at the press.
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    world.when("open on Sunday", ModelReply::text("Yes, we are."));
    world.press(ANN, &card, "Again").await;
    let card = world.becomes(&card, "Yes, we are.", "Send").await;
    world.telegram.connect_account("link", ANN, &["can_read_messages"]).unwrap();
    world.caught_up().await;
    assert!(world.press(ANN, &card, "Send").await.starts_with("I may not reply"));
    assert_eq!(world.replies("link", MIA), [""; 0]);
}

#[tokio::test]
async fn a_draft_follows_what_the_customer_and_the_person_do() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    let card = world.drafted("do you have red hats?", "Yes, we have red hats.").await;
    // A further message replaces the draft in its card.
    world.when("or blue ones", ModelReply::text("Both, in fact."));
    let second = world.telegram.customer_says("link", MIA, "or blue ones?").unwrap();
    let card = world.becomes(&card, "Both, in fact.", "Send").await;
    assert!(text(&card).contains("do you have red hats?\nor blue ones?"), "{card}");
    world.forged(ANN, &card, "business:send:21:1").await;
    assert_eq!(world.replies("link", MIA), [""; 0], "the old draft is not sent");
    // So does an edit.
    world.when("or green ones", ModelReply::text("No green ones."));
    world.telegram.edit_business("link", MIA, second, "or green ones?").unwrap();
    let card = world.becomes(&card, "No green ones.", "Send").await;
    // The person's own answer ends it.
    world.telegram.says_to_customer("link", MIA, "Come and see!").unwrap();
    world.closed(&card, "You answered yourself.").await;
    // What is deleted is dropped, and stops a draft that is being written.
    let card = world.drafted("and gloves?", "Gloves too.").await;
    let last = world
        .telegram
        .view(|view| number(&view.business_messages("link", MIA).last().unwrap()["message_id"]));
    world.telegram.delete_business("link", MIA, &[last]).unwrap();
    world.closed(&card, "The message was deleted.").await;
    let gate = Gate::new();
    world.when("and scarves", ModelReply::text("Scarves too.").behind(&gate));
    let asked = world.asked().len();
    let last = world.telegram.customer_says("link", MIA, "and scarves?").unwrap();
    world.asks(asked + 1).await;
    world.telegram.delete_business("link", MIA, &[last]).unwrap();
    world.caught_up().await;
    gate.open();
    world.caught_up().await;
    assert!(!world.bot_texts(ANN).iter().any(|text| text.contains("Scarves")), "{:?}", world.bot_texts(ANN));
    // Where no reply is needed, there is no card; a skipped one goes.
    world.when("thank you", ModelReply::text("[no reply]"));
    let asked = world.model.requests().len();
    world.telegram.customer_says("link", MIA, "thank you!").unwrap();
    world.asks(asked + 1).await;
    let card = world.drafted("one thing more", "Which?").await;
    assert_eq!(world.press(ANN, &card, "Skip").await, "Skipped.");
    world.closed(&card, "Skipped.").await;
    assert_eq!(world.replies("link", MIA), [""; 0]);
}

#[tokio::test]
async fn a_standing_rule_answers_within_its_bound_until_it_is_ended() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    let card = world.drafted("question 0", "Answer 0.").await;
    assert_eq!(world.press(ANN, &card, "Always answer here").await, "✅ Sent.");
    for at in 1..=10 {
        world.when(&format!("question {at}?"), ModelReply::text(&format!("Answer {at}.")));
        world.telegram.customer_says("link", MIA, &format!("question {at}?")).unwrap();
        let told = world.draft_card(ANN, &format!("Answer {at}."), "Stop answering here").await;
        assert!(text(&told).ends_with("✅ Sent by myself, as you wished."), "{told}");
    }
    assert_eq!(world.replies("link", MIA).len(), 11);
    let held = world.drafted("question 11?", "Answer 11.").await;
    let held =
        world.becomes(&held, "I have answered here very often, so this draft waits for you.", "Send").await;
    assert_eq!(world.press(ANN, &held, "Send").await, "✅ Sent.");
    // Other chats have their own rule; this one ends with a press on the list.
    world.when("from Noa", ModelReply::text("Hello Noa."));
    world.telegram.customer_says("link", NOA, "from Noa").unwrap();
    world.draft_card(ANN, "Hello Noa.", "Send").await;
    assert_eq!(world.replies("link", NOA), [""; 0]);
    let list = world.told(ANN, ANN, "/business").await;
    assert_eq!(labels(&list), ["Noa", "🤖 Mia"]);
    world.press(ANN, &list, "🤖 Mia").await;
    let open = world.becomes(&list, "I answer here by myself", "Stop answering here").await;
    assert_eq!(world.press(ANN, &open, "Stop answering here").await, "I no longer answer here by myself.");
    world.drafted("question 12?", "Answer 12.").await;
    assert_eq!(world.replies("link", MIA).len(), 12);
}

#[tokio::test]
async fn an_error_is_never_sent_to_a_customer() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    let card = world.drafted("question 0", "Answer 0.").await;
    world.press(ANN, &card, "Always answer here").await;
    world.when("question 1", ModelReply::status(400, "no such thing"));
    world.telegram.customer_says("link", MIA, "question 1").unwrap();
    let card = world.draft_card(ANN, "question 1", "Again").await;
    assert_eq!(labels(&card), ["Again", "Skip"]);
    assert_eq!(world.replies("link", MIA).len(), 1);
    // Telegram's refusal leaves the draft; an unclear outcome is told and not repeated.
    let noa = "please answer Noa";
    world.when(noa, ModelReply::text("To Noa."));
    world.telegram.customer_says("link", NOA, noa).unwrap();
    let card = world.draft_card(ANN, "To Noa.", "Send").await;
    let refused = PlannedFailure::Status { status: 400, description: "Bad Request: closed".to_owned() };
    world.telegram.fail("sendMessage", refused, 1);
    assert!(world.press(ANN, &card, "Send").await.contains("nothing was sent."));
    world.telegram.fail("sendMessage", PlannedFailure::AppliedButDropped, 1);
    assert!(world.press(ANN, &card, "Send").await.starts_with("⚠️ It is unclear"));
    world.closed(&card, "It is unclear").await;
    assert_eq!(world.replies("link", NOA).len(), 1);
}

#[tokio::test]
async fn a_kill_drafts_again_and_never_sends_twice() {
    let world = world().await;
    let gate = Gate::new();
    world.when("open on Sunday", ModelReply::text("never").behind(&gate));
    let bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    world.telegram.customer_says("link", MIA, "open on Sunday?").unwrap();
    world.asks(1).await;
    bot.kill();
    world.when("open on Sunday", ModelReply::text("Yes."));
    let bot = world.start().await;
    let card = world.draft_card(ANN, "Yes.", "Send").await;
    // Killed between the press and its end: the message may be sent, so it is not sent again.
    world.telegram.fail("sendMessage", PlannedFailure::AppliedButHangs, 1);
    world.telegram.press(ANN, ANN, number(&card["message_id"]), "business:send:21:1").unwrap();
    world.see("the reply", |view| (view.business_messages("link", MIA).len() == 2).then_some(())).await;
    bot.kill();
    let bot = world.start().await;
    world.closed(&card, "It is unclear whether this was sent").await;
    world.caught_up().await;
    assert_eq!(world.replies("link", MIA).len(), 1);
    bot.stop().await;
    let asked = world.asked().len();
    let _bot = world.start().await;
    world.caught_up().await;
    assert_eq!(world.asked().len(), asked, "nothing is drafted again");
}

#[tokio::test]
async fn disconnecting_and_forgetting_erase_everything() {
    let world = world().await;
    let bot = world.bot().set("ERASE_AFTER", "1").spawn();
    bot.ready().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    let card = world.drafted("the code is zebra4711", "I keep zebra4711 safe.").await;
    let gate = Gate::new();
    world.when("from Noa", ModelReply::text("Hello zebra4711.").behind(&gate));
    world.telegram.customer_says("link", NOA, "from Noa zebra4711").unwrap();
    world.asks(2).await;
    world.telegram.disconnect_account("link").unwrap();
    world.closed(&card, "This is over").await;
    gate.open();
    world.forged(ANN, &card, "business:send:21:1").await;
    world.caught_up().await;
    assert!(
        !world.bot_texts(ANN).iter().any(|text| text.contains("zebra4711")),
        "{:?}",
        world.bot_texts(ANN)
    );
    world.erased(&["zebra4711"]).await;
    assert!(text(&world.told(ANN, ANN, "/business").await).contains("I am not connected"));
    // A chat alone, and everything by /forget.
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    let card = world.drafted("once more zebra4711", "Yes.").await;
    let list = world.told(ANN, ANN, "/business").await;
    world.press(ANN, &list, "Mia").await;
    let open = world.becomes(&list, "wait for you", "Forget").await;
    assert_eq!(world.press(ANN, &open, "Forget").await, "Forgotten.");
    world.closed(&card, "This is over").await;
    world.drafted("again zebra4711", "Yes, again.").await;
    let forget = world.told(ANN, ANN, "/forget").await;
    world.press(ANN, &forget, "Everything about me here").await;
    let sure = world.becomes(&forget, "", "Forget").await;
    world.press(ANN, &sure, "Forget").await;
    world.caught_up().await;
    world.erased(&["zebra4711"]).await;
    bot.stop().await;
    assert_eq!(holding(&world, "zebra4711"), [""; 0]);
}

#[tokio::test]
async fn two_accounts_share_nothing() {
    let world = world().await;
    let _bot = world.start_open().await;
    world.telegram.connect_account("anns", ANN, &ALL).unwrap();
    world.telegram.connect_account("bobs", BOB, &ALL).unwrap();
    world.when("secret of Ann", ModelReply::text("Ann's answer."));
    world.telegram.customer_says("anns", MIA, "a secret of Ann").unwrap();
    let anns = world.draft_card(ANN, "Ann's answer.", "Send").await;
    world.when("what do you know", ModelReply::text("Bob's answer."));
    world.telegram.customer_says("bobs", MIA, "what do you know?").unwrap();
    let bobs = world.draft_card(BOB, "Bob's answer.", "Send").await;
    assert!(!format!("{:?}", world.asked()[1].body).contains("secret"), "{:?}", world.asked()[1]);
    assert_eq!(world.press(BOB, &bobs, "Send").await, "✅ Sent.");
    assert_eq!(world.replies("anns", MIA), [""; 0]);
    world.telegram.disconnect_account("bobs").unwrap();
    world.caught_up().await;
    assert_eq!(labels(&world.told(ANN, ANN, "/business").await), ["Mia"]);
    assert_eq!(world.press(ANN, &anns, "Send").await, "✅ Sent.");
}

#[tokio::test]
async fn in_a_group_the_command_points_to_the_private_chat() {
    let world = world().await;
    world.team();
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    let told = world.told(ANN, crate::support::scene::TEAM, "/business").await;
    assert!(text(&told).contains("in our private chat"), "{told}");
}

#[tokio::test]
async fn the_person_is_told_once_that_the_account_is_connected() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account("link", ANN, &[]).unwrap();
    let told = world.news(ANN, "Your account is connected").await;
    assert!(told.contains("Nothing is sent before you press Send"), "{told}");
    assert!(told.ends_with("allow it in Settings › Business › Chatbots."), "{told}");
    let count =
        |world: &World| world.bot_texts(ANN).iter().filter(|text| text.contains("is connected")).count();
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    world.caught_up().await;
    assert_eq!(count(&world), 1, "a change of rights is no news");
    // A stranger is told nothing.
    world.telegram.connect_account("bobs", BOB, &ALL).unwrap();
    world.caught_up().await;
    assert_eq!(world.bot_texts(BOB), [""; 0]);
    assert_eq!(world.refused(), [""; 0]);
}

#[tokio::test]
async fn a_connection_that_the_bot_did_not_hear_of_is_asked_for() {
    let world = world().await;
    let _bot = world.start().await;
    world.telegram.connect_account_untold("link", ANN, &ALL).unwrap();
    let card = world.drafted("open on Sunday?", "Yes.").await;
    assert_eq!(world.press(ANN, &card, "Send").await, "✅ Sent.");
    world.news(ANN, "Your account is connected").await;
    // So is one that was made before its person was let in.
    world.telegram.connect_account("bobs", BOB, &ALL).unwrap();
    world.telegram.customer_says("bobs", MIA, "is Bob here?").unwrap();
    world.caught_up().await;
    assert_eq!(world.asked().len(), 1);
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    world.when("is Bob there", ModelReply::text("He is."));
    world.telegram.customer_says("bobs", MIA, "is Bob there now?").unwrap();
    world.draft_card(BOB, "He is.", "Send").await;
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn a_draft_sees_the_pictures_of_the_customer() {
    let world = world().await;
    let _bot = world.seeing().await;
    world.telegram.connect_account("link", ANN, &ALL).unwrap();
    world.when("what size", ModelReply::text("Size 40."));
    world.telegram.customer_sends("link", Say::new(MIA, MIA, "").photo(png(1))).unwrap();
    world.telegram.customer_says("link", MIA, "what size is this?").unwrap();
    let card = world.draft_card(ANN, "Size 40.", "Send").await;
    assert_eq!(text(&card), "✉️ Mia writes to you\n\n[photo]\nwhat size is this?\n\nSize 40.");
    assert_eq!(world.asked()[0].pictures().len(), 1, "{:?}", world.asked()[0].body);
    assert_eq!(world.press(ANN, &card, "Send").await, "✅ Sent.");
    // A picture that is answered is a word of the conversation.
    world.drafted("and in blue?", "In blue, too.").await;
    let asked = &world.asked()[1];
    assert!(
        format!("{:?}", asked.body).contains("[photo]") && asked.pictures().is_empty(),
        "{:?}",
        asked.body
    );
}

#[tokio::test]
async fn without_business_mode_the_command_says_who_turns_it_on() {
    let world = world().await;
    world.telegram.turn_business_off();
    let _bot = world.start().await;
    let told = world.told(ANN, ANN, "/business").await;
    assert!(text(&told).contains("turn on Business Mode at @BotFather"), "{told}");
}
