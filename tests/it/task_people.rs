//! Whose tasks are whose: who sees and changes them, in whose words, and how many there may be.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::MemberStatus;
use serde_json::{Value, json};

use super::task_tools::{CAROL, LEAP, cards, listed, once, recurring, runs, scene, start};
use crate::support::calls::{call, calls, error, results, says};
use crate::support::scene::{TEAM, buttons, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

const GONE: &str = "This is no longer up to date.";

#[tokio::test]
async fn a_task_of_one_chat_is_nothing_in_another() {
    let (world, _bot) = scene().await;
    let made = call(&world, (CAROL, CAROL), "a secret", "schedule_task", recurring("Whisper.", LEAP)).await;
    let id = made["task_id"].as_str().unwrap();
    let card = says(&world, CAROL, "⏰ Whisper.").await;
    for chat in [BOB, TEAM] {
        let said = format!("what is there in {chat}?");
        assert_eq!(listed(&world, (BOB, chat), &said).await, Vec::<Value>::new());
        let said = format!("change it from {chat}");
        let tries = vec![
            ("update_task", json!({"task_id": id, "prompt": "Shout."})),
            ("update_task", json!({"task_id": id, "paused": true})),
            ("update_task", json!({"task_id": id[..12], "schedule": "@daily"})),
            ("cancel_task", json!({"task_id": id})),
            ("cancel_task", json!({"task_id": id.to_lowercase()})),
        ];
        for told in calls(&world, (BOB, chat), &said, tries).await {
            assert!(error(&told).contains("list_tasks") && !told.to_string().contains("Whisper"), "{told}");
        }
        let own = world.told(BOB, chat, "/tasks@figaro_bot").await;
        assert!(text(&own).starts_with("No tasks yet."), "{own}");
        let verbs = [
            "run", "open", "pause", "resume", "edit", "cancel", "undo", "history", "shift", "missed", "skip",
        ];
        let more = |verb: &str| match verb {
            "shift" => ":60",
            "missed" => ":skip",
            _ => "",
        };
        for data in verbs.map(|verb| format!("tasks:{verb}:{id}{}", more(verb))) {
            assert_eq!(world.forged(BOB, &own, &data).await, GONE, "{data}");
        }
        for (label, data) in buttons(&card).into_iter().filter(|(_, data)| data.starts_with("tasks:")) {
            assert_eq!(world.forged(BOB, &own, &data).await, GONE, "{label} in {chat}");
        }
        world.caught_up().await;
        assert!(!world.bot_texts(chat).iter().any(|said| said.contains("Whisper")), "{chat}");
    }
    let now = listed(&world, (CAROL, CAROL), "what have I?").await;
    assert_eq!(now.len(), 1, "{now:?}");
    assert_eq!((&now[0]["prompt"], &now[0]["schedule"]), (&json!("Whisper."), &json!(LEAP)));
    assert_eq!((&now[0]["state"], runs(&world)), (&json!("active"), 0), "{now:?}");
}

#[tokio::test]
async fn in_a_group_others_change_nothing_by_any_tool() {
    let (world, _bot) = scene().await;
    let made = call(&world, (BOB, TEAM), "tea", "schedule_task", recurring("Call for tea.", LEAP)).await;
    let id = made["task_id"].clone();
    let tries = || {
        vec![
            ("update_task", json!({"task_id": id, "prompt": "Call for coffee."})),
            ("update_task", json!({"task_id": id, "schedule": "@daily"})),
            ("update_task", json!({"task_id": id, "if_missed": "skip"})),
            ("update_task", json!({"task_id": id, "timezone": "Asia/Tokyo"})),
            ("update_task", json!({"task_id": id, "model": null, "paused": true})),
            ("cancel_task", json!({"task_id": id})),
        ]
    };
    for told in calls(&world, (CAROL, TEAM), "rather coffee", tries()).await {
        assert!(error(&told).contains("Bob"), "{told}");
    }
    let now = listed(&world, (CAROL, TEAM), "what is there?").await.remove(0);
    assert_eq!(
        (&now["prompt"], &now["schedule"], &now["state"], &now["creator"]),
        (&json!("Call for tea."), &json!(LEAP), &json!("active"), &json!("Bob"))
    );
    // The bot's owner, an ordinary member here, and an admin.
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Admin).unwrap();
    for (who, words) in [(ANN, "Call for water."), (CAROL, "Call for juice."), (BOB, "Call for milk.")] {
        let change = json!({"task_id": id, "prompt": words});
        let told = call(&world, (who, TEAM), &format!("now {words}"), "update_task", change).await;
        assert_eq!((&told["success"], &told["title"]), (&json!(true), &json!(words)), "{told}");
    }
    let now = listed(&world, (CAROL, TEAM), "and now?").await.remove(0);
    assert_eq!(
        (&now["prompt"], &now["creator"]),
        (&json!("Call for milk."), &json!("Bob")),
        "it stays Bob's"
    );
}

