//! The card of a task stays true whatever happens: to Telegram, to the bot, to its group.

use std::time::Duration;

use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::{Value, json};

use super::task_tools::{LEAP, cards, now, once, recurring, scene, start};
use crate::support::calls::{call, says};
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, Bot, TIMEOUT, World};

const GROUP: i64 = -500;
/// Within this time what is tried again after half a minute is done, on a busy machine too.
const WITHIN: Duration = Duration::from_secs(120);

/// Ann has a task; gives its number and its card.
async fn made(world: &World, title: &str) -> (Value, Value) {
    world.told(ANN, ANN, "/timezone Riga").await;
    let told = call(world, (ANN, ANN), "a task", "schedule_task", recurring(title, LEAP)).await;
    (told["task_id"].clone(), says(world, ANN, &format!("⏰ {title}")).await)
}

/// How often the bot wanted to change this message.
fn edits(view: &TelegramView<'_>, card: &Value) -> usize {
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
    let (_, card) = made(&world, "Sing.").await;
    // What was to be drawn before is drawn then.
    assert_eq!(world.press(ANN, &card, "Pause").await, "Paused");
    world.becomes(&card, "Paused", "Resume").await;
    world.caught_up().await;
    let failed = PlannedFailure::Status { status: 502, description: "Bad Gateway".to_owned() };
    world.telegram.fail("editMessageText", failed, 1);
    // Nothing changes after this.
    assert_eq!(world.press(ANN, &card, "Resume").await, "It runs again.");
    let drawn = |view: &TelegramView<'_>| {
        let now = view.messages(ANN).into_iter().find(|m| m["message_id"] == card["message_id"])?;
        labels(now).contains(&"Pause".to_owned()).then_some(())
    };
    world.telegram.wait_until(WITHIN, drawn).await.expect("the second try");
    assert_eq!(world.refused().len(), 1, "{:?}", world.refused());
    bot.ends_well().await;
}

/// What Telegram will never take is not tried for ever.
#[tokio::test]
async fn a_card_that_cannot_be_changed_any_more_is_left_alone() {
    let (world, bot) = scene().await;
    let (task, card) = made(&world, "Sing.").await;
    let description = "Bad Request: message can't be edited".to_owned();
    world.telegram.fail("editMessageText", PlannedFailure::Status { status: 400, description }, 1);
    let before = world.telegram.view(|view| edits(view, &card));
    pause(&world, &task).await;
    world.see("the only try", |view| (edits(view, &card) > before).then_some(())).await;
    world.caught_up().await;
    bot.ends_well().await;
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
    world.telegram.fail("editMessageText", PlannedFailure::Hang, 1);
    let before = world.telegram.view(|view| edits(view, &card));
    pause(&world, &task).await;
    world.see("the card on its way", |view| (edits(view, &card) > before).then_some(())).await;
    bot.kill();
    assert!(labels(&cards(&world, ANN, "Sing.")[0]).contains(&"Pause".to_owned()));
    let _bot = start(&world, &[]).await;
    world.becomes(&card, "Paused", "Resume").await;
}

#[tokio::test]
async fn a_reminder_that_a_kill_meets_while_it_runs_ends_with_one_true_card() {
    let (world, bot) = scene().await;
    world.told(ANN, ANN, "/timezone Riga").await;
    let gate = Gate::new();
    world.when("Water.", ModelReply::text("Never seen.").behind(&gate));
    let soon = (now() + chrono::TimeDelta::seconds(2)).to_rfc3339();
    call(&world, (ANN, ANN), "a reminder", "schedule_task", once("Water.", &soon)).await;
    let card = says(&world, ANN, "⏰ Water.").await;
    world.shows(ANN, number(&card["message_id"]), "Running now").await;
    let run =
        |requests: &[ModelRequest]| requests.iter().find(|r| r.user_text().contains("Water.")).map(drop);
    world.model.wait_until(TIMEOUT, run).await.expect("the run asks the model");
    bot.kill();
    world.when("Water.", ModelReply::text("Drink water!"));
    let _bot = start(&world, &[]).await;
    says(&world, ANN, "Drink water!").await;
    let done = world.shows(ANN, number(&card["message_id"]), "Done today ").await;
    assert!(!labels(&done).iter().any(|label| label == "Pause" || label == "Cancel"), "{done}");
    let fired = world.bot_texts(ANN).into_iter().filter(|text| text.contains("Drink water!")).count();
    assert_eq!(fired, 1);
}

/// A group becomes a supergroup: what was its card stays behind, and its tasks are shown in the new one.
#[tokio::test]
async fn the_tasks_of_a_group_that_moves_have_cards_in_the_new_one() {
    let (world, bot, card) = group_with_task(LEAP).await;
    let new = world.telegram.migrate(GROUP).unwrap();
    world.caught_up().await;
    let list = world.told(BOB, new, "/tasks@figaro_bot").await;
    let open = labels(&list).remove(0);
    assert!(open.ends_with("Sing."), "{list}");
    world.press(BOB, &list, &open).await;
    let now = world.shows(new, number(&list["message_id"]), "⏰ Sing.").await;
    assert_eq!(world.press(BOB, &now, "Pause").await, "Paused");
    let now = world.becomes(&now, "Paused", "Resume").await;
    world.press(BOB, &now, "Resume").await;
    world.becomes(&now, "Next: ", "Pause").await;
    assert_eq!(left_behind(&world, &card), text(&card));
    assert!(world.refused().is_empty(), "{:?}", world.refused());
    bot.ends_well().await;
}

/// Nobody has told the bot of it: the first change of a card finds it out, and the task goes on in the new group.
#[tokio::test]
async fn a_card_that_cannot_follow_its_group_tells_where_that_has_gone() {
    let soon = (now() + chrono::TimeDelta::seconds(3)).to_rfc3339();
    let (world, bot, card) = group_with_task(&soon).await;
    world.when("Sing.", ModelReply::text("La la la."));
    let new = world.telegram.require_migration(GROUP).unwrap();
    says(&world, new, "La la la.").await;
    let list = world.told(BOB, new, "/tasks@figaro_bot").await;
    assert!(labels(&list)[0].ends_with("Sing."), "{list}");
    assert_eq!(left_behind(&world, &card), text(&card));
    bot.ends_well().await;
}

/// A basic group in which Bob has a task; gives its card.
async fn group_with_task(schedule: &str) -> (World, Bot, Value) {
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Lunch");
    world.join(GROUP);
    let bot = start(&world, &[]).await;
    world.told(ANN, GROUP, "/timezone@figaro_bot Riga").await;
    let task = if schedule == LEAP { recurring("Sing.", LEAP) } else { once("Sing.", schedule) };
    call(&world, (BOB, GROUP), "a task", "schedule_task", task).await;
    let card = says(&world, GROUP, "⏰ Sing.").await;
    (world, bot, card)
}

/// What the card in the old group shows.
fn left_behind(world: &World, card: &Value) -> String {
    let all = world.telegram.messages(GROUP);
    let old = all.into_iter().find(|message| message["message_id"] == card["message_id"]);
    old.map_or_else(|| text(card).to_owned(), |old| text(&old).to_owned())
}
