//! A clock of the machine that was wrong. While the bot runs nothing here may set one; see the rows of the scheduler's own
//! tests.

use chrono::TimeDelta;
use figaro_domain::task::Task;

use super::Left;
use crate::support::{BOB, World};
use crate::task_runs::{daily, keep, now};

/// A daily task is due in three days, as a clock of then left it.
pub async fn a_wrong_clock_has_put_a_task_off() -> Left {
    let world = World::new().await;
    let task = daily(BOB, BOB, "Drink water.", TimeDelta::hours(2));
    let due = task.next.unwrap();
    let late = Task { next: Some(due + TimeDelta::days(3)), ..task };
    keep(&world, &[&late]).await;
    let bot = world.start_open().await;
    bot.logged("the clock of the machine was set").await;
    world.caught_up().await;
    let left = Left::stopped(&world, BOB, bot).await;
    let next = world.stored().await.tasks().find(late.id).unwrap().unwrap().next;
    assert_eq!(next, Some(due), "it is {}", now());
    left
}
