//! Many turns of many chats: what the bot holds as they add up, how many it does in a second, and their CPU time.

use std::time::{Duration, Instant};

use super::Scale;
use super::bot::{Bot, Bots};
use super::page::{Page, figure};
use super::support::bare_model::Pace;
use super::world::World;

/// So many questions wait for their answers all the time.
const AT_ONCE: usize = 32;
/// How long the bot rests before its memory is read.
const SETTLE: Duration = Duration::from_secs(1);

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let (chats, points) =
        scale.of((1_000, [100, 1_000, 2_000, 5_000, 10_000].as_slice()), (40, [40, 80, 160].as_slice()));
    page.section(
        "Many turns",
        &format!(
            "A model without latency. {chats} chats ask in their turn, {AT_ONCE} at once. Memory after so many turns, \
             {} s after the last one: of figaro alone, and with figaro-mcp. Turns a second and CPU seconds of 1,000 turns \
             are of the turns since the row before.",
            SETTLE.as_secs()
        ),
    );
    page.table(&[
        "bot",
        "turns",
        "PSS MB",
        "RSS MB",
        "PSS together MB",
        "RSS together MB",
        "turns/s",
        "CPU s for 1,000 turns",
    ]);
    let mut last = Vec::new();
    for bot in bots.figaros() {
        last.push(grow(bot, chats, points, page).await);
    }
    let (turns, aimed) = (points[points.len() - 1], Bots::aimed(&bots.figaros()));
    page.at_most(&format!("memory after {turns} turns, PSS of both processes"), last[aimed], 60.0, "MB");
}

/// Gives the last PSS of both processes, which share the pages of one executable.
async fn grow(bot: &Bot, chats: i64, points: &[u32], page: &mut Page) -> f64 {
    let mut world = World::start(bot, chats, Pace::NONE).await;
    let (mut done, mut pss) = (0, 0.0);
    let mut all = world.chats(points[points.len() - 1]);
    for point in points {
        let (turns, began, before) = (point - done, Instant::now(), world.cpu());
        for chat in all.by_ref().take(turns as usize) {
            while world.waiting() >= AT_ONCE {
                world.answer().await;
            }
            world.ask(chat);
        }
        while world.waiting() > 0 {
            world.answer().await;
        }
        let (took, cpu) = (began.elapsed(), world.cpu() - before);
        tokio::time::sleep(SETTLE).await;
        let memory = world.memory();
        let together = memory.iter().fold((0.0, 0.0), |(pss, rss), sizes| (pss + sizes.pss, rss + sizes.rss));
        let mb = |value| figure(value, 1);
        page.row(
            &bot.name(),
            &[
                point.to_string(),
                mb(memory[0].pss),
                mb(memory[0].rss),
                mb(together.0),
                mb(together.1),
                figure(f64::from(turns) / took.as_secs_f64(), 0),
                figure(cpu.as_secs_f64() / f64::from(turns) * 1000.0, 2),
            ],
        );
        (done, pss) = (*point, together.0);
    }
    pss
}
