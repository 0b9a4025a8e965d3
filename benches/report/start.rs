//! How fast a bot starts on an empty store.

use std::time::Duration;

use super::Scale;
use super::bot::Bots;
use super::page::{Page, figure, ms};
use super::support::bare_model::Pace;
use super::world::World;

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let (kinds, rounds) = (bots.all(), scale.of(20, 2));
    page.section(
        "Start",
        &format!(
            "From the start of the process on an empty store to its first `getUpdates`, {rounds} times each."
        ),
    );
    page.table(&["bot", "min ms", "median ms", "max ms"]);
    let mut starts: Vec<Vec<Duration>> = kinds.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (bot, starts) in kinds.iter().zip(&mut starts) {
            starts.push(World::start(bot, 1, Pace::NONE).await.start);
        }
    }
    let mut medians = Vec::new();
    for (bot, starts) in kinds.iter().zip(&mut starts) {
        starts.sort();
        let median = ms(starts[starts.len() / 2]);
        let (min, max) = (ms(starts[0]), ms(starts[starts.len() - 1]));
        page.row(&bot.name(), &[min, median, max].map(|time| figure(time, 0)));
        medians.push(median);
    }
    bots.note_missing(page, 3);
    page.at_most("start, median", medians[Bots::aimed(&kinds)], 300.0, "ms");
}
