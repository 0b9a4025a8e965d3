//! The card of a task stays true whatever happens: to Telegram, to the bot, to its group.

use std::time::{Duration, Instant};

use figaro_offline::model::{Gate, Reply};
use figaro_offline::telegram::{Failure, View};
use serde_json::{Value, json};

use super::task_tools::{LEAP, becomes, call, cards, now, once, recurring, says, scene, start};
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, World};

const GROUP: i64 = -500;

/// Ann has a task; gives its number and its card.
async fn made(world: &World, title: &str) -> (Value, Value) {
    world.told(ANN, ANN, "/timezone Riga").await;
    let told = call(world, (ANN, ANN), "a task", "schedule_task", recurring(title, LEAP)).await;
    (told["task_id"].clone(), says(world, ANN, &format!("⏰ {title}")).await)
}

/// How often the bot wanted to change this message.
fn edits(view: &View<'_>, card: &Value) -> usize {
    let calls = view.calls_of("editMessageText");
    calls.into_iter().filter(|call| call.args["message_id"] == card["message_id"]).count()
}

async fn pause(world: &World, task: &Value) {
    let paused = json!({"task_id": task, "paused": true});
    call(world, (ANN, ANN), "hush", "update_task", paused).await;
}

/// Telegram does not take the new card: it is drawn once more half a minute later, with nobody doing anything.
#[tokio::test]
async fn a_card_that_could_not_be_drawn_is_drawn_again_after_half_a_minute() {
    let (world, bot) = scene().await;
    let (task, card) = made(&world, "Sing.").await;
    let failed = Failure::Status { status: 502, description: "Bad Gateway".to_owned() };
    world.telegram.fail("editMessageText", failed, 1);
    let before = world.telegram.view(|view| edits(view, &card));
    pause(&world, &task).await;
    world.see("the first try", |view| (edits(view, &card) > before).then_some(())).await;
    let tried = Instant::now();
    becomes(&world, &card, "Paused", "Resume").await;
    assert!(tried.elapsed() > Duration::from_secs(20), "not at once: {:?}", tried.elapsed());
    assert_eq!(world.telegram.view(|view| edits(view, &card)), before + 2);
    assert!(bot.stop().success());
}

/// What Telegram will never take is not tried for ever.
#[tokio::test]
async fn a_card_that_cannot_be_changed_any_more_is_left_alone() {
    let (world, bot) = scene().await;
    let (task, card) = made(&world, "Sing.").await;
    let description = "Bad Request: message can't be edited".to_owned();
    world.telegram.fail("editMessageText", Failure::Status { status: 400, description }, 1);
    let before = world.telegram.view(|view| edits(view, &card));
    pause(&world, &task).await;
    world.see("the only try", |view| (edits(view, &card) > before).then_some(())).await;
    world.caught_up().await;
    assert!(bot.stop().success());
    let _bot = start(&world, &[]).await;
    call(&world, (ANN, ANN), "go on", "update_task", json!({"task_id": task, "paused": false})).await;
    world.caught_up().await;
    assert_eq!(world.telegram.view(|view| edits(view, &card)), before + 1);
    let list = world.told(ANN, ANN, "/tasks").await;
    assert!(labels(&list)[0].starts_with("⏰ "), "the list shows it all the same: {list}");
}

#[tokio::test]
async fn a_card_whose_drawing_a_kill_cut_short_is_drawn_at_the_next_start() {
    let (world, bot) = scene().await;
    let (task, card) = made(&world, "Sing.").await;
    world.telegram.fail("editMessageText", Failure::Hang, 1);
    let before = world.telegram.view(|view| edits(view, &card));
    pause(&world, &task).await;
    world.see("the card on its way", |view| (edits(view, &card) > before).then_some(())).await;
    bot.kill();
    assert!(labels(&cards(&world, ANN, "Sing.")[0]).contains(&"Pause".to_owned()));
    let _bot = start(&world, &[]).await;
    becomes(&world, &card, "Paused", "Resume").await;
    assert_eq!(cards(&world, ANN, "Sing.").len(), 1, "one message is the task's");
}

#[tokio::test]
async fn a_reminder_that_a_kill_meets_while_it_runs_ends_with_one_true_card() {
    let (world, bot) = scene().await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let gate = Gate::new();
    world.when("Water.", Reply::text("Never seen.").behind(&gate));
    let soon = (now() + chrono::TimeDelta::seconds(2)).to_rfc3339();
    call(&world, (ANN, ANN), "a reminder", "schedule_task", once("Water.", &soon)).await;
    let card = says(&world, ANN, "⏰ Water.").await;
    world.shows(ANN, number(&card["message_id"]), "Running now").await;
    bot.kill();
    world.when("Water.", Reply::text("Drink water!"));
    let _bot = start(&world, &[]).await;
    says(&world, ANN, "Drink water!").await;
    let done = world.shows(ANN, number(&card["message_id"]), "Done today ").await;
    assert!(!labels(&done).iter().any(|label| label == "Pause" || label == "Cancel"), "{done}");
    let fired = world.bot_texts(ANN).into_iter().filter(|text| text.contains("Drink water!")).count();
    assert_eq!(fired, 1);
}

/// A group becomes a supergroup: what was its card stays behind, and its tasks are shown and run in the new one.
#[tokio::test]
async fn the_tasks_of_a_group_that_moves_have_cards_in_the_new_one() {
    for is_told in [true, false] {
        let world = World::new().await;
        world.telegram.add_group(GROUP, "Lunch");
        world.join(GROUP);
        let bot = start(&world, &[]).await;
        world.told(ANN, GROUP, "/timezone@figaro_bot Riga").await;
        let told = call(&world, (BOB, GROUP), "a task", "schedule_task", recurring("Sing.", LEAP)).await;
        let card = says(&world, GROUP, "⏰ Sing.").await;
        let moved =
            if is_told { world.telegram.migrate(GROUP) } else { world.telegram.require_migration(GROUP) };
        let new = moved.unwrap();
        if is_told {
            world.caught_up().await;
        }
        // Whoever owns it changes it from elsewhere: its card cannot be changed, and nothing else is.
        let paused = json!({"task_id": told["task_id"], "paused": true});
        if is_told {
            call(&world, (BOB, new), "hush", "update_task", paused).await;
        } else {
            world.told(BOB, new, "/timezone@figaro_bot Riga").await;
        }
        world.caught_up().await;
        let list = world.told(BOB, new, "/tasks@figaro_bot").await;
        let open = labels(&list).remove(0);
        assert!(open.ends_with("Sing."), "{is_told}: {list}");
        world.press(BOB, &list, &open).await;
        let now = world.shows(new, number(&list["message_id"]), "⏰ Sing.").await;
        world.press(BOB, &now, if is_told { "Resume" } else { "Pause" }).await;
        let label = if is_told { "Pause" } else { "Resume" };
        let now = becomes(&world, &now, "Sing.", label).await;
        assert_ne!(now["message_id"], Value::Null);
        let is_old = |message: &Value| message["message_id"] == card["message_id"];
        let old = world.telegram.messages(GROUP).into_iter().find(is_old);
        assert!(old.is_none_or(|old| text(&old) == text(&card)), "{is_told}");
        assert!(bot.stop().success());
    }
}
