//! What a turn takes in chats that have little behind them, and in those with a long conversation.

use super::Scale;
use super::bot::{Bot, Bots};
use super::page::{Page, Percentiles, figure, ms};
use super::support::bare_model::Pace;
use super::world::World;

const CHATS: i64 = 20;

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let (turns, behind) = scale.of((300, 200), (20, 10));
    page.section(
        "Long conversations",
        &format!(
            "A model without latency. {turns} questions of {CHATS} chats, one at a time: first where each chat has 1 turn \
             behind it, then where it has {behind}."
        ),
    );
    page.table(&["bot", "turns behind", "p50 ms", "p95 ms", "p99 ms", "CPU ms a turn"]);
    for bot in bots.all() {
        measured(bot, (turns, behind), page).await;
    }
    bots.note_missing(page, 5);
}

async fn measured(bot: &Bot, (turns, behind): (u32, u32), page: &mut Page) {
    let mut world = World::start(bot, CHATS, Pace::NONE).await;
    world.warm(CHATS).await;
    row(bot, &mut world, 1, turns, page).await;
    let all = behind * u32::try_from(CHATS).unwrap();
    for chat in world.chats(all) {
        if world.waiting() >= 10 {
            world.answer().await;
        }
        world.ask(chat);
    }
    while world.waiting() > 0 {
        world.answer().await;
    }
    row(bot, &mut world, behind, turns, page).await;
}

async fn row(bot: &Bot, world: &mut World, behind: u32, turns: u32, page: &mut Page) {
    let (mut times, before) = (Vec::new(), world.cpu());
    for chat in world.chats(turns) {
        world.ask(chat);
        times.push(world.answer().await);
    }
    let cpu = ms((world.cpu() - before) / turns);
    let mut figures = vec![behind.to_string()];
    figures.extend(Percentiles::of(times).figures());
    figures.push(figure(cpu, 2));
    page.row(&bot.name(), &figures);
}
