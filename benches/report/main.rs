//! The figures of Figaro in one run: `cargo bench --bench report` prints them and writes `docs/benchmarks.md`.
//!
//! The real release binaries run against the offline Telegram and a model on loopback, with Telegram's pace lifted but in the
//! section `burst`. Names of sections after `--` choose what is measured (`-- start idle`); `FIGURES=quick` makes every count
//! small, to try the benchmark. With either, or in a debug build, nothing is written.
//!
//! Where `tests/foreign/run` has installed it, the smallest bot made with grammY (`tests/foreign/bot.mjs`) is measured beside
//! Figaro. `BENCH_FIGARO` names another build of Figaro to be measured too, such as `target/dist/figaro`, which `.ci/dist` makes: the
//! targets are those of that build then.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking"
)]

mod answers;
mod bot;
mod burst;
mod idle;
mod long;
mod machine;
mod paced;
mod page;
#[path = "../../tests/support/postgres.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is of the tests, which take more of it")]
mod postgres;
mod start;
mod store;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod turns;
mod world;

use std::path::Path;

use bot::Bots;
use page::Page;

const SECTIONS: [&str; 9] =
    ["start", "idle", "answers", "long", "paced", "burst", "streams", "turns", "store"];

/// How much is measured.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Full,
    /// Little: the figures mean nothing.
    Quick,
}

impl Scale {
    fn of<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

#[tokio::main]
async fn main() {
    let scale = match std::env::var("FIGURES").as_deref() {
        Ok("quick") => Scale::Quick,
        Ok(other) => panic!("FIGURES is `{other}`; there is only `quick`"),
        Err(_) => Scale::Full,
    };
    // Cargo adds flags of its own.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    for name in &chosen {
        assert!(SECTIONS.contains(&name.as_str()), "`{name}` is none of {SECTIONS:?}");
    }
    let (machine, bots, mut page) = (machine::describe(), Bots::find(), Page::default());
    println!("{machine}");
    for name in SECTIONS {
        if chosen.is_empty() || chosen.iter().any(|other| other == name) {
            section(name, &bots, scale, &mut page).await;
        }
    }
    println!("\n## Targets\n\n{}", page.goals());
    if cfg!(debug_assertions) || scale == Scale::Quick || !chosen.is_empty() {
        println!("docs/benchmarks.md is left as it is: only a whole run of the release build writes it");
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    std::fs::write(&file, page.document(&machine)).unwrap();
    println!("written: {}", file.display());
}

async fn section(name: &str, bots: &Bots, scale: Scale, page: &mut Page) {
    match name {
        "start" => start::measure(bots, scale, page).await,
        "idle" => idle::measure(bots, scale, page).await,
        "answers" => answers::measure(bots, scale, page).await,
        "long" => long::measure(bots, scale, page).await,
        "paced" => paced::measure(bots, scale, page).await,
        "burst" => burst::measure(bots, scale, page).await,
        "streams" => streams::measure(bots, scale, page).await,
        "turns" => turns::measure(bots, scale, page).await,
        "store" => store::measure(scale, page).await,
        _ => unreachable!("{name} was checked"),
    }
}