#[tokio::test]
async fn words_of_somebody_else_schedule_nothing() {
    let (world, _bot) = scene().await;
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Admin).unwrap();
    world.when("water us daily", ModelReply::text("How often?"));
    world.told(BOB, TEAM, "@figaro_bot water us daily").await;
    let tries = |id: &Value| {
        let call = |name: &str, arguments: Value| ReplyPart::Call { name: name.to_owned(), arguments };
        ModelReply::turn(vec![
            call("schedule_task", recurring("Water.", LEAP)),
            call("update_task", json!({"task_id": id, "prompt": "Drain."})),
            call("cancel_task", json!({"task_id": id})),
        ])
    };
    let kept = call(&world, (ANN, TEAM), "a bell", "schedule_task", recurring("Ring.", LEAP)).await;
    let id = &kept["task_id"];
    world.when("ask once more", ModelReply::text("Well?"));
    world.told(BOB, TEAM, "@figaro_bot ask once more").await;
    for (at, other) in [ANN, CAROL].into_iter().enumerate() {
        let end = format!("That is {at}.");
        world.when("ask once more", tries(id));
        world.when("ask once more", ModelReply::text(&end));
        world.say(other, TEAM, "/retry@figaro_bot");
        for told in results(&world, "ask once more", 3, (TEAM, &end)).await {
            assert!(!error(&told).is_empty(), "{told}");
        }
    }
    world.caught_up().await;
    assert_eq!((cards(&world, TEAM, "Water.").len(), cards(&world, TEAM, "Drain.").len()), (0, 0));
    let now = listed(&world, (BOB, TEAM), "what is there?").await;
    assert_eq!((now.len(), &now[0]["prompt"]), (1, &json!("Ring.")), "{now:?}");
}

