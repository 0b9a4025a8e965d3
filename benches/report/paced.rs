//! Answers while a hundred chats send messages at a steady pace, far below what the bot can do.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::Scale;
use super::bot::{Bot, Bots};
use super::page::{Page, Percentiles, figure};
use super::support::bare_model::Pace;
use super::world::{Waited, World};

const CHATS: i64 = 100;
/// Of all chats together.
const A_SECOND: u32 = 50;

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let seconds = scale.of(60, 4);
    page.section(
        "Steady load",
        &format!(
            "A model without latency. {CHATS} chats send {A_SECOND} messages a second together for {seconds} s, whether or \
             not the ones before are answered: the time from the update to the answer, and the share of one core."
        ),
    );
    page.table(&["bot", "p50 ms", "p95 ms", "p99 ms", "CPU %"]);
    let mut p99 = Vec::new();
    for bot in bots.without_engines() {
        let (times, cpu) = steady(bot, seconds).await;
        p99.push(times.p99);
        let mut figures = times.figures();
        figures.push(figure(cpu, 1));
        page.row(&bot.name(), &figures);
    }
    bots.note_missing(page, 4);
    page.at_most(
        &format!("p99 of {CHATS} chats at a steady pace"),
        p99[Bots::aimed(&bots.without_engines())],
        40.0,
        "ms",
    );
}

/// Percentiles of the times, and the CPU time in percent of a core.
async fn steady(bot: &Bot, seconds: u32) -> (Percentiles, f64) {
    let mut world = World::start(bot, CHATS, Pace::NONE).await;
    world.warm(CHATS).await;
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / A_SECOND);
    // A late question is not left out.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut times, before) = (Vec::new(), world.cpu());
    let mut chats = world.chats(A_SECOND * seconds);
    let mut more = true;
    while more || world.waiting() > 0 {
        tokio::select! {
            _ = ticks.tick(), if more => match chats.next() {
                Some(chat) => world.ask(chat),
                None => more = false,
            },
            waited = world.waited() => if let Waited::Answer { time, .. } = waited {
                times.push(time);
            },
        }
    }
    let cpu = (world.cpu() - before).as_secs_f64() / f64::from(seconds) * 100.0;
    (Percentiles::of(times), cpu)
}
