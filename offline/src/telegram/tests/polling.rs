//! Updates: what people do reaches the bot, once acknowledged it is gone, one poller at a time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{MemberStatus, Say, TelegramOptions};
use super::{ANN, BOB, Bed, FORUM, GROUP};

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn updates_stay_until_they_are_acknowledged() {
    let bed = Bed::new().await;
    let one = bed.tg.say(ANN, ANN, "one").unwrap().update_id.unwrap();
    let two = bed.tg.say(ANN, ANN, "two").unwrap().update_id.unwrap();
    let ids =
        |updates: &[Value]| updates.iter().map(|u| u["update_id"].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!(ids(&bed.updates().await), [one, two]);
    assert_eq!(ids(&bed.updates().await), [one, two], "not acknowledged, so sent again");
    let limited = bed.call("getUpdates", json!({"limit": 1})).await.unwrap();
    assert_eq!(ids(limited.as_array().unwrap()), [one]);
    let rest = bed.call("getUpdates", json!({"offset": two})).await.unwrap();
    assert_eq!(rest[0]["message"]["text"], "two");
    assert_eq!(bed.tg.updates_pending(), 1);
    bed.tg.say(ANN, ANN, "three").unwrap();
    let last = bed.call("getUpdates", json!({"offset": -1})).await.unwrap();
    assert_eq!(last[0]["message"]["text"], "three");
    assert_eq!(bed.call("getUpdates", json!({"offset": two + 2})).await, Ok(json!([])));
    assert_eq!(bed.tg.updates_pending(), 0);
    bed.end().await;
}

#[tokio::test]
async fn a_long_poll_ends_with_the_first_update_or_its_time() {
    let bed = Bed::new().await;
    let started = Instant::now();
    let (found, ()) = tokio::join!(bed.call("getUpdates", json!({"timeout": 30})), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        bed.tg.say(ANN, ANN, "hi").unwrap();
    });
    assert_eq!(found.unwrap()[0]["message"]["text"], "hi");
    assert!(started.elapsed() < SOON);
    let empty = bed.call("getUpdates", json!({"timeout": 1, "offset": 5000})).await;
    assert_eq!(empty, Ok(json!([])));
    assert!(started.elapsed() >= Duration::from_secs(1));
    bed.end().await;
}

#[tokio::test]
async fn the_earlier_of_two_pollers_gets_a_conflict() {
    let bed = Bed::new().await;
    let long = json!({"timeout": 30});
    let (earlier, later) = tokio::join!(bed.answer("getUpdates", &long), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        bed.call("getUpdates", json!({"timeout": 0})).await
    });
    assert_eq!(earlier["error_code"], 409);
    assert_eq!(later, Ok(json!([])));
    bed.end().await;
}

#[tokio::test]
async fn only_kinds_asked_for_are_delivered() {
    let bed = Bed::new().await;
    bed.call("getUpdates", json!({"allowed_updates": ["callback_query"]})).await.unwrap();
    assert_eq!(bed.tg.say(ANN, ANN, "unheard").unwrap().update_id, None);
    bed.call("getUpdates", json!({})).await.unwrap();
    assert_eq!(bed.tg.say(ANN, ANN, "still unheard").unwrap().update_id, None);
    bed.call("getUpdates", json!({"allowed_updates": []})).await.unwrap();
    assert!(bed.tg.say(ANN, ANN, "heard").unwrap().update_id.is_some());
    let raw = bed.tg.push_raw(json!({"message_reaction": {}}));
    assert_eq!(bed.updates().await.last().unwrap()["update_id"], raw);
    bed.end().await;
}

#[tokio::test]
async fn privacy_mode_hides_talk_that_is_not_for_the_bot() {
    let bed = Bed::new().await;
    let bots = bed.send(GROUP, "I am here").await;
    let bobs = bed.tg.say(BOB, GROUP, "hi all").unwrap();
    let cases = [
        (Say::new(ANN, GROUP, "nice weather"), false),
        (Say::new(ANN, GROUP, "/help"), true),
        (Say::new(ANN, GROUP, "/help@figaro_bot"), true),
        (Say::new(ANN, GROUP, "/help@other_bot"), false),
        (Say::new(ANN, GROUP, "hey @Figaro_Bot, look"), true),
        (Say::new(ANN, GROUP, "hey @other_bot"), false),
        (Say::new(ANN, GROUP, "mail me@figaro_bot"), false),
        (Say::new(ANN, GROUP, "thanks").reply_to(bots), true),
        (Say::new(ANN, GROUP, "thanks").reply_to(bobs.message_id), false),
        (Say::new(ANN, GROUP, "@figaro_bot what is it?").photo("jpeg"), true),
        (Say::new(ANN, FORUM, "nice").topic(bed.topic), false),
        (Say::new(ANN, ANN, "anything"), true),
    ];
    for (say, wanted) in cases {
        let sent = bed.tg.send(say.clone()).unwrap();
        assert_eq!(sent.update_id.is_some(), wanted, "{say:?}");
    }
    bed.tg.set_member(GROUP, bed.tg.bot_id(), MemberStatus::Admin).unwrap();
    assert!(bed.tg.say(ANN, GROUP, "nice weather").unwrap().update_id.is_some());
    bed.end().await;
    let open =
        Bed::with(TelegramOptions { can_read_all_group_messages: true, ..TelegramOptions::default() }).await;
    assert!(open.tg.say(ANN, GROUP, "nice weather").unwrap().update_id.is_some());
    assert_eq!(open.call("getMe", json!({})).await.unwrap()["can_read_all_group_messages"], true);
    open.end().await;
}

