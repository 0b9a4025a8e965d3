//! What a turn takes in chats that have little behind them, and in those with a long conversation.

use super::Scale;
use super::bot::{Bot, Bots};
use super::page::{Page, Percentiles, figure, ms};
use super::support::bare_model::Pace;
use super::support::{median, percentile};
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
    one_chat(bots, scale, page).await;
}

/// The chat that grows longest, with the work beside answers: facts, a name, summaries.
async fn one_chat(bots: &Bots, scale: Scale, page: &mut Page) {
    let (turns, rounds) = scale.of((300, 3), (20, 1));
    page.section(
        "One long chat",
        &format!(
            "A model without latency. One chat asks {turns} questions, one at a time; work beside answers has the default \
             settings. Medians of {rounds} rounds, in which the bots take turns."
        ),
    );
    page.table(&["bot", "p50 ms", "p95 ms", "p99 ms", "CPU ms a turn"]);
    let all = bots.without_engines();
    let mut figures: Vec<Vec<[f64; 4]>> = all.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (bot, rounds) in all.iter().zip(&mut figures) {
            rounds.push(one_round(bot, turns).await);
        }
    }
    let medians: Vec<[f64; 4]> = figures
        .iter()
        .map(|rounds| [0, 1, 2, 3].map(|at| median(rounds.iter().map(|round| round[at]).collect())))
        .collect();
    for (bot, [p50, p95, p99, cpu]) in all.iter().zip(&medians) {
        page.row(&bot.name(), &[figure(*p50, 1), figure(*p95, 1), figure(*p99, 1), figure(*cpu, 2)]);
    }
    bots.note_missing(page, 4);
    let ratio =
        |at: usize| bots.of_grammy(&medians).map(|grammy| medians[Bots::aimed(&all)][at] / grammy[at]);
    page.ratio("p50 in one long chat", ratio(0), "at most 1.2 times grammY's", |ratio| ratio <= 1.2);
    page.ratio("CPU time of a turn in one long chat", ratio(3), "at most 1 times grammY's", |ratio| {
        ratio <= 1.0
    });
}

/// The 50th, 95th and 99th percentile of the times and the CPU time of a turn, in milliseconds.
async fn one_round(bot: &Bot, turns: u32) -> [f64; 4] {
    let mut world = World::start(bot, 1, Pace::NONE).await;
    world.warm(1).await;
    let (mut times, before) = (Vec::new(), world.cpu());
    for chat in world.chats(turns) {
        world.ask(chat);
        times.push(world.answer().await);
    }
    let cpu = ms((world.cpu() - before) / turns);
    times.sort();
    let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| ms(percentile(&times, share)));
    [p50, p95, p99, cpu]
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
