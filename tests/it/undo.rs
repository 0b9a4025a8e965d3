//! What the model did in chats is taken back by a button under its answer: by those who may, once, for a day.

use std::time::Duration;

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, PlannedFailure};
use serde_json::{Value, json};

use crate::parking::call;
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, Bot, World};

const EVE: i64 = 77;
const NEWS: i64 = -1009;
const UNDO: &str = "Undo";
const LATE: &str = "It is too late to undo this: that works for 24 hours.";
const NO_RIGHT: &str = "Only an owner of this bot, or an admin there with this right, can undo it.";

fn end(said: &str) -> String {
    format!("End of {said}.")
}

fn refused(words: &str) -> PlannedFailure {
    PlannedFailure::Status { status: 400, description: words.to_owned() }
}

fn ban() -> ReplyPart {
    call("banChatMember", json!({"user_id": EVE}))
}

impl World {
    /// The moderated group, with a channel that Ann and the bot administer.
    async fn with_news(&self) -> Bot {
        self.telegram.add_channel(NEWS, "News", "news");
        let bot = self.moderated().await;
        self.telegram.set_member(NEWS, self.telegram.bot_id(), MemberStatus::Admin).unwrap();
        self.telegram.set_member(NEWS, ANN, MemberStatus::Admin).unwrap();
        self.telegram.set_member(NEWS, BOB, MemberStatus::Member).unwrap();
        bot
    }

    /// Bob asks in the group for something, which Ann approves; gives the answer.
    async fn did(&self, said: &str, wanted: ReplyPart) -> Value {
        let ReplyPart::Call { name, .. } = &wanted else { panic!("no call") };
        let cards = self.cards(TEAM);
        self.when(said, ModelReply::turn(vec![call("find_tools", json!({"query": name}))]));
        self.when(said, ModelReply::turn(vec![wanted]));
        self.when(said, ModelReply::text(&end(said)));
        self.say(BOB, TEAM, &format!("@figaro_bot {said}"));
        let card = self.card_after(TEAM, cards).await;
        self.press(ANN, &card, "✓ Once").await;
        self.offered(TEAM, said).await
    }

    /// The answer, once it can be taken back.
    async fn offered(&self, chat: i64, said: &str) -> Value {
        let words = end(said);
        self.see("an answer that can be taken back", |view| {
            let all = view.bot_messages(chat);
            let found = all.into_iter().find(|m| text(m).contains(&words));
            found.filter(|m| labels(m).iter().any(|label| label == UNDO)).cloned()
        })
        .await
    }

    /// The labels under a message, once the first begins with these words.
    async fn labelled(&self, message: &Value, words: &str) -> Vec<String> {
        let (chat, id) = (number(&message["chat"]["id"]), &message["message_id"]);
        self.see("another label", |view| {
            let now = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
            let labels = labels(now);
            labels.first().is_some_and(|label| label.starts_with(words)).then_some(labels)
        })
        .await
    }

    /// The one call of a method that was made since there were so many.
    fn one_made(&self, method: &str, before: usize) -> Value {
        let mut made = self.made(method).split_off(before);
        assert_eq!(made.len(), 1, "{method}: {made:?}");
        made.remove(0)
    }
}

fn all_of(given: bool) -> impl Fn(&Value) -> bool {
    move |permissions| {
        permissions.as_object().is_some_and(|all| all.len() > 10 && all.values().all(|one| *one == given))
    }
}