#[tokio::test]
async fn a_press_is_answered_once() {
    let bed = Bed::new().await;
    let keyboard = json!({"inline_keyboard": [[{"text": "Ok", "callback_data": "ok"}]]});
    let sent = bed
        .call("sendMessage", json!({"chat_id": ANN, "text": "?", "reply_markup": keyboard}))
        .await
        .unwrap();
    let id = sent["message_id"].as_i64().unwrap();
    assert!(bed.tg.press(ANN, ANN, id, "other").is_err());
    let press = bed.tg.press(ANN, ANN, id, "ok").unwrap();
    let query = bed.updates().await[0]["callback_query"].clone();
    assert_eq!((&query["id"], &query["data"], &query["message"]), (&json!(press), &json!("ok"), &sent));
    let answer = json!({"callback_query_id": press, "text": "Done"});
    assert_eq!(bed.call("answerCallbackQuery", answer.clone()).await, Ok(json!(true)));
    assert!(bed.call("answerCallbackQuery", answer).await.unwrap_err().contains("query is too old"));
    let seen = bed.tg.view(|view| view.callback_answer(&press).cloned()).unwrap();
    assert_eq!(seen, json!({"callback_query_id": press, "show_alert": false, "text": "Done"}));
    bed.end().await;
}

#[tokio::test]
async fn people_edit_stop_add_remove_and_upgrade() {
    let bed = Bed::new().await;
    let said = bed.tg.say(ANN, ANN, "frist").unwrap().message_id;
    bed.tg.edit(ANN, ANN, said, "first").unwrap();
    bed.call("sendMessageDraft", json!({"chat_id": ANN, "draft_id": 3, "text": "wr", "can_stop": true}))
        .await
        .unwrap();
    bed.tg.stop_draft(ANN, 3).unwrap();
    assert!(bed.tg.stop_draft(ANN, 3).is_err());
    bed.tg.bot_removed(FORUM, ANN).unwrap();
    bed.tg.bot_joined(FORUM, ANN).unwrap();
    let to = bed.tg.migrate(GROUP).unwrap();
    let updates = bed.updates().await;
    let seen: Vec<String> = updates
        .iter()
        .map(|u| {
            let (kind, value) = u.as_object().unwrap().iter().find(|(k, _)| *k != "update_id").unwrap();
            let keys = ["migrate_to_chat_id", "migrate_from_chat_id", "new_chat_members", "draft_id", "text"];
            let key = keys.iter().find(|k| value.get(**k).is_some()).map_or("", |k| *k);
            let status = value["new_chat_member"]["status"].as_str().unwrap_or_default();
            format!("{kind} {key}{status}")
        })
        .collect();
    let wanted = [
        "message text",
        "edited_message text",
        "stopped_message_generation draft_id",
        "my_chat_member kicked",
        "my_chat_member member",
        "message new_chat_members",
        "message migrate_to_chat_id",
        "message migrate_from_chat_id",
    ];
    assert_eq!(seen, wanted);
    let old = bed.answer("sendMessage", &json!({"chat_id": GROUP, "text": "x"})).await;
    assert_eq!(old["parameters"], json!({"migrate_to_chat_id": to}));
    bed.send(to, "here").await;
    bed.end().await;
}

#[tokio::test]
async fn replies_forwards_and_anonymous_admins_look_as_at_telegram() {
    let bed = Bed::new().await;
    let group = -1_000_000_000_041;
    bed.tg.add_supergroup(group, "Plain");
    bed.tg.set_member(group, ANN, MemberStatus::Owner).unwrap();
    let first = bed.send(group, "first").await;
    let reply = bed.tg.send(Say::new(ANN, group, "/yes").reply_to(first).sender_chat(group)).unwrap();
    let message = bed.tg.messages(group).pop().unwrap();
    assert_eq!(message["message_id"], reply.message_id);
    // A thread id without being in a topic: a trap for bots.
    assert_eq!((&message["message_thread_id"], message.get("is_topic_message")), (&json!(first), None));
    assert_eq!(
        (&message["from"]["id"], &message["sender_chat"]["id"]),
        (&json!(1_087_968_824), &json!(group))
    );
    let voice = json!({"file_id": "v", "file_unique_id": "u", "duration": 3});
    bed.tg.send(Say::new(ANN, ANN, "listen").field("voice", voice).forward_from(BOB)).unwrap();
    let message = bed.tg.messages(ANN).pop().unwrap();
    assert_eq!(
        (&message["caption"], &message["forward_origin"]["sender_user"]["id"]),
        (&json!("listen"), &json!(BOB))
    );
    bed.end().await;
}
