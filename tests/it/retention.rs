//! What is over is forgotten once it was kept as long as the owner wants, and nothing else is.

use chrono::TimeDelta;
use figaro_domain::task::{Task, TaskState};
use figaro_offline::model::ModelReply;
use serde_json::json;

use crate::support::output::refused;
use crate::support::{BOB, World};
use crate::task_runs::{keep, now, once, said, soon};

/// Lets a task have ended so many days ago, in the store of a bot that has stopped.
fn end(world: &World, task: &Task, days: i64) {
    let state = json!(TaskState::Done(now() - TimeDelta::days(days)));
    let change = |value: &mut serde_json::Value| {
        if value["id"] == json!(task.id) {
            value["state"] = state.clone();
        }
    };
    assert!(world.records().change("tasks", change) > 0);
}

#[tokio::test]
async fn ended_tasks_are_forgotten_by_age_and_messages_never() {
    let world = World::new().await;
    let ran = once(BOB, BOB, "Remind of tea.", soon());
    // As older versions left them: one that has ended still stands among those to be looked after.
    let listed = once(BOB, BOB, "Remind of lunch.", -TimeDelta::days(9));
    let waiting = once(BOB, BOB, "Remind of cake.", TimeDelta::days(30));
    keep(&world, &[&ran, &listed, &waiting]).await;
    end(&world, &listed, 6);
    world.when("Remind of tea.", ModelReply::text("Tea!"));
    let bot = world.start_open().await;
    said(&world, BOB, "Tea!").await;
    world.caught_up().await;
    bot.ends_well().await;
    let due = world.records().all("tasks_by_wake");
    assert_eq!(due.len(), 1, "only one is to be looked after: {due:?}");
    assert_eq!(world.records().all("task_runs").len(), 1);
    let messages = world.records().all("messages");
    assert!(!messages.is_empty());
    end(&world, &ran, 8);

    let bot = world.bot().set("ACCESS", "open").set("KEEP_DAYS", "9").spawn();
    bot.ready().await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(world.stored().await.tasks().of_chat(ran.place.chat).unwrap().len(), 3);

    let bot = world.bot().set("ACCESS", "open").set("RUST_LOG", "info,figaro_agent::retention=debug").spawn();
    bot.logged("ended tasks forgotten").await;
    bot.ends_well().await;
    let left = world.stored().await.tasks().of_chat(ran.place.chat).unwrap();
    assert!(left.len() == 2 && left.iter().all(|task| task.id != ran.id), "{left:?}");
    let records = world.records();
    assert_eq!(records.all("task_runs"), []);
    let kept = records.all("messages");
    assert!(messages.iter().all(|message| kept.contains(message)), "{kept:?}");
}

#[tokio::test]
async fn a_time_out_of_range_is_told_with_its_bounds() {
    let world = World::new().await;
    for days in ["0", "366", "a week", "-1"] {
        let message = refused(&world, &world.bot().set("KEEP_DAYS", days)).await;
        assert!(message.contains("KEEP_DAYS") && message.contains("1 to 365"), "{message}");
    }
}