#[tokio::test]
async fn each_thing_that_was_done_is_undone_as_it_should_be() {
    let world = World::new().await;
    let bot = world.with_news().await;
    let message = world.say(EVE, TEAM, "look here").message_id;
    let post = call("sendMessage", json!({"chat_id": NEWS, "text": "Hello, world"}));
    let mute =
        call("restrictChatMember", json!({"user_id": EVE, "permissions": {"can_send_messages": false}}));
    let cases = [
        ("mute her", mute, "restrictChatMember", "the change of what Eve (77) may do in Team"),
        ("ban her", ban(), "unbanChatMember", "the ban of Eve (77) in Team"),
        (
            "pin it",
            call("pinChatMessage", json!({"message_id": message})),
            "unpinChatMessage",
            "the pin in Team",
        ),
        ("name it", call("setChatTitle", json!({"title": "Lunch"})), "setChatTitle", "the new title of Team"),
        ("post it", post, "deleteMessage", "the message in News"),
    ];
    for (said, wanted, undoing, told) in cases {
        let answer = world.did(said, wanted).await;
        assert_eq!(labels(&answer), [UNDO], "{said}");
        let before = world.made(undoing).len();
        assert_eq!(world.press(ANN, &answer, UNDO).await, format!("✓ undone: {told}"), "{said}");
        assert_eq!(world.labelled(&answer, "✓").await, ["✓ Undone by Ann"], "{said}");
        let made = world.one_made(undoing, before);
        let wanted = match undoing {
            "restrictChatMember" => {
                assert!(all_of(true)(&made["permissions"]), "{made}");
                json!({"chat_id": TEAM, "user_id": EVE, "permissions": made["permissions"]})
            }
            "unbanChatMember" => json!({"chat_id": TEAM, "user_id": EVE, "only_if_banned": true}),
            "unpinChatMessage" => json!({"chat_id": TEAM, "message_id": message}),
            "setChatTitle" => json!({"chat_id": TEAM, "title": "Team"}),
            _ => json!({"chat_id": NEWS, "message_id": made["message_id"]}),
        };
        assert_eq!(made, wanted, "{said}");
        // It says what it was when it is pressed again, and does nothing.
        assert_eq!(world.press(ANN, &answer, "✓ Undone").await, format!("✓ undone: {told}"));
        assert_eq!(world.press(EVE, &answer, "✓ Undone").await, NO_RIGHT, "{said}");
        assert_eq!(world.made(undoing).len(), before + 1);
    }
    assert_eq!(world.telegram.messages(NEWS), Vec::<Value>::new(), "the post is gone");
    world.all_well();
    bot.ends_well().await;
    let kept = world.bot().arg("audit").arg("--json").run().await;
    let log = String::from_utf8(kept.stdout).unwrap();
    let undone: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone())
        .filter(|event| event["what"] == "undone")
        .collect();
    assert_eq!(undone.len(), 5, "{log}");
    assert!(
        undone
            .iter()
            .all(|event| event["rule"] == "undo" && event["actor"] == json!({"person": format!("tg:{ANN}")}))
    );
    assert_eq!(undone[0]["method"], "deleteMessage", "the newest first");
    assert_eq!(undone[0]["target_chat"], NEWS);
}

#[tokio::test]
async fn strangers_and_those_who_lost_the_right_undo_nothing() {
    let world = World::new().await;
    let _bot = world.with_news().await;
    let answer = world.did("ban her", ban()).await;
    assert_eq!(world.press(EVE, &answer, UNDO).await, NO_RIGHT);
    world.telegram.set_member(TEAM, BOB, MemberStatus::Member).unwrap();
    assert_eq!(world.press(BOB, &answer, UNDO).await, NO_RIGHT, "he asked for it, and it took an approval");
    assert_eq!(world.made("unbanChatMember"), Vec::<Value>::new());
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    assert_eq!(world.press(BOB, &answer, UNDO).await, "✓ undone: the ban of Eve (77) in Team");
    assert_eq!(world.made("unbanChatMember").len(), 1);
    // Elsewhere he is no admin.
    let post = world.did("post it", call("sendMessage", json!({"chat_id": NEWS, "text": "Hello"}))).await;
    assert_eq!(world.press(BOB, &post, UNDO).await, NO_RIGHT);
    // In another chat the button says nothing.
    let (_, data) = buttons(&post).remove(0);
    let other = world.told(ANN, ANN, "/status").await;
    let gone = world.forged(ANN, &other, &data).await;
    assert!(!gone.contains("undone"), "{gone}");
    assert_eq!(world.telegram.messages(NEWS).len(), 1);
    world.all_well();
}

#[tokio::test]
async fn what_a_person_decided_since_stays() {
    let world = World::new().await;
    let bot = world.with_news().await;
    let mute =
        call("restrictChatMember", json!({"user_id": EVE, "permissions": {"can_send_messages": false}}));
    let muted = world.did("mute her", mute).await;
    world.telegram.set_member(TEAM, EVE, MemberStatus::Kicked).unwrap();
    let said = world.press(ANN, &muted, UNDO).await;
    assert!(said.starts_with("Not everything was undone"), "{said}");
    world.card_with(TEAM, "somebody has changed it since").await;
    assert_eq!(world.made("restrictChatMember").len(), 1, "a ban is not made a mute");
    let named = world.did("name it", call("setChatTitle", json!({"title": "Lunch"}))).await;
    let again = world.did("name it again", call("setChatTitle", json!({"title": "Dinner"}))).await;
    let said = world.press(ANN, &named, UNDO).await;
    assert!(said.starts_with("Not everything was undone"), "{said}");
    assert!(world.press(ANN, &again, UNDO).await.starts_with("✓ undone: the new title of"));
    assert_eq!(world.made("setChatTitle").last().unwrap()["title"], "Lunch");
    world.all_well();
    bot.ends_well().await;
}

