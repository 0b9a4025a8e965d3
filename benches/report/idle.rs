//! What a bot holds and does while nobody talks to it.

use std::time::Duration;

use super::Scale;
use super::bot::Bots;
use super::page::{Page, figure};
use super::support::bare_model::Pace;
use super::world::World;

/// How long the bot rests before it is looked at.
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let rest = Duration::from_secs(scale.of(60, 2));
    page.section(
        "Idle",
        &format!(
            "Memory of the processes after the first turn and {} s of rest: PSS shares out pages that several processes \
             hold, RSS counts them in each. CPU is the share of one core over {} s of rest, which Linux counts in \
             steps of 10 ms.",
            SETTLE.as_secs(),
            rest.as_secs()
        ),
    );
    page.table(&[
        "bot",
        "PSS MB",
        "RSS MB",
        "PSS of figaro-mcp MB",
        "PSS together MB",
        "RSS together MB",
        "CPU %",
    ]);
    let mut figures = Vec::new();
    for bot in bots.without_engines() {
        let world = World::start(bot, 1, Pace::NONE).await;
        tokio::time::sleep(SETTLE).await;
        let memory = world.memory();
        let before = world.cpu();
        tokio::time::sleep(rest).await;
        let cpu = (world.cpu() - before).as_secs_f64() / rest.as_secs_f64() * 100.0;
        let (pss, rss) =
            (memory.iter().map(|sizes| sizes.pss).sum(), memory.iter().map(|sizes| sizes.rss).sum());
        let child = memory.get(1).map_or_else(|| "–".to_owned(), |sizes| figure(sizes.pss, 1));
        let mb = |value| figure(value, 1);
        page.row(
            &bot.name(),
            &[mb(memory[0].pss), mb(memory[0].rss), child, mb(pss), mb(rss), figure(cpu, 2)],
        );
        figures.push((pss, cpu));
    }
    bots.note_missing(page, 6);
    let (pss, cpu) = figures[Bots::aimed(&bots.without_engines())];
    page.at_most("idle memory, PSS of both processes", pss, 30.0, "MB");
    page.at_most("idle CPU, share of a core", cpu, 0.2, "%");
}
