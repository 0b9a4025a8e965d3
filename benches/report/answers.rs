//! From a private message to the answer, one at a time and in bursts. The bots take turns, and each figure is the median of
//! their rounds.

use std::time::{Duration, Instant};

use super::Scale;
use super::bot::{Bot, Bots};
use super::page::{Page, Percentiles, figure, ms};
use super::support::bare_model::Pace;
use super::support::median;
use super::world::World;

const CHATS: i64 = 20;

/// What a round of a bot gave.
#[derive(Clone, Copy)]
struct Round {
    one_by_one: Percentiles,
    /// CPU time of a turn, in ms.
    cpu: f64,
    burst_cpu: f64,
    per_second: f64,
}

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let (turns, burst, rounds) = scale.of((300, 200, 3), (20, 20, 1));
    page.section(
        "Answers",
        &format!(
            "A model without latency. First {turns} questions of {CHATS} chats, one at a time: the time from the update to \
             the answer, and the CPU time of a turn. Then {burst} questions of {CHATS} chats at once: the CPU time of a turn \
             and the answers in a second. Medians of {rounds} rounds."
        ),
    );
    page.table(&[
        "bot",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "CPU ms a turn",
        "CPU ms a turn in a burst",
        "answers/s in a burst",
    ]);
    let kinds = bots.all();
    let mut all: Vec<Vec<Round>> = kinds.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (bot, rounds) in kinds.iter().zip(&mut all) {
            rounds.push(round(bot, turns, burst).await);
        }
    }
    let results: Vec<Round> = all.iter().map(|rounds| middle(rounds)).collect();
    for (bot, result) in kinds.iter().zip(&results) {
        let mut figures = result.one_by_one.figures();
        figures.extend([figure(result.cpu, 2), figure(result.burst_cpu, 2), figure(result.per_second, 0)]);
        page.row(&bot.name(), &figures);
    }
    bots.note_missing(page, 6);
    let ratio = |of: fn(&Round) -> f64| {
        bots.of_grammy(&results).map(|grammy| of(&results[Bots::aimed(&kinds)]) / of(&grammy))
    };
    let at_most = "at most 1 times grammY's";
    page.ratio("p50 from update to answer", ratio(|round| round.one_by_one.p50), at_most, |ratio| {
        ratio <= 1.0
    });
    page.ratio("CPU time of a turn", ratio(|round| round.cpu), at_most, |ratio| ratio <= 1.0);
    page.ratio(
        "answers a second in a burst",
        ratio(|round| round.per_second),
        "at least 1.5 times grammY's",
        |ratio| ratio >= 1.5,
    );
}

async fn round(bot: &Bot, turns: u32, burst: u32) -> Round {
    let mut world = World::start(bot, CHATS, Pace::NONE).await;
    world.warm(CHATS).await;
    let (mut times, before) = (Vec::new(), world.cpu());
    for chat in world.chats(turns) {
        world.ask(chat);
        times.push(world.answer().await);
    }
    let cpu = (world.cpu() - before) / turns;
    let (began, before) = (Instant::now(), world.cpu());
    for chat in world.chats(burst) {
        world.ask(chat);
    }
    while world.waiting() > 0 {
        world.answer().await;
    }
    let took: Duration = began.elapsed();
    Round {
        one_by_one: Percentiles::of(times),
        cpu: ms(cpu),
        burst_cpu: ms((world.cpu() - before) / burst),
        per_second: f64::from(burst) / took.as_secs_f64(),
    }
}

/// The median of each figure.
fn middle(rounds: &[Round]) -> Round {
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    Round {
        one_by_one: Percentiles {
            p50: of(|round| round.one_by_one.p50),
            p95: of(|round| round.one_by_one.p95),
            p99: of(|round| round.one_by_one.p99),
        },
        cpu: of(|round| round.cpu),
        burst_cpu: of(|round| round.burst_cpu),
        per_second: of(|round| round.per_second),
    }
}