#[tokio::test]
async fn two_at_once_undo_it_once() {
    let world = World::new().await;
    let _bot = world.with_news().await;
    let answer = world.did("ban her", ban()).await;
    let (ann, bob) = tokio::join!(world.press(ANN, &answer, UNDO), world.press(BOB, &answer, UNDO));
    let said = [ann, bob];
    assert!(said.iter().any(|words| words.starts_with("✓ undone")), "{said:?}");
    world.caught_up().await;
    assert_eq!(world.made("unbanChatMember").len(), 1, "{said:?}");
    world.all_well();
}

#[tokio::test]
async fn a_restart_changes_nothing_and_a_day_ends_it() {
    let world = World::new().await;
    let bot = world.with_news().await;
    let answer = world.did("ban her", ban()).await;
    bot.kill();
    let bot = world.start_open().await;
    assert_eq!(world.press(ANN, &answer, UNDO).await, "✓ undone: the ban of Eve (77) in Team");
    let late = world.did("ban her again", ban()).await;
    bot.ends_well().await;
    assert_eq!(world.records().change("undos", |record| record["until"] = json!("2020-01-01T00:00:00Z")), 2);
    let bot = world.start_open().await;
    assert_eq!(world.press(ANN, &late, UNDO).await, LATE);
    world.without_buttons(&late).await;
    assert_eq!(world.made("unbanChatMember").len(), 1);
    bot.ends_well().await;
    assert_eq!(world.records().all("undos"), [], "nothing of it is kept");
}

#[tokio::test]
async fn what_telegram_refuses_is_told_with_its_reason_and_what_it_never_saw_can_be_tried_again() {
    let world = World::new().await;
    let bot = world.with_news().await;
    let post = world.did("post it", call("sendMessage", json!({"chat_id": NEWS, "text": "Hello"}))).await;
    world.telegram.fail("deleteMessage", refused("Bad Request: message can't be deleted"), 1);
    let toast = world.press(ANN, &post, UNDO).await;
    assert!(toast.starts_with("Not everything was undone"), "{toast}");
    let card = world.card_with(TEAM, "What Ann wanted to undo").await;
    let wanted = "✗ not undone: the message in News (bots can delete only messages of the last 48 hours)";
    assert!(text(&card).contains(wanted), "{card}");
    assert_eq!(world.labelled(&post, "⚠️").await, ["⚠️ Not all was undone"]);
    assert!(world.press(ANN, &post, "⚠️").await.starts_with("✗ not undone: the message in News"));
    assert_eq!(world.press(BOB, &post, "⚠️").await, NO_RIGHT, "what was done in News is not for him");
    assert_eq!(world.made("deleteMessage").len(), 1);
    let answer = world.did("ban her", ban()).await;
    world.telegram.fail("unbanChatMember", PlannedFailure::RetryAfter(3600), 1);
    let toast = world.press(ANN, &answer, UNDO).await;
    assert_eq!(toast, "Telegram cannot do all of it right now. Press again later.");
    world.telegram.fail(
        "unbanChatMember",
        refused("Bad Request: not enough rights to restrict/unrestrict chat member"),
        1,
    );
    world.press(ANN, &answer, UNDO).await;
    world.card_with(TEAM, "I have no right to do that there any more").await;
    bot.ends_well().await;
}

#[tokio::test]
async fn a_kill_after_the_press_undoes_it_at_most_once_and_says_what_is_not_known() {
    let (mut made, mut unknown) = (0, 0);
    for pause in [0, 3, 6, 10, 20, 40] {
        let world = World::new().await;
        let bot = world.with_news().await;
        let answer = world.did("ban her", ban()).await;
        let (_, data) = buttons(&answer).remove(0);
        world.telegram.press(ANN, TEAM, number(&answer["message_id"]), &data).unwrap();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        bot.kill();
        let _bot = world.start_open().await;
        let label = world
            .see("what became of it", |view| {
                let found =
                    view.messages(TEAM).into_iter().find(|m| m["message_id"] == answer["message_id"])?;
                labels(found).into_iter().find(|label| label != UNDO)
            })
            .await;
        world.caught_up().await;
        let calls = world.made("unbanChatMember").len();
        assert!(calls <= 1, "{pause} ms: {calls} calls");
        match label.starts_with('✓') {
            true => assert_eq!(calls, 1, "{pause} ms"),
            false => {
                world
                    .card_with(
                        TEAM,
                        "❓ I do not know whether it was undone, please check there: the ban of Eve",
                    )
                    .await;
                unknown += 1;
            }
        }
        made += calls;
    }
    println!(
        "6 kills after a press: undone {made} times, never twice; {unknown} with an outcome that is not known"
    );
}

