//! How soon the messages of a private chat leave that are due at once, with Telegram's limits kept and enforced.

use std::time::Duration;

use super::Scale;
use super::bot::Bots;
use super::page::{Page, figure};
use super::world::World;

/// So many messages at once.
const MESSAGES: usize = 15;

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let rounds = scale.of(3, 1);
    page.section(
        "A burst in a private chat",
        &format!(
            "Figaro keeps to Telegram's pace, and the offline Telegram enforces its limits. {MESSAGES} messages of a private chat are \
             due at once: when the first, the middle and the last of them left, and how many calls were refused. Each row is a \
             start of its own."
        ),
    );
    page.table(&["bot", "first ms", "middle ms", "last ms", "refused"]);
    let (mut last, mut all_refused) = (0.0_f64, 0);
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    for bot in bots.figaros() {
        for _ in 0..rounds {
            let (after, refused) = World::start_limited(bot).await.burst(MESSAGES).await;
            let times = [0, MESSAGES / 2, MESSAGES - 1].map(|at| millis(after[at]));
            last = last.max(times[2]);
            all_refused += refused;
            let figures = times.iter().map(|time| figure(*time, 0)).chain([refused.to_string()]);
            page.row(&bot.name(), &figures.collect::<Vec<_>>());
        }
    }
    page.at_most("the last of 15 messages at once in a private chat", last, 1000.0, "ms");
    page.at_most(
        "calls that Telegram refused then",
        f64::from(u32::try_from(all_refused).unwrap()),
        0.0,
        "calls",
    );
}
