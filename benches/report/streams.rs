//! Five hundred people who ask at the same moment, and a model that writes its answer over a second.

use std::collections::HashMap;
use std::time::Duration;

use super::Scale;
use super::bot::{Bot, Bots};
use super::page::{Page, Percentiles, figure};
use super::support::OWNER;
use super::support::bare_model::Pace;
use super::world::{Waited, World};

const PACE: Pace = Pace { pieces: 20, pause: Duration::from_millis(50) };

/// What was measured of a bot over all rounds.
struct Result {
    first_words: Vec<Duration>,
    answers: Vec<Duration>,
    /// Of one round.
    cpu: Duration,
}

pub(crate) async fn measure(bots: &Bots, scale: Scale, page: &mut Page) {
    let (chats, rounds) = scale.of((500, 3), (20, 1));
    page.section(
        "Streams",
        &format!(
            "{chats} chats ask at the same moment, and the model writes each answer over {} s: its first words come after \
             {} ms. From the update to the first words in the chat, in a draft or in the message, and to the whole answer. \
             CPU seconds are those of {chats} turns. The times of {rounds} rounds are put together.",
            (PACE.pause * PACE.pieces).as_secs(),
            PACE.pause.as_millis()
        ),
    );
    page.table(&[
        "bot",
        "first words p50 ms",
        "p95 ms",
        "p99 ms",
        "answer p50 ms",
        "p95 ms",
        "p99 ms",
        "CPU s",
    ]);
    for bot in bots.without_engines() {
        let Result { first_words, answers, cpu } = at_once(bot, chats, rounds).await;
        let mut figures = Percentiles::of(first_words).figures();
        figures.extend(Percentiles::of(answers).figures());
        figures.push(figure(cpu.as_secs_f64(), 2));
        page.row(&bot.name(), &figures);
    }
    bots.note_missing(page, 7);
}

async fn at_once(bot: &Bot, chats: i64, rounds: u32) -> Result {
    let mut world = World::start(bot, chats, PACE).await;
    let (mut first_words, mut answers, before) = (Vec::new(), Vec::new(), world.cpu());
    for _ in 0..rounds {
        for chat in OWNER..OWNER + chats {
            world.ask(chat);
            // What was asked is told to the watcher too, who would lag behind so many at once.
            tokio::task::yield_now().await;
        }
        let mut first: HashMap<i64, Duration> = HashMap::new();
        while world.waiting() > 0 {
            let (chat, time) = match world.waited().await {
                Waited::Draft { chat, time } => (chat, time),
                Waited::Answer { chat, time } => {
                    answers.push(time);
                    (chat, time)
                }
            };
            first.entry(chat).or_insert(time);
        }
        first_words.extend(first.into_values());
    }
    Result { first_words, answers, cpu: (world.cpu() - before) / rounds }
}