#[tokio::test]
async fn what_is_forgotten_can_not_be_undone() {
    let world = World::new().await;
    let bot = world.with_news().await;
    let answer = world.did("ban her", ban()).await;
    let question = world.telegram.messages(TEAM).into_iter().find(|m| text(m).contains("ban her")).unwrap();
    let say =
        figaro_offline::telegram::Say::new(BOB, TEAM, "/forget").reply_to(number(&question["message_id"]));
    let before = world.bot_texts(TEAM).len();
    world.telegram.send(say).unwrap();
    let card = world.answers(TEAM, before + 1).await.pop().unwrap();
    world.press(BOB, &card, "Forget").await;
    world.shows(TEAM, number(&card["message_id"]), "Forgotten").await;
    assert_eq!(world.press(ANN, &answer, UNDO).await, LATE);
    assert_eq!(world.made("unbanChatMember"), Vec::<Value>::new());
    bot.ends_well().await;
    assert_eq!(world.records().all("undos"), []);
}

#[tokio::test]
async fn whoever_asked_takes_back_what_took_no_approval() {
    let world = World::new().await;
    let rules = "rules:\n  - name: pins\n    method: pinChatMessage\n    own: false\n    then: allow\n  - name: news\n    method: sendMessage\n    \
        chat: \"@news\"\n    trusted: true\n    then: allow\n";
    std::fs::write(world.folder.path().join("policy.yaml"), rules).unwrap();
    let _bot = world.with_news().await;
    let message = world.say(BOB, TEAM, "look here").message_id;
    let pin = call("pinChatMessage", json!({"message_id": message}));
    let here = call("sendMessage", json!({"text": "Hello here"}));
    world.when("do both", ModelReply::turn(vec![call("find_tools", json!({"query": "pinChatMessage"}))]));
    world.when(
        "do both",
        ModelReply::turn(vec![pin, call("sendMessage", json!({"chat_id": "@news", "text": "Hi"}))]),
    );
    world.when("do both", ModelReply::text(&end("do both")));
    world.say(EVE, TEAM, "@figaro_bot do both");
    let answer = world.offered(TEAM, "do both").await;
    assert_eq!(world.telegram.messages(NEWS).len(), 1);
    let toast = world.press(EVE, &answer, UNDO).await;
    // The calls of a pass are made side by side.
    for told in ["✓ undone: the pin in Team", "✓ undone: the message in @news"] {
        assert!(toast.contains(told), "{toast}");
    }
    assert_eq!(world.labelled(&answer, "✓").await, ["✓ Undone by Eve"], "{toast}");
    assert_eq!(world.made("unpinChatMessage"), [json!({"chat_id": TEAM, "message_id": message})]);
    assert_eq!(world.telegram.messages(NEWS), Vec::<Value>::new());
    // A message in the chat itself needs no button; what says nothing has a card of its own.
    world.when("say it", ModelReply::turn(vec![here]));
    world.when("say it", ModelReply::text(&end("say it")));
    world.say(EVE, TEAM, "@figaro_bot say it");
    let sent = world.card_with(TEAM, "Hello here").await;
    assert_eq!(labels(&sent), Vec::<String>::new());
    world.when("pin it", ModelReply::turn(vec![call("pinChatMessage", json!({"message_id": message}))]));
    world.when("pin it", ModelReply::text(""));
    world.say(EVE, TEAM, "@figaro_bot pin it");
    let card = world.card_with(TEAM, "I did this. It can be undone for 24 hours:\n• the pin in Team").await;
    assert_eq!(labels(&card), [UNDO]);
    assert_eq!(world.press(BOB, &card, UNDO).await, "✓ undone: the pin in Team");
    assert_eq!(world.made("unpinChatMessage").len(), 2);
    world.all_well();
}

#[tokio::test]
async fn it_can_still_be_undone_when_the_answer_goes_on() {
    let world = World::new().await;
    let _bot = world.with_news().await;
    let said = "ban her";
    world.when(said, ModelReply::turn(vec![call("find_tools", json!({"query": "banChatMember"}))]));
    world.when(said, ModelReply::turn(vec![ban()]));
    world.when(said, ModelReply::text(&end(said)).cut_by_length());
    let cards = world.cards(TEAM);
    world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
    let card = world.card_after(TEAM, cards).await;
    world.press(ANN, &card, "✓ Once").await;
    let answer = world.offered(TEAM, said).await;
    assert_eq!(labels(&answer), ["Go on", UNDO]);
    world.otherwise(ModelReply::text("And that is all."));
    world.press(BOB, &answer, "Go on").await;
    assert_eq!(world.labelled(&answer, UNDO).await, [UNDO]);
    world.card_with(TEAM, "And that is all.").await;
    assert_eq!(world.press(BOB, &answer, UNDO).await, "✓ undone: the ban of Eve (77) in Team");
    assert_eq!(world.made("unbanChatMember").len(), 1);
    world.all_well();
}
