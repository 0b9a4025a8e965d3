//! The report as it is written: tables in Markdown, printed row by row, and what became of the targets.

use std::time::Duration;

use super::support::percentile;

/// How the figures are taken, at the head of the file.
const INTRODUCTION: &str = "\
# Benchmarks

`cargo bench --bench report` writes this file. The release binaries run on a store on disk, against an offline Telegram and a
model on loopback. All of them share the cores of one machine, so the work of both servers is part of every time; CPU and
memory are those of the bot's own processes, figaro and figaro-mcp. Figaro's pace towards Telegram is lifted
(`TELEGRAM_RATES=off`), and the offline Telegram sets no limits. A model \"without latency\" answers each request at once with
one sentence. MB are 1,000,000 bytes. \"Figaro on\" an engine is the release build; \"Figaro of dist\" is the build that is published
(`.ci/dist`), on redb. Where it was measured, the targets are its own.

Machines are noisy, this one too. Compare figures of one run with each other, not figures of two machines. `tests/foreign/bot.mjs`
is the smallest bot that can be made with grammY: it keeps no history, no store and shows no drafts. Its rows say what the
machine and the two servers take by themselves.
";

/// What was measured so far.
#[derive(Default)]
pub(crate) struct Page {
    body: String,
    goals: Vec<Goal>,
}

struct Goal {
    what: String,
    target: String,
    measured: String,
    is_met: Option<bool>,
}

impl Page {
    /// Begins a section: its title, and what its figures mean.
    pub(crate) fn section(&mut self, title: &str, meaning: &str) {
        self.line(&format!("\n## {title}\n\n{meaning}"));
    }

    /// Says something of the table that follows.
    pub(crate) fn text(&mut self, text: &str) {
        self.line(&format!("\n{text}"));
    }

    /// Begins a table. The first column holds names, the others figures.
    pub(crate) fn table(&mut self, columns: &[&str]) {
        let rule = "---:|".repeat(columns.len() - 1);
        self.line(&format!("\n| {} |\n|---|{rule}", columns.join(" | ")));
    }

    /// A row of that table.
    pub(crate) fn row(&mut self, name: &str, figures: &[String]) {
        self.line(&format!("| {name} | {} |", figures.join(" | ")));
    }

    /// A target that is a bound.
    pub(crate) fn at_most(&mut self, what: &str, measured: f64, bound: f64, unit: &str) {
        self.goals.push(Goal {
            what: what.to_owned(),
            target: format!("at most {bound} {unit}"),
            measured: format!("{measured:.2} {unit}"),
            is_met: Some(measured <= bound),
        });
    }

    /// A target in relation to grammY's bot, as a ratio of figures of one run; without those it stays open.
    pub(crate) fn ratio(&mut self, what: &str, ratio: Option<f64>, target: &str, is_met: fn(f64) -> bool) {
        self.goals.push(Goal {
            what: what.to_owned(),
            target: target.to_owned(),
            measured: ratio.map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.2} times")),
            is_met: ratio.map(is_met),
        });
    }

    /// The targets as a table.
    pub(crate) fn goals(&self) -> String {
        let mut table = "| what | target | measured | met |\n|---|---:|---:|---|".to_owned();
        for Goal { what, target, measured, is_met } in &self.goals {
            let met = is_met.map_or("?", |is_met| if is_met { "yes" } else { "**no**" });
            table += &format!("\n| {what} | {target} | {measured} | {met} |");
        }
        table
    }

    /// The whole file.
    pub(crate) fn document(&self, machine: &str) -> String {
        format!("{INTRODUCTION}\n{machine}\n\n## Targets\n\n{}\n{}", self.goals(), self.body)
    }

    fn line(&mut self, line: &str) {
        println!("{line}");
        self.body += line;
        self.body.push('\n');
    }
}

/// A figure with so many digits after its point.
pub(crate) fn figure(value: f64, digits: usize) -> String {
    format!("{value:.digits$}")
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Percentiles of times, in ms.
#[derive(Clone, Copy)]
pub(crate) struct Percentiles {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
}

impl Percentiles {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        let at = |share| ms(percentile(&times, share));
        Self { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
    }

    pub(crate) fn figures(self) -> Vec<String> {
        [self.p50, self.p95, self.p99].map(|time| figure(time, 1)).into()
    }
}
