//! `kill -9` while records change, are removed and come back: what reminds of a record is neither doubled nor lost.

use std::time::Duration;

use figaro_domain::record::FieldValue;

use super::*;

/// Holds what is stored to this: as many tasks run as the medicine has times, each says its dose, and the record knows them; none
/// where the medicine is gone. Gives whether it is there.
async fn is_whole(world: &World, round: u64) -> bool {
    let kept = stored(world, ANN).await;
    let tasks = world.stored().await.tasks().of_chat(ChatId(ANN)).unwrap();
    let live: Vec<_> = tasks.iter().filter(|task| task.is_live()).collect();
    let Some(medicine) = kept.iter().find(|record| record.kind == "medication") else {
        assert_eq!(live.len(), 0, "{round}: {live:#?}");
        return false;
    };
    let (Some(FieldValue::Schedule(times)), Some(FieldValue::Text(dose))) =
        (medicine.value("times"), medicine.value("dose"))
    else {
        panic!("{medicine:#?}");
    };
    assert_eq!(live.len(), times.crons().len(), "{round}: {live:#?}");
    let says = format!("takes Metformin {dose} now");
    for task in live {
        assert!(task.prompt.contains(&says), "{round}: {says}: {task:#?}");
        assert!(medicine.reminders.contains(&task.id), "{round}: {medicine:#?}");
    }
    true
}

#[tokio::test]
async fn killed_at_any_moment_reminders_are_neither_doubled_nor_lost() {
    let (world, bot) = caring().await;
    world.otherwise(ModelReply::text("Well."));
    mary(&world).await;
    let answer = says(&world, ANN, "Dealt with: She takes metformin twice a day").await;
    // The press comes once more where it was not finished.
    drop(tokio::time::timeout(Duration::from_millis(3), world.press(ANN, &answer, "⏰ Remind")).await);
    bot.kill();
    let bot = world.start_open().await;
    let tasks = call(&world, HERE, "what is scheduled?", "list_tasks", json!({})).await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "{tasks}");
    let listed = call(&world, HERE, "what is kept?", "list_records", json!({"kind": "medication"})).await;
    let id = listed["records"][0]["record_id"].clone();
    bot.kill();
    assert!(is_whole(&world, 0).await);
    let asks = |words: String, name: &str, arguments: Value| {
        let part = ReplyPart::Call { name: name.to_owned(), arguments };
        world.when(&words, ModelReply::turn(vec![part]));
        world.say(ANN, ANN, &words);
    };
    for round in 1..=6_u64 {
        let bot = world.start_open().await;
        let times = if round % 2 == 1 { "8:00, 20:30, 21:45" } else { "8:00" };
        let fields = json!({"patient": "Mary Smith", "name": "Metformin", "dose": format!("{round} g"), "times": times});
        let arguments = json!({"kind": "medication", "fields": fields});
        asks(format!("Round number {round} of it"), "save_record", arguments);
        // The later the kill, the more was done before it.
        tokio::time::sleep(Duration::from_millis(round * 17 % 90)).await;
        bot.kill();
        assert!(is_whole(&world, round).await, "{round}");
    }
    // Last: a record that is stated anew after its removal has no reminders until somebody asks for them. A call that was under way
    // at a kill is not made again: it is asked for until it is done.
    for round in 7.. {
        let bot = world.start_open().await;
        let words = format!("It is not taken any more {round}");
        asks(words, "remove_record", json!({"record_id": id}));
        tokio::time::sleep(Duration::from_millis(20 * (round - 6) + round * 17 % 90)).await;
        bot.kill();
        if !is_whole(&world, round).await {
            break;
        }
    }
    let bot = world.start_open().await;
    // The cards of the reminders that were cancelled have an Undo of their own, which brings these back alone.
    let is_back = |view: &TelegramView<'_>| {
        let mut all = view.bot_messages(ANN).into_iter().rev();
        all.find_map(|one| {
            let undo = buttons(one).into_iter().find(|(_, data)| data.starts_with("back:"))?;
            Some((one.clone(), undo.1))
        })
    };
    let (answer, undo) = world.see("the answer of the removal", is_back).await;
    drop(tokio::time::timeout(Duration::from_millis(2), world.press_data(ANN, &answer, &undo)).await);
    bot.kill();
    is_whole(&world, 62).await;
    let bot = world.start_open().await;
    let back = |view: &TelegramView<'_>| {
        let all = view.bot_messages(ANN).into_iter();
        let mut labels = all.flat_map(labels);
        labels.any(|label| label.contains("Undone") || label.contains("Not all")).then_some(())
    };
    world.see("what became of it", back).await;
    world.caught_up().await;
    bot.ends_well().await;
    is_whole(&world, 63).await;
}