#[tokio::test]
async fn there_are_as_many_tasks_as_there_may_be_and_room_again_after_one_is_gone() {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let _bot = start(&world, &[("TASKS_PER_CHAT", "2"), ("TASKS_PER_USER", "3")]).await;
    let make = |prompt: &str| ("schedule_task", recurring(prompt, LEAP));
    let three = calls(&world, (BOB, BOB), "three", vec![make("one"), make("two"), make("three")]).await;
    let (good, bad): (Vec<&Value>, Vec<&Value>) = three.iter().partition(|told| told["success"] == true);
    assert_eq!((good.len(), bad.len()), (2, 1), "{three:?}");
    assert!(error(bad[0]).contains("may be: 2"), "{bad:?}");
    world.caught_up().await;
    let shown: usize = ["one", "two", "three"].map(|title| cards(&world, BOB, title).len()).iter().sum();
    assert_eq!(shown, 2);

    let first = good[0]["task_id"].clone();
    let told = call(&world, (BOB, BOB), "away", "cancel_task", json!({"task_id": first})).await;
    assert_eq!(told["success"], true, "{told}");
    // A single run that is over takes no room either.
    world.when("<scheduled_task", ModelReply::text("It has been four."));
    let told = call(&world, (BOB, BOB), "soon", "schedule_task", once("four", "in 1s")).await;
    assert_eq!(told["success"], true, "{told}");
    says(&world, BOB, "It has been four.").await;
    let done = async {
        for n in 0.. {
            if listed(&world, (BOB, BOB), &format!("is it over ({n})?")).await.len() == 1 {
                break;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, done).await.expect("it is over");
    let told = call(&world, (BOB, BOB), "five", "schedule_task", recurring("five", LEAP)).await;
    assert_eq!(told["success"], true, "{told}");
    let told = call(&world, (BOB, BOB), "six", "schedule_task", recurring("six", LEAP)).await;
    assert!(error(&told).contains("2"), "{told}");

    let told = call(&world, (BOB, TEAM), "seven", "schedule_task", recurring("seven", LEAP)).await;
    assert_eq!(told["success"], true, "Bob's third: {told}");
    let told = call(&world, (BOB, TEAM), "eight", "schedule_task", recurring("eight", LEAP)).await;
    assert!(error(&told).contains("may be: 3") && error(&told).contains("person"), "{told}");
    let told = call(&world, (CAROL, TEAM), "nine", "schedule_task", recurring("nine", LEAP)).await;
    assert_eq!(told["success"], true, "Carol has none yet: {told}");
    let told = call(&world, (CAROL, TEAM), "ten", "schedule_task", recurring("ten", LEAP)).await;
    assert!(error(&told).contains("may be: 2") && error(&told).contains("chat"), "{told}");
}

#[tokio::test]
async fn a_group_that_becomes_a_supergroup_keeps_its_tasks() {
    let (world, _bot) = scene().await;
    let group = -77;
    world.telegram.add_group(group, "Club");
    world.join(group);
    let made = call(&world, (BOB, group), "tea", "schedule_task", recurring("Call for tea.", LEAP)).await;
    let old = says(&world, group, "⏰ Call for tea.").await;
    says(&world, group, "Which time zone are you in?").await;
    let new = world.telegram.migrate(group).unwrap();
    world.join(new);
    let now = listed(&world, (BOB, new), "what is there now?").await;
    assert_eq!((now.len(), &now[0]["task_id"], &now[0]["state"]), (1, &made["task_id"], &json!("active")));
    let list = world.told(BOB, new, "/tasks@figaro_bot").await;
    let (_, data) = buttons(&list).remove(0);
    world.press_data(BOB, &list, &data).await;
    let card = world.shows(new, list["message_id"].as_i64().unwrap(), "⏰ Call for tea.").await;
    world.when("<scheduled_task", ModelReply::text("Tea is ready."));
    assert_eq!(world.press(BOB, &card, "Run now").await, "⏳ Running now");
    says(&world, new, "Tea is ready.").await;
    // Limits and what is the same go by the new chat.
    let same = call(&world, (BOB, new), "tea again", "schedule_task", recurring("Call for tea.", LEAP)).await;
    assert_eq!((&same["already_there"], &same["task_id"]), (&json!(true), &made["task_id"]), "{same}");
    let title = |card: &Value| text(card).lines().find(|line| line.starts_with('⏰')).map(str::to_owned);
    assert_eq!(title(&old), title(&card));
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn who_may_no_longer_talk_to_the_bot_has_no_more_of_it_by_tasks_or_cards() {
    let world = World::new().await;
    let bot = world.bot().spawn();
    bot.ready().await;
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    call(&world, (BOB, BOB), "tea", "schedule_task", recurring("Call for tea.", LEAP)).await;
    let card = says(&world, BOB, "⏰ Call for tea.").await;
    call(&world, (BOB, BOB), "soon", "schedule_task", once("Never.", "in 6s")).await;
    let before = world.asked().len();
    world.told(ANN, ANN, &format!("/deny {BOB}")).await;
    for (label, data) in buttons(&card) {
        let toast = world.forged(BOB, &card, &data).await;
        assert!(!["⏳ Running now", "Paused", "Cancelled"].contains(&toast.as_str()), "{label}: {toast}");
    }
    bot.logged("may not talk to the bot any more is paused").await;
    world.caught_up().await;
    assert_eq!((runs(&world), world.asked().len()), (0, before));
}
#[tokio::test]
async fn taking_a_cancel_back_makes_no_more_tasks_than_there_may_be() {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let _bot = start(&world, &[("TASKS_PER_CHAT", "1")]).await;
    call(&world, (BOB, BOB), "first", "schedule_task", recurring("one", LEAP)).await;
    let card = says(&world, BOB, "⏰ one").await;
    assert_eq!(world.press(BOB, &card, "Cancel").await, "Cancelled");
    let cancelled = world.becomes(&card, "Cancelled", "Undo").await;
    let told = call(&world, (BOB, BOB), "second", "schedule_task", recurring("two", LEAP)).await;
    assert_eq!(told["success"], true, "{told}");
    let toast = world.press(BOB, &cancelled, "Undo").await;
    let now = listed(&world, (BOB, BOB), "what is there?").await;
    assert_eq!(now.len(), 1, "{toast}: {now:?}");
}
